// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import io.latchkey.testkit.sim.Hunter;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.LongFunction;

/**
 * Random schedules of all mixes: the whole engine over simulated servers. A schedule that fails is run again with the
 * unchanged locks and must pass there. A second run for the same bug continues where the first one ended.
 */
final class SchedulesKiller {
    private static final String HUNTER = "io.latchkey.testkit.sim.Hunter";

    private LongFunction<List<String>> hunter;

    /** The processor time, so that a busy machine runs as many schedules as an idle one. */
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
            @SuppressWarnings("unchecked") // a mutant's classes share only those of the JDK
            LongFunction<List<String>> loaded = (LongFunction<List<String>>)
                    classes.loadClass(HUNTER).getDeclaredConstructor().newInstance();
            return loaded;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
