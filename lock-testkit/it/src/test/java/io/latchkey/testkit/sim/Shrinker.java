// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Makes a schedule that breaks a rule smaller, with the same rule broken: fewer steps, then fewer tasks. */
final class Shrinker {
    /** A failure is to be read soon, even where each schedule runs into the bound of a loop. */
    private static final Duration LONGEST = Duration.ofSeconds(10);

    private final String rule;
    private final long start = System.nanoTime();

    Shrinker(String rule) {
        this.rule = rule;
    }

    Schedule shrink(Schedule failing) {
        Schedule best = failing;
        int before = Integer.MAX_VALUE;
        while (size(best) < before && hasTime()) {
            before = size(best);
            best = withFewerTasks(withFewerSteps(best));
        }
        return best;
    }

    private static int size(Schedule schedule) {
        int tasks = schedule.spec().plans().stream()
                .mapToInt(plan -> plan.tasks().size())
                .sum();
        return schedule.steps().size() + tasks;
    }

    private boolean hasTime() {
        return System.nanoTime() - start < LONGEST.toNanos();
    }

    private boolean breaks(Schedule candidate) {
        return candidate
                .play(new Coverage())
                .filter(broken -> broken.rule().equals(rule))
                .isPresent();
    }

    private Schedule withFewerSteps(Schedule failing) {
        Schedule best = failing;
        for (int chunk = Math.max(1, best.steps().size() / 2); chunk > 0 && hasTime(); chunk /= 2) {
            int at = 0;
            while (at < best.steps().size() && hasTime()) {
                List<Integer> fewer = new ArrayList<>(best.steps());
                fewer.subList(at, Math.min(at + chunk, fewer.size())).clear();
                Schedule candidate = new Schedule(best.spec(), fewer);
                if (breaks(candidate)) {
                    best = candidate;
                } else {
                    at += chunk;
                }
            }
        }
        return best;
    }

    private Schedule withFewerTasks(Schedule failing) {
        Schedule best = failing;
        for (int plan = best.spec().plans().size() - 1; plan >= 0; plan--) {
            for (int task = best.spec().plans().get(plan).tasks().size() - 1; task >= 0 && hasTime(); task--) {
                List<Task> tasks = new ArrayList<>(best.spec().plans().get(plan).tasks());
                tasks.remove(task);
                Schedule candidate = with(best, plan, tasks);
                best = breaks(candidate) ? candidate : best;
            }
        }
        return best;
    }

    private static Schedule with(Schedule schedule, int plan, List<Task> tasks) {
        WorldSpec old = schedule.spec();
        List<WorldSpec.Plan> plans = new ArrayList<>(old.plans());
        plans.set(plan, new WorldSpec.Plan(plans.get(plan).client(), List.copyOf(tasks)));
        return new Schedule(old.withPlans(plans), schedule.steps());
    }
}
