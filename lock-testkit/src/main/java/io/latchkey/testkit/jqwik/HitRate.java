// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.jqwik;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import net.jqwik.api.lifecycle.AroundTryHook;
import net.jqwik.api.lifecycle.TryExecutionResult;
import net.jqwik.api.lifecycle.TryExecutor;
import net.jqwik.api.lifecycle.TryLifecycleContext;

/** Plays what failed on a server again, for its hit rate, and reports it. */
final class HitRate implements AroundTryHook {
    private static final int MOST_TIMES = 10;
    private static final long NO_MORE_AFTER_NANOS = TimeUnit.SECONDS.toNanos(8);

    @Override
    public TryExecutionResult aroundTry(TryLifecycleContext context, TryExecutor executor, List<Object> parameters) {
        TryExecutionResult result = executor.execute(parameters);
        Optional<FailureReport.DrawnValue> drawn = FailureReport.drawn(parameters);
        return result.isFalsified() && drawn.isPresent()
                ? FailureReport.of(context, drawn.get(), result, again(executor, parameters))
                : result;
    }

    /** Blocked ones take long: those are played again for some seconds only. */
    private static String again(TryExecutor executor, List<Object> parameters) {
        long start = System.nanoTime();
        int failed = 0;
        int played = 0;
        while (played < MOST_TIMES && System.nanoTime() - start < NO_MORE_AFTER_NANOS) {
            played++;
            if (executor.execute(parameters).isFalsified()) {
                failed++;
            }
        }
        return "failed again " + failed + " of " + played + " times\n";
    }
}
