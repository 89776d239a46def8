// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.workload;

import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.history.History;
import io.latchkey.testkit.proxy.Fault;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.server.EmbeddedEnsemble.FollowerPartition;
import io.latchkey.testkit.server.ZooKeeperFixture;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.testkit.workload.FaultSchedule.Action;
import io.latchkey.testkit.workload.FaultSchedule.Action.Role;
import io.latchkey.testkit.workload.FaultSchedule.TimedAction;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * A running schedule of faults, on a separate thread. That thread ends a lasting fault before it begins the next. A
 * fault that waits for a request strikes with that request, and counts as begun immediately. {@link Play} does this for
 * workloads of the kit; use this class directly for other code:
 *
 * <pre>{@code
 * try (FaultRun faults = FaultRun.start(schedule, List.of(one, two), history)) {
 *     service.process(42); // works with locks of one.client() and two.client()
 *     faults.done().get(30, TimeUnit.SECONDS);
 * }
 * }</pre>
 */
public final class FaultRun implements AutoCloseable {
    private static final Duration LONGEST_ELECTION = Duration.ofSeconds(30);

    private static final int MANY = 1 << 16;

    private final List<FaultyClient> clients;
    private final History history;
    /** Fair, so that the thread that is to stop a server gets the lock. */
    private final Semaphore expiries = new Semaphore(MANY, true);

    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private final FaultSteps steps;
    private final Thread thread;

    private FaultRun(FaultSchedule schedule, List<FaultyClient> clients, History history) {
        this.clients = List.copyOf(clients);
        this.history = history;
        this.steps = new FaultSteps(schedule, this::strike, FaultRun::millis);
        this.thread = new Thread(this::run, "latchkey-faults");
        thread.setDaemon(true);
    }

    /**
     * Starts the schedule. The history learns of every session that is ended.
     *
     * @param schedule the faults, with their clients and times
     * @param clients the clients C0, C1 and so on of the schedule, all of them connected
     * @param history records the ends of sessions, for checkers
     * @return the schedule under way; close it before the clients
     * @throws IllegalArgumentException if there are no clients
     */
    public static FaultRun start(FaultSchedule schedule, List<FaultyClient> clients, History history) {
        if (clients.isEmpty()) {
            throw new IllegalArgumentException("no clients");
        }
        FaultRun run = new FaultRun(schedule, clients, history);
        run.thread.start();
        return run;
    }

    /**
     * {@return completes when the last fault has begun and those that last for some time are over} It completes
     * exceptionally if the run was closed before, or if until then a fault could not be brought about.
     */
    public CompletableFuture<Void> done() {
        return done.copy();
    }

    /**
     * {@return the faults that have struck so far, in that order} A fault strikes when a session has ended or its
     * client has learned that, or a connection was cut or held. A fault on a client that is just losing its session by
     * another one may be moot; then it is not here.
     */
    public List<TimedAction> struck() {
        return steps.struck();
    }

