package io.latchkey.testkit.sim;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Clients, servers, and one schedule of what happens to them, drawn from one number. Nothing runs by itself and no clock
 * goes on unless the schedule says so: the same number gives the same schedule.
 */
final class World {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    /** The highest weight of a kind of step is two to this, less one. */
    private static final int WEIGHTS = 6;

    private final SplittableRandom random;
    private final SimulatedTime time = new SimulatedTime();
    private final Leader leader = new Leader(time);
    private final List<Server> servers = new ArrayList<>();
    private final List<Client> clients = new ArrayList<>();
    private final Oracle oracle = new Oracle(leader, clients);
    private final List<String> diary = new ArrayList<>();
    private final Map<Move, Integer> weights = new EnumMap<>(Move.class);
    private int written;
    private int faults;
    private int cancels;

    /** The kinds of steps. */
    enum Move {
        TAKE_REQUEST,
        TAKE_MESSAGE,
        TAKE_GHOST,
        APPLY,
        CONNECT,
        BEGIN,
        RELEASE,
        DOWNGRADE,
        CANCEL,
        PASS_TIME,
        CUT,
        END_SESSION,
        DELETE,
        RESIZE
    }

    private record Step(Move move, String what, Runnable run) {}

    World(long seed, int clientCount, int serverCount) throws IOException {
        random = new SplittableRandom(seed);
        for (int i = 0; i < serverCount; i++) {
            servers.add(new Server(leader));
        }
        for (int i = 0; i < clientCount; i++) {
            clients.add(Client.start("C" + i, random.nextInt(1, 9), leader, time, random.split(), diary::add));
        }
        for (Move move : Move.values()) {
            // Swarm: every schedule has a taste of its own.
            weights.put(move, 1 << random.nextInt(WEIGHTS));
        }
    }

    void give(Task task) {
        List<Worker> all = workers();
        all.get(random.nextInt(all.size())).give(task);
    }

    /** How often somebody was granted something. */
    int granted() {
        return workers().stream().mapToInt(Worker::granted).sum();
    }

    /** Plays at most so many steps with so many faults; then heals everything, and everybody must come to an end. */
    void play(int steps, int faultBudget) {
        faults = faultBudget;
        cancels = random.nextInt(4);
        try {
            for (int i = 0; i < steps && !isDone(); i++) {
                take(draw());
            }
            diary.add("-- no more faults");
            settle();
            oracle.checkThatNobodySleepsOn();
            finish();
            oracle.checkThatNothingIsLeft();
        } catch (RuntimeException | AssertionError broken) {
            throw new AssertionError(broken.getMessage() + "\n" + String.join("\n", diary), broken);
        }
    }

    private List<Worker> workers() {
        return clients.stream().flatMap(client -> client.workers().stream()).toList();
    }

    private boolean isDone() {
        return workers().stream().allMatch(Worker::isDone);
    }

    private void take(Step step) {
        diary.add(step.what());
        step.run().run();
        for (; written < leader.log().size(); written++) {
            diary.add("    " + leader.log().get(written));
        }
        oracle.checkExclusion();
    }

    private Step draw() {
        List<Step> possible = steps();
        possible.addAll(faultsToCome());
        passTime().ifPresent(possible::add);
        int total = possible.stream()
                .mapToInt(step -> weights.getOrDefault(step.move(), 0))
                .sum();
        int at = random.nextInt(total);
        for (Step step : possible) {
            at -= weights.getOrDefault(step.move(), 0);
            if (at < 0) {
                return step;
            }
        }
        throw new IllegalStateException("nothing can happen");
    }

    // ---- what can happen

