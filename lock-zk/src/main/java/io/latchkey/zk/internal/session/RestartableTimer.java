// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.validity.Clock;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Does one thing later, on the serial executor. Confined to it. */
final class RestartableTimer {
    private final ClientContext context;
    private final Runnable task;
    private Clock.@Nullable Timer timer;
    /** Counts what was set: a timer that is cancelled may be on its way already. */
    private int set;

    RestartableTimer(ClientContext context, Runnable task) {
        this.context = context;
        this.task = task;
    }

    boolean isSet() {
        return timer != null;
    }

    /** Instead of when it was set for before. */
    void set(Duration in) {
        cancel();
        int which = set;
        timer = context.time()
                .after(
                        in,
                        () -> context.serially(() -> {
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