    static long millis() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
    }

    private void run() {
        try {
            Steps.takeAll(List.of(steps), FaultRun::millis, (next, idle) -> Thread.sleep(Math.max(0, next - millis())));
            done.complete(null);
        } catch (InterruptedException closed) {
            done.cancel(false);
        } catch (RuntimeException | Error e) {
            done.completeExceptionally(e);
        } finally {
            steps.end();
        }
    }

    private void strike(TimedAction fault, FaultSteps under) throws InterruptedException {
        FaultyClient client = clients.get(fault.client() % clients.size());
        FaultProxy proxy = client.proxy();
        Action action = fault.action();
        if (action instanceof Action.Expire expire) {
            whenStruck(fault, expire(client, expire.order()));
        } else if (action instanceof Action.Cut) {
            proxy.cut();
            under.struck(fault);
        } else if (action instanceof Action.LoseRequest lose) {
            unlessMoot(fault, proxy.cutBefore(lose.kind().match(), lose.number()));
        } else if (action instanceof Action.LoseAnswer lose) {
            unlessMoot(fault, proxy.cutAfter(lose.kind().match(), lose.number()));
        } else if (action instanceof Action.ExpireOn expire) {
            // Not on the proxy's thread, which must not block.
            var unused = proxy.sent(expire.kind().match(), expire.number())
                    .struck()
                    .thenRunAsync(() -> whenStruck(fault, expire(client, expire.order())));
        } else if (action instanceof Action.Delay delay) {
            proxy.delay(Duration.ofMillis(delay.eachWayMillis()));
            under.struck(fault);
            under.lasts(delay.forMillis(), () -> proxy.delay(Duration.ZERO));
        } else if (action instanceof Action.BlackHole hole) {
            proxy.blackHole(hole.direction());
            under.struck(fault);
            under.lasts(hole.forMillis(), proxy::heal);
        } else if (action instanceof Action.Refuse refuse) {
            proxy.refuse();
            proxy.cut();
            under.struck(fault);
            under.lasts(refuse.forMillis(), proxy::accept);
        } else if (action instanceof Action.Stop stop) {
            stop(fault, client.servers(), stop);
        } else if (action instanceof Action.CutOff cutOff && client.servers().size() > 1) {
            ZooKeeperFixture servers = client.servers();
            FollowerPartition partition = servers.cutOffFromLeader(awaitServer(servers, Role.FOLLOWER));
            under.struck(fault);
            under.lasts(cutOff.forMillis(), partition::close);
        }
    }

    /**
     * A session is ended at a server, or found to have ended: so while any is about to end, no server is stopped, and
     * an election that goes on is awaited.
     */
    private CompletableFuture<?> expire(FaultyClient client, ExpiryOrder order) {
        expiries.acquireUninterruptibly();
        try {
            if (client.servers().size() > 1) {
                awaitElection(client.servers());
            }
            return history.expire(client, order).whenComplete((session, error) -> expiries.release());
        } catch (InterruptedException closed) {
            expiries.release();
            Thread.currentThread().interrupt();
            return CompletableFuture.failedFuture(new CancellationException());
        } catch (RuntimeException | AssertionError notBegun) {
            expiries.release();
            return CompletableFuture.failedFuture(notBegun);
        }
    }

    /** Servers that name no leader may end a session all the same. */
    private static void awaitElection(ZooKeeperFixture servers) throws InterruptedException {
        try {
            int unused = awaitServer(servers, Role.LEADER);
        } catch (AssertionError | UnsupportedOperationException unknown) {
            // The end of the session is tried anyway.
        }
    }

    private void stop(TimedAction fault, ZooKeeperFixture servers, Action.Stop stop) throws InterruptedException {
        expiries.acquire(MANY);
        boolean lasts = false;
        try {
            int server = awaitServer(servers, stop.role());
            servers.stop(server);
            lasts = true;
            steps.struck(fault);
            steps.lasts(stop.forMillis(), () -> restart(servers, server));
        } finally {
            if (!lasts) {
                expiries.release(MANY);
            }
        }
    }

    private void restart(ZooKeeperFixture servers, int server) {
        try {
            servers.restart(server);
        } finally {
            expiries.release(MANY);
        }
    }

    /** A schedule strikes ensembles that serve: an election that goes on is awaited. */
    private static int awaitServer(ZooKeeperFixture servers, Role role) throws InterruptedException {
        return Eventually.present("a " + role, LONGEST_ELECTION, () -> server(servers, role));
    }

    private static OptionalInt server(ZooKeeperFixture servers, Role role) {
        OptionalInt leader = servers.leader();
        return role == Role.LEADER || leader.isEmpty() || servers.size() == 1
                ? leader
                : IntStream.range(0, servers.size())
                        .filter(server -> server != leader.getAsInt() && servers.isServing(server))
                        .findFirst();
    }

    /** A fault that cannot strike any more has been taken back, or its connection has ended by another fault. */
    private void unlessMoot(TimedAction fault, Fault awaited) {
        var unused = awaited.struck().thenRun(() -> steps.struck(fault));
    }

    private void whenStruck(TimedAction fault, CompletableFuture<?> strike) {
        var unused = strike.whenComplete((struck, failure) -> {
            Throwable cause =
                    failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
            if (cause == null) {
                steps.struck(fault);
            } else if (!(cause instanceof CancellationException)) { // else its client is closed
                done.completeExceptionally(cause);
            }
        });
    }

    /** Ends the thread, and the faults that last. Those that wait for a request are ended with their client. */
    @Override
    public void close() {
        thread.interrupt();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