    private List<Step> steps() {
        List<Step> steps = new ArrayList<>();
        for (Server server : servers) {
            if (server.lags()) {
                steps.add(new Step(Move.APPLY, "S" + servers.indexOf(server) + " applies", server::applyNext));
            }
        }
        for (Client client : clients) {
            SimulatedPort port = client.port();
            if (port.hasRequest()) {
                steps.add(new Step(Move.TAKE_REQUEST, client + ": request taken", port::takeRequest));
            }
            if (port.hasMessage()) {
                steps.add(new Step(Move.TAKE_MESSAGE, client + " takes message", port::takeMessage));
            }
            if (port.hasGhost()) {
                steps.add(new Step(Move.TAKE_GHOST, client + ": ghost of a request taken", port::takeGhost));
            }
            if (port.seeksConnection()) {
                Server to = servers.get(random.nextInt(servers.size()));
                steps.add(new Step(Move.CONNECT, client + " tries S" + servers.indexOf(to), () -> port.connect(to)));
            }
            for (Worker worker : client.workers()) {
                if (worker.mayBegin()) {
                    steps.add(new Step(Move.BEGIN, "", worker::begin));
                }
                if (worker.mayRelease()) {
                    steps.add(new Step(Move.RELEASE, "", worker::release));
                }
            }
        }
        return steps;
    }

    private Optional<Step> passTime() {
        return time.untilNext()
                .map(span -> new Step(Move.PASS_TIME, span.toMillis() + " ms pass", () -> time.pass(span)));
    }

    private List<Step> faultsToCome() {
        List<Step> steps = new ArrayList<>();
        for (Client client : clients) {
            SimulatedPort port = client.port();
            for (Worker worker : client.workers()) {
                if (worker.mayDowngrade()) {
                    steps.add(new Step(Move.DOWNGRADE, "", worker::downgrade));
                }
                if (worker.waits() && cancels > 0) {
                    steps.add(new Step(Move.CANCEL, "", () -> {
                        cancels--;
                        worker.cancel();
                    }));
                }
            }
            if (faults > 0 && port.isUp()) {
                steps.add(fault(Move.CUT, client + " is cut off", port::cut));
            }
            if (faults > 0 && leader.hasSession(port.session())) {
                steps.add(
                        fault(Move.END_SESSION, client + "'s session ends", () -> leader.closeSession(port.session())));
            }
        }
        if (faults > 0) {
            List<String> nodes = leader.tree().ephemerals();
            if (!nodes.isEmpty()) {
                String node = nodes.get(random.nextInt(nodes.size()));
                steps.add(fault(Move.DELETE, "somebody deletes " + node, () -> leader.delete(node)));
            }
            for (String path : leader.semaphores()) {
                int to = random.nextInt(1, leader.purpose(path).declared() + 4);
                steps.add(fault(Move.RESIZE, "somebody resizes " + path + " to " + to, () -> leader.resize(path, to)));
            }
        }
        return steps;
    }

    private Step fault(Move move, String what, Runnable run) {
        return new Step(move, what, () -> {
            faults--;
            run.run();
        });
    }

    // ---- after the faults

    /** Lets everything that is on its way arrive; nobody does anything, and time stands still. */
    private void settle() {
        Optional<Step> next = nextOfItsOwn();
        while (next.isPresent()) {
            take(next.get());
            next = nextOfItsOwn();
        }
    }

    private Optional<Step> nextOfItsOwn() {
        return steps().stream()
                .filter(step -> step.move() != Move.BEGIN && step.move() != Move.RELEASE)
                .findFirst();
    }

    /** Everybody does what is left to do, and time goes on only when nothing else can. */
    private void finish() {
        Duration left = PATIENCE;
        while (true) {
            settle();
            Optional<Step> next = steps().stream().findFirst();
            if (next.isPresent()) {
                take(next.get());
            } else if (isDone() && leader.tree().ephemerals().isEmpty()) {
                return;
            } else {
                Duration span = time.untilNext().orElse(PATIENCE);
                left = left.minus(span);
                if (left.isNegative()) {
                    throw new AssertionError("stuck: "
                            + workers().stream()
                                    .filter(worker -> !worker.isDone())
                                    .toList() + ", nodes "
                            + leader.tree().ephemerals());
                }
                take(passTime().orElseThrow());
            }
        }
    }
}
