// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.WaitPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/** The kinds of worlds that a swarm draws, and the number of steps in each. */
enum Mix {
    /** Three clients, one mutex, one cycle each, one fault; sessions end by forced expiry only. */
    SMALL(100, 100) {
        @Override
        WorldSpec spec(SplittableRandom random) {
            return new WorldSpec(3, 1, ONE_CYCLE_EACH, WorldSpec.Ends.BY_FORCE, 1, 0, WorldSpec.Start.IN_USE);
        }
    },

    /** Three clients, one mutex, one cycle each, faults of the network alone; sessions end by time alone. */
    AGING(150, 150) {
        @Override
        WorldSpec spec(SplittableRandom random) {
            return new WorldSpec(
                    3,
                    1 + random.nextInt(2),
                    ONE_CYCLE_EACH,
                    WorldSpec.Ends.BY_TIME,
                    1 + random.nextInt(2),
                    0,
                    WorldSpec.Start.IN_USE);
        }
    },

    /**
     * Two to four clients with one worker each, at one path; operators delete nodes and change capacities, and nothing
     * else fails.
     */
    TAMPERED(100, 100) {
        @Override
        WorldSpec spec(SplittableRandom random) {
            int clients = random.nextInt(2, 5);
            int kind = random.nextInt(4);
            List<WorldSpec.Plan> plans = new ArrayList<>();
            for (int i = 0; i < clients; i++) {
                LockTarget member = ofKind(kind, "/tampered", random);
                plans.add(new WorldSpec.Plan(i, List.of(new Task(List.of(member), new WaitPolicy.Forever()))));
            }
            return new WorldSpec(
                    clients,
                    random.nextInt(1, 3),
                    plans,
                    WorldSpec.Ends.BY_FORCE,
                    random.nextInt(1, 3),
                    0,
                    WorldSpec.Start.IN_USE);
        }

        @Override
        void setWeights(SplittableRandom random, int[] weights) {
            for (Move move : Move.values()) {
                boolean tampers = move == Move.DELETE || move == Move.RESIZE;
                if (move == Move.PASS_TIME || (move.isFault() && !tampers)) {
                    weights[move.index()] = 0;
                }
            }
            weights[Move.DELETE.index()] = 4;
            weights[Move.RESIZE.index()] = 4;
            weights[Move.CALM.index()] = 2;
        }
    },

    /**
     * Two to four clients with one or two workers each, multi-locks among them; operators delete nodes and change
     * capacities, and nothing else fails.
     */
    TAMPERED_CROWD(50, 200) {
        @Override
        WorldSpec spec(SplittableRandom random) {
            int clients = random.nextInt(2, 5);
            List<WorldSpec.Plan> plans = new ArrayList<>();
            for (int client = 0; client < clients; client++) {
                for (int worker = random.nextInt(1, 3); worker > 0; worker--) {
                    List<LockTarget> members = members(random);
                    int wanted = random.nextBoolean() ? 1 : random.nextInt(2, members.size() + 1);
                    Task task = new Task(List.copyOf(members.subList(0, wanted)), new WaitPolicy.Forever());
                    plans.add(new WorldSpec.Plan(client, List.of(task)));
                }
            }
            return new WorldSpec(
                    clients,
                    random.nextInt(1, 3),
                    plans,
                    WorldSpec.Ends.BY_FORCE,
                    random.nextInt(1, 3),
                    random.nextInt(2),
                    WorldSpec.Start.IN_USE);
        }

        private List<LockTarget> members(SplittableRandom random) {
            List<LockTarget> all = new ArrayList<>(List.of(
                    new LockTarget(Recipe.MUTEX, new LockPath("/mutex")),
                    new LockTarget(random.nextBoolean() ? Recipe.READ : Recipe.WRITE, new LockPath("/read-write")),
                    new LockTarget(Recipe.semaphore(2, random.nextInt(1, 3)), new LockPath("/few"))));
            Collections.shuffle(all, new Random(random.nextLong()));
            return all;
        }

        @Override
        void setWeights(SplittableRandom random, int[] weights) {
            TAMPERED.setWeights(random, weights);
        }
    },

