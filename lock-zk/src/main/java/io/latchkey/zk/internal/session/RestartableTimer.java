// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.validity.Clock;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A timer that runs one task on the serial executor and can be set again. Confined to that executor. */
public final class RestartableTimer {
    private final ClientContext context;
    private final Runnable task;
    private Clock.@Nullable Timer timer;
    /** The number of times the timer was set or cancelled: a cancelled timer may already have submitted its task. */
    private int set;

    public RestartableTimer(ClientContext context, Runnable task) {
        this.context = context;
        this.task = task;
    }

    boolean isSet() {
        return timer != null;
    }

    /** Sets the timer, in place of any earlier setting. */
    public void set(Duration in) {
        cancel();
        int which = set;
        timer = context.clock()
                .after(
                        in,
                        () -> context.execute(() -> {
                            if (which == set) {
                                timer = null;
                                task.run();
                            }
                        }));
    }

    public void cancel() {
        set++;
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }
}
