// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.zk.internal.recipe.LockTarget;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Makes a schedule that breaks a rule as small as it can, with the same rule broken: fewer steps, then fewer wishes,
 * servers, clients.
 */
final class Shrinker {
    private static final int MOST_TRIES = 20_000;

    private final String rule;
    private int tries;

    Shrinker(String rule) {
        this.rule = rule;
    }

    Schedule shrink(Schedule failing) {
        Schedule best = failing;
        int before = Integer.MAX_VALUE;
        while (size(best) < before && tries < MOST_TRIES) {
            before = size(best);
            best = withFewerTasks(withOnePath(withFewerSteps(best)));
            best = withLowerChoices(withLessAround(best));
        }
        return best;
    }

    private static int size(Schedule schedule) {
        int size = schedule.steps().size()
                + schedule.scenario().servers()
                + schedule.scenario().clients();
        for (Scenario.Plan plan : schedule.scenario().plans()) {
            size += 1 + plan.tasks().size();
            for (Task task : plan.tasks()) {
                size += task.members().size();
            }
        }
        return size;
    }

    private boolean breaks(Schedule candidate) {
        tries++;
        return candidate
                .play(new Reached())
                .filter(broken -> broken.rule().equals(rule))
                .isPresent();
    }

    private Schedule withFewerSteps(Schedule failing) {
        Schedule best = failing;
        for (int chunk = Math.max(1, best.steps().size() / 2); chunk > 0 && tries < MOST_TRIES; chunk /= 2) {
            int at = 0;
            while (at < best.steps().size() && tries < MOST_TRIES) {
                List<Integer> fewer = new ArrayList<>(best.steps());
                fewer.subList(at, Math.min(at + chunk, fewer.size())).clear();
                Schedule candidate = new Schedule(best.scenario(), fewer);
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
        for (int plan = best.scenario().plans().size() - 1; plan >= 0; plan--) {
            for (int task = best.scenario().plans().get(plan).tasks().size() - 1; task >= 0; task--) {
                List<Task> tasks =
                        new ArrayList<>(best.scenario().plans().get(plan).tasks());
                tasks.remove(task);
                Schedule candidate = with(best, plan, tasks);
                best = breaks(candidate) ? candidate : withFewerMembers(best, plan, task);
            }
        }
        return best;
    }

    /** One of its members alone, or else as few as can be. */
    private Schedule withFewerMembers(Schedule failing, int plan, int task) {
        List<LockTarget> all =
                failing.scenario().plans().get(plan).tasks().get(task).members();
        for (int member = 0; member < all.size() && all.size() > 1; member++) {
            Schedule candidate = withMembers(failing, plan, task, List.of(all.get(member)));
            if (breaks(candidate)) {
                return candidate;
            }
        }
        Schedule best = failing;
        List<LockTarget> left = all;
        for (int member = all.size() - 1; member >= 0 && left.size() > 2; member--) {
            List<LockTarget> fewer = new ArrayList<>(left);
            fewer.remove(member);
            Schedule candidate = withMembers(best, plan, task, fewer);
            if (breaks(candidate)) {
                best = candidate;
                left = fewer;
            }
        }
        return best;
    }

    /**
     * Reduces all multi-locks together to the members at one path, because those that wait for each other may fail only
     * together.
     */
    private Schedule withOnePath(Schedule failing) {
        Set<String> paths = new TreeSet<>();
        failing.scenario().plans().forEach(plan -> plan.tasks()
                .forEach(task -> task.members().forEach(member -> paths.add(member.path()))));
        for (String path : paths) {
            Schedule candidate = failing;
            for (int plan = 0; plan < failing.scenario().plans().size(); plan++) {
                List<Task> tasks = failing.scenario().plans().get(plan).tasks().stream()
                        .map(task -> atPath(task, path))
                        .toList();
                candidate = with(candidate, plan, tasks);
            }
            if (size(candidate) < size(failing) && breaks(candidate)) {
                return candidate;
            }
        }
        return failing;
    }

    private static Task atPath(Task task, String path) {
        List<LockTarget> there = task.members().stream()
                .filter(member -> member.path().equals(path))
                .toList();
        return there.isEmpty() ? task : new Task(there, task.patience());
    }

    private static Schedule withMembers(Schedule schedule, int plan, int task, List<LockTarget> members) {
        List<Task> tasks = new ArrayList<>(schedule.scenario().plans().get(plan).tasks());
        tasks.set(task, new Task(members, tasks.get(task).patience()));
        return with(schedule, plan, tasks);
    }

    private static Schedule with(Schedule schedule, int plan, List<Task> tasks) {
        Scenario old = schedule.scenario();
        List<Scenario.Plan> plans = new ArrayList<>(old.plans());
        plans.set(plan, new Scenario.Plan(plans.get(plan).client(), List.copyOf(tasks)));
        return with(schedule, old.clients(), old.servers(), plans);
    }

    private static Schedule with(Schedule schedule, int clients, int servers, List<Scenario.Plan> plans) {
        Scenario old = schedule.scenario();
        return new Schedule(
                new Scenario(clients, servers, plans, old.ends(), old.faults(), old.cancels(), old.start()),
                schedule.steps());
    }

    /** Removes idle workers at the end of the list, and unused clients and servers. */
    private Schedule withLessAround(Schedule failing) {
        Schedule best = failing;
        boolean less = true;
        while (less) {
            Scenario now = best.scenario();
            List<Scenario.Plan> plans = new ArrayList<>(now.plans());
            while (!plans.isEmpty() && plans.get(plans.size() - 1).tasks().isEmpty()) {
                plans.remove(plans.size() - 1);
            }
            int needed = plans.stream().mapToInt(Scenario.Plan::client).max().orElse(0) + 1;
            Optional<Schedule> smaller = first(
                    with(best, needed, now.servers(), plans),
                    with(best, now.clients(), Math.max(1, now.servers() - 1), plans),
                    with(best, now.clients(), now.servers(), plans));
            less = smaller.isPresent() && size(smaller.get()) < size(best);
            best = less ? smaller.orElseThrow() : best;
        }
        return best;
    }

    private Optional<Schedule> first(Schedule... candidates) {
        for (Schedule candidate : candidates) {
            if (size(candidate) < size(candidates[candidates.length - 1]) && breaks(candidate)) {
                return Optional.of(candidate);
            }
        }
        return Optional.empty();
    }

    /** Numbers that may as well be zero. */
    private Schedule withLowerChoices(Schedule failing) {
        Schedule best = failing;
        for (int i = 0; i < best.steps().size() && tries < MOST_TRIES; i++) {
            int step = best.steps().get(i);
            Move move = Move.move(step);
            boolean drawn = move == Move.DELETE || move == Move.RESIZE || move == Move.CONNECT;
            int lower = move == Move.CONNECT ? move.of(Move.first(step)) : move.of(0);
            if (drawn && lower != step) {
                List<Integer> steps = new ArrayList<>(best.steps());
                steps.set(i, lower);
                Schedule candidate = new Schedule(best.scenario(), steps);
                best = breaks(candidate) ? candidate : best;
            }
        }
        return best;
    }
}