    /**
     * Two clients with one or two workers each, two cycles of a mutex, a read-write lock or both, two deletions by
     * operators. The release of several nodes is refused as a whole where one of them is gone, and the next release may
     * be on its way by then.
     */
    REFUSED(100, 100) {
        @Override
        WorldSpec spec(SplittableRandom random) {
            List<WorldSpec.Plan> plans = new ArrayList<>();
            for (int client = 0; client < 2; client++) {
                for (int worker = random.nextInt(1, 3); worker > 0; worker--) {
                    plans.add(new WorldSpec.Plan(client, List.of(cycle(random), cycle(random))));
                }
            }
            return new WorldSpec(2, random.nextInt(1, 3), plans, WorldSpec.Ends.BY_FORCE, 2, 0, WorldSpec.Start.IN_USE);
        }

        private Task cycle(SplittableRandom random) {
            List<LockTarget> both = new ArrayList<>(List.of(
                    new LockTarget(Recipe.MUTEX, new LockPath("/mutex")),
                    new LockTarget(random.nextBoolean() ? Recipe.READ : Recipe.WRITE, new LockPath("/read-write"))));
            Collections.shuffle(both, new Random(random.nextLong()));
            return new Task(List.copyOf(both.subList(0, random.nextInt(1, 3))), new WaitPolicy.Forever());
        }

        @Override
        void setWeights(SplittableRandom random, int[] weights) {
            TAMPERED.setWeights(random, weights);
            weights[Move.DELETE.index()] = 2;
            weights[Move.RESIZE.index()] = 0;
            weights[Move.CALM.index()] = 8;
        }
    },

    /**
     * Two clients at one mutex or write lock, one or two workers in one and three to five in the other, so that lists
     * are deferred; operators delete nodes, and nothing else fails.
     */
    NEIGHBOURS(100, 100) {
        @Override
        WorldSpec spec(SplittableRandom random) {
            Recipe recipe = random.nextBoolean() ? Recipe.MUTEX : Recipe.WRITE;
            Task cycle = new Task(List.of(new LockTarget(recipe, new LockPath("/shared"))), new WaitPolicy.Forever());
            List<WorldSpec.Plan> plans = new ArrayList<>();
            plans.addAll(Collections.nCopies(random.nextInt(1, 3), new WorldSpec.Plan(0, List.of(cycle))));
            plans.addAll(Collections.nCopies(random.nextInt(3, 6), new WorldSpec.Plan(1, List.of(cycle))));
            return new WorldSpec(
                    2,
                    random.nextInt(1, 3),
                    plans,
                    WorldSpec.Ends.BY_FORCE,
                    random.nextInt(1, 4),
                    0,
                    WorldSpec.Start.IN_USE);
        }

        @Override
        void setWeights(SplittableRandom random, int[] weights) {
            TAMPERED.setWeights(random, weights);
            weights[Move.RESIZE.index()] = 0;
        }
    },

    /** Like AGING, SHARED or LINE, but a lease is held for one to three session timeouts before the first fault. */
    LASTING(20, 200) {
        @Override
        WorldSpec spec(SplittableRandom random) {
            return switch (random.nextInt(3)) {
                case 0 -> AGING.spec(random);
                case 1 -> SHARED.spec(random);
                default -> LINE.spec(random);
            };
        }

        @Override
        int heldFor(SplittableRandom random) {
            return random.nextInt(1, 4);
        }

        /** Deadlines of clients without a connection pass, and their leases are looked at. */
        @Override
        void setWeights(SplittableRandom random, int[] weights) {
            weights[Move.PASS_TIME.index()] = Math.max(weights[Move.PASS_TIME.index()], 4);
            weights[Move.CALM.index()] = 2;
        }
    },

    /** One semaphore, mostly a large one with a chain of waiters; capacities change and connections break. */
    LINE(40, 200) {
        @Override
        WorldSpec spec(SplittableRandom random) {
            int clients = random.nextInt(2, 5);
            int declared = new int[] {3, 9, 12, 20}[random.nextInt(4)];
            return onOnePath(
                    random,
                    clients,
                    () -> new LockTarget(
                            Recipe.semaphore(declared, random.nextInt(1, declared)), new LockPath("/line")),
                    random.nextInt(0, 4),
                    WorldSpec.Start.IN_USE);
        }

        @Override
        void setWeights(SplittableRandom random, int[] weights) {
            weights[Move.DELETE.index()] = 0;
            weights[Move.PASS_TIME.index()] = 0;
            weights[Move.SILENCE.index()] = 0;
        }
    },

    /** One path, whose counter is near its end. */
    WORN(40, 200) {
        @Override
        WorldSpec spec(SplittableRandom random) {
            int kind = random.nextInt(4);
            return onOnePath(
                    random,
                    random.nextInt(2, 4),
                    () -> ofKind(kind, "/worn", random),
                    random.nextInt(0, 3),
                    WorldSpec.Start.WORN_OUT);
        }
    },

    /** All recipes on shared paths, several workers a client, many faults. */
    LARGE(20, 800) {
        @Override
        WorldSpec spec(SplittableRandom random) {
            int clients = random.nextInt(2, 6);
            return drawn(random, clients, random.nextInt(1, 9), random.nextInt(2, 10 * clients), random.nextInt(0, 9));
        }
    },

