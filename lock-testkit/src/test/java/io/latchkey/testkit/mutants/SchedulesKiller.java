// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import io.latchkey.testkit.sim.Hunter;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.LongFunction;

/**
 * Random schedules of the whole machine over simulated servers, for a while. One that notices something is played again with
 * the locks as they are, and must be in order there.
 *
 * @param mix of which kind; all kinds in turn if empty
 */
record SchedulesKiller(Duration budget, String mix) implements Killer {
    private static final String HUNTER = "io.latchkey.testkit.sim.Hunter";

    @Override
    public Optional<Kill> kill(MutantClasses classes) {
        List<String> found = hunter(classes).apply(budget.toMillis());
        if (found.isEmpty()) {
            return Optional.empty();
        }
        String schedule = "seed " + found.get(2) + " of " + found.get(1);
        String without = Hunter.play(found.get(1), Long.parseLong(found.get(2)));
        if (!without.isEmpty()) {
            throw new AssertionError(schedule + " is no kill: it fails without the mutant: " + without);
        }
        return Optional.of(new Kill("schedules", found.get(0) + " schedules", schedule + ": " + found.get(3)));
    }

    private LongFunction<List<String>> hunter(MutantClasses classes) {
        try {
            @SuppressWarnings("unchecked") // All that is shared with a mutant's classes is the JDK's.
            LongFunction<List<String>> hunter = (LongFunction<List<String>>) classes.loadClass(HUNTER)
                    .getDeclaredConstructor(String.class)
                    .newInstance(mix);
            return hunter;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
