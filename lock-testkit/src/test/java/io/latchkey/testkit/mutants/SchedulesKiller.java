// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import io.latchkey.testkit.sim.Hunter;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.LongFunction;

/**
 * Random schedules of all mixes, the whole machine over simulated servers. One that notices something is played again
 * with the locks as they are, and must be in order there. For one bug: a later budget goes on where the one before
 * ended.
 */
final class SchedulesKiller {
    private static final String HUNTER = "io.latchkey.testkit.sim.Hunter";

    private LongFunction<List<String>> hunter;

    /** For so much of a processor's time: a busy machine plays as many schedules as an idle one. */
    Killer with(Duration budget) {
        return classes -> kill(classes, budget);
    }

    private Optional<Killer.Kill> kill(MutantClasses classes, Duration budget) {
        if (hunter == null) {
            hunter = hunter(classes);
        }
        List<String> found = hunter.apply(budget.toMillis());
        if (found.isEmpty()) {
            return Optional.empty();
        }
        String schedule = "seed " + found.get(2) + " of " + found.get(1);
        String without = Hunter.play(found.get(1), Long.parseLong(found.get(2)));
        if (!without.isEmpty()) {
            throw new AssertionError(schedule + " is no kill: it fails without the mutant: " + without);
        }
        return Optional.of(new Killer.Kill(found.get(0) + " schedules", schedule + ": " + found.get(3)));
    }

    private LongFunction<List<String>> hunter(MutantClasses classes) {
        try {
            @SuppressWarnings("unchecked") // All that is shared with a mutant's classes is the JDK's.
            LongFunction<List<String>> loaded = (LongFunction<List<String>>)
                    classes.loadClass(HUNTER).getDeclaredConstructor().newInstance();
            return loaded;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