    /** Like SHARED, with more workers a client and local turns; some leases have a limit. */
    TURNS(20, 300) {
        @Override
        WorldSpec spec(SplittableRandom random) {
            int clients = random.nextInt(1, 4);
            int kind = random.nextInt(5);
            WorldSpec drawn = kind == 4
                    ? drawn(random, clients, random.nextInt(1, 6), random.nextInt(2, 8 * clients), random.nextInt(0, 4))
                    : onOnePath(
                            random,
                            clients,
                            random.nextInt(2, 7),
                            () -> switch (kind) {
                                case 0 -> limited(random, new LockTarget(Recipe.MUTEX, new LockPath("/mutex")));
                                case 1, 2 ->
                                    limited(
                                            random,
                                            new LockTarget(
                                                    random.nextInt(3) > 0 ? Recipe.READ : Recipe.WRITE,
                                                    new LockPath("/read-write")));
                                default ->
                                    limited(
                                            random,
                                            new LockTarget(
                                                    Recipe.semaphore(4, random.nextInt(1, 3)), new LockPath("/few")));
                            },
                            random.nextInt(0, 4),
                            WorldSpec.Start.IN_USE);
            return drawn.withTurns(random.nextInt(2, 9));
        }

        private LockTarget limited(SplittableRandom random, LockTarget target) {
            return random.nextInt(8) == 0 ? target.heldAtMost(Duration.ofMillis(random.nextInt(1, 3000))) : target;
        }
    },

    /** Like SHARED, and clients close, at once or with a grace; each lease has a body that a loss interrupts. */
    CLOSING(20, 200) {
        @Override
        WorldSpec spec(SplittableRandom random) {
            int clients = random.nextInt(2, 5);
            WorldSpec drawn =
                    drawn(random, clients, random.nextInt(1, 4), random.nextInt(2, 4 * clients), random.nextInt(0, 4));
            int closes = random.nextInt(1, clients + 2);
            return (random.nextInt(3) == 0 ? drawn.withTurns(random.nextInt(2, 9)) : drawn).withCloses(closes);
        }
    },

    /** Like CLOSING, and the code of users throws, blocks, and calls back into the client. */
    HOSTILE(20, 200) {
        @Override
        WorldSpec spec(SplittableRandom random) {
            return CLOSING.spec(random).withHostileCode();
        }
    },

    /** All recipes on shared paths, one or two workers a client, few faults: small enough to be many. */
    SHARED(20, 200) {
        @Override
        WorldSpec spec(SplittableRandom random) {
            int clients = random.nextInt(2, 5);
            return drawn(random, clients, random.nextInt(1, 3), random.nextInt(2, 3 * clients), random.nextInt(0, 4));
        }
    },

    /** The world of one mix with the steps of another; local turns, closes, hostile code, long holds in any combination. */
    CROSSED(40, 250) {
        @Override
        WorldSpec spec(SplittableRandom random) {
            WorldSpec drawn = other(random).spec(random).withFaults(random.nextInt(0, 5));
            WorldSpec crossed = random.nextInt(3) == 0 ? drawn.withTurns(random.nextInt(2, 9)) : drawn;
            if (random.nextInt(4) > 0) {
                return crossed;
            }
            // A client that closes without a connection leaves its nodes until its session ends by time.
            WorldSpec closing = crossed.withEnds(WorldSpec.Ends.BY_TIME_AND_DECREE)
                    .withCloses(random.nextInt(1, crossed.clients() + 2));
            return random.nextBoolean() ? closing.withHostileCode() : closing;
        }

        @Override
        void setWeights(SplittableRandom random, int[] weights) {
            other(random).setWeights(random, weights);
        }

        @Override
        int heldFor(SplittableRandom random) {
            return random.nextInt(4) == 0 ? random.nextInt(1, 4) : 0;
        }

        private Mix other(SplittableRandom random) {
            return OTHERS.get(random.nextInt(OTHERS.size()));
        }
    };

    private static final List<Mix> OTHERS = List.copyOf(EnumSet.complementOf(EnumSet.of(CROSSED)));
    private static final List<WorldSpec.Plan> ONE_CYCLE_EACH = oneCycleEach();

    private final int least;
    private final int most;

    Mix(int least, int most) {
        this.least = least;
        this.most = most;
    }

    abstract WorldSpec spec(SplittableRandom random);

    int steps(SplittableRandom random) {
        return least == most ? least : random.nextInt(least, most);
    }

    /**
     * The number of session timeouts for which a lease is held before the first fault; 0 if faults may occur at any
     * time.
     */
    int heldFor(SplittableRandom random) {
        return 0;
    }

