// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

import io.latchkey.zk.internal.validity.Clock;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Does one thing later, on the serial executor. Confined to it. */
final class RestartableTimer {
    private final Engine engine;
    private final Runnable task;
    private Clock.@Nullable Timer timer;
    /** Counts what was set: a timer that is cancelled may be on its way already. */
    private int set;

    RestartableTimer(Engine engine, Runnable task) {
        this.engine = engine;
        this.task = task;
    }

    boolean isSet() {
        return timer != null;
    }

    /** Instead of when it was set for before. */
    void set(Duration in) {
        cancel();
        int which = set;
        timer = engine.time()
                .after(
                        in,
                        () -> engine.serially(() -> {
                            if (which == set) {
                                timer = null;
                                task.run();
                            }
                        }));
    }

    void cancel() {
        set++;
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }
}