    /** Adjusts the weights of the kinds of steps. */
    void setWeights(SplittableRandom random, int[] weights) {}

    private static List<WorldSpec.Plan> oneCycleEach() {
        Task cycle = new Task(List.of(new LockTarget(Recipe.MUTEX, new LockPath("/mutex"))), new WaitPolicy.Forever());
        return List.of(
                new WorldSpec.Plan(0, List.of(cycle)),
                new WorldSpec.Plan(1, List.of(cycle)),
                new WorldSpec.Plan(2, List.of(cycle)));
    }

    /** A mutex, one side of a read-write lock, some permits of few or of many. */
    private static LockTarget ofKind(int kind, String path, SplittableRandom random) {
        Recipe recipe =
                switch (kind) {
                    case 0 -> Recipe.MUTEX;
                    case 1 -> random.nextBoolean() ? Recipe.READ : Recipe.WRITE;
                    case 2 -> Recipe.semaphore(2, random.nextInt(1, 3));
                    default -> Recipe.semaphore(9, random.nextInt(1, 9));
                };
        return new LockTarget(recipe, new LockPath(path));
    }

    /** One or two workers a client, with a few tasks each. */
    private static WorldSpec onOnePath(
            SplittableRandom random, int clients, Supplier<LockTarget> member, int faults, WorldSpec.Start start) {
        return onOnePath(random, clients, 3, member, faults, start);
    }

    /** Fewer than {@code workers} a client, with a few tasks each. */
    private static WorldSpec onOnePath(
            SplittableRandom random,
            int clients,
            int workers,
            Supplier<LockTarget> member,
            int faults,
            WorldSpec.Start start) {
        List<WorldSpec.Plan> plans = new ArrayList<>();
        for (int client = 0; client < clients; client++) {
            for (int worker = random.nextInt(1, workers); worker > 0; worker--) {
                List<Task> tasks = new ArrayList<>();
                for (int task = random.nextInt(1, 4); task > 0; task--) {
                    tasks.add(new Task(List.of(member.get()), new WaitPolicy.Forever()));
                }
                plans.add(new WorldSpec.Plan(client, tasks));
            }
        }
        return new WorldSpec(
                clients, random.nextInt(1, 3), plans, WorldSpec.Ends.BY_FORCE, faults, random.nextInt(2), start);
    }

    private static WorldSpec drawn(SplittableRandom random, int clients, int workersEach, int tasks, int faults) {
        List<List<Task>> plans = new ArrayList<>();
        int workers = clients * workersEach;
        for (int i = 0; i < workers; i++) {
            plans.add(new ArrayList<>());
        }
        for (int i = 0; i < tasks; i++) {
            plans.get(random.nextInt(workers)).add(task(random));
        }
        List<WorldSpec.Plan> kept = new ArrayList<>();
        for (int i = 0; i < workers; i++) {
            if (!plans.get(i).isEmpty()) {
                kept.add(new WorldSpec.Plan(i % clients, plans.get(i)));
            }
        }
        return new WorldSpec(
                clients,
                random.nextInt(1, 4),
                kept,
                random.nextInt(3) == 0 ? WorldSpec.Ends.BY_TIME : WorldSpec.Ends.BY_TIME_AND_DECREE,
                faults,
                random.nextInt(4),
                random.nextInt(3) == 0 ? WorldSpec.Start.IN_USE : WorldSpec.Start.NOTHING);
    }

    private static Task task(SplittableRandom random) {
        List<LockTarget> all = new ArrayList<>(List.of(
                new LockTarget(Recipe.MUTEX, new LockPath("/mutex")),
                new LockTarget(random.nextBoolean() ? Recipe.READ : Recipe.WRITE, new LockPath("/some/read-write")),
                new LockTarget(Recipe.semaphore(2, random.nextInt(1, 3)), new LockPath("/some/few")),
                new LockTarget(Recipe.semaphore(9, random.nextInt(1, 9)), new LockPath("/some/many"))));
        Collections.shuffle(all, new Random(random.nextLong()));
        int members = random.nextInt(4) == 0 ? random.nextInt(2, 5) : 1;
        WaitPolicy patience =
                switch (random.nextInt(6)) {
                    case 0 -> new WaitPolicy.Never();
                    case 1 -> new WaitPolicy.AtMost(Duration.ofMillis(random.nextInt(1, 5000)));
                    default -> new WaitPolicy.Forever();
                };
        Optional<Duration> limit =
                random.nextInt(4) == 0 ? Optional.of(Duration.ofMillis(random.nextInt(1, 30_000))) : Optional.empty();
        limit.ifPresent(most -> all.set(0, all.get(0).heldAtMost(most)));
        return new Task(List.copyOf(all.subList(0, members)), patience);
    }
}
