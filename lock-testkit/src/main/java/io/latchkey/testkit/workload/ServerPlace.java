// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.workload;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.LockClient;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.history.LockClaim;
import io.latchkey.testkit.server.ZooKeeperFixture;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.testkit.workload.FaultSchedule.TimedAction;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;

/** Servers, with clients that are closed with it: each actor has a thread of its own, and so have the faults. */
final class ServerPlace implements Place, AutoCloseable {
    private static final Duration NONE_LEFT_WITHIN = Duration.ofSeconds(30);

    private final Play play;
    private final Duration within;
    private final ExecutorService connections = Executors.newCachedThreadPool();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<CompletableFuture<FaultyClient>> connecting;

    ServerPlace(Play play, ZooKeeperFixture servers, int clients, Play.Settings settings) {
        this.play = play;
        this.within = settings.within();
        this.connecting = IntStream.range(0, clients)
                .mapToObj(i -> CompletableFuture.supplyAsync(
                        () -> FaultyClient.connect(
                                servers, settings.session(), settings.reconnects(), settings.connector()),
                        connections))
                .toList();
    }

    private FaultyClient faulty(int number) {
        return connecting.get(number).join();
    }

    @Override
    public LockClient client(int number) {
        return faulty(number).client();
    }

    @Override
    public String name(int client) {
        return faulty(client).name();
    }

    @Override
    public Acquirable recorded(int client, Acquirable lock, LockClaim... claims) {
        return play.history().recorded(faulty(client), lock, claims);
    }

    @Override
    public boolean mayWait() {
        return true;
    }

    @Override
    public long millis() {
        return FaultRun.millis();
    }

    @Override
    public List<TimedAction> play(List<ActorRun> actors, FaultSchedule schedule) throws InterruptedException {
        List<FaultyClient> clients =
                IntStream.range(0, connecting.size()).mapToObj(this::faulty).toList();
        List<? extends Future<?>> work = actors.stream()
                .map(actor -> threads.submit(() -> {
                    Steps.takeAll(List.of(actor), this::millis, (next, idle) -> actor.awaitNext());
                    return null;
                }))
                .toList();
        try (FaultRun faults = FaultRun.start(schedule, clients, play.history())) {
            for (Future<?> each : work) {
                await(each);
            }
            await(faults.done());
            Eventually.holds("no request is left below " + play.base(), NONE_LEFT_WITHIN, () -> play.requests()
                    .isEmpty());
            return faults.struck();
        }
    }

    private void await(Future<?> work) throws InterruptedException {
        try {
            work.get(within.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException blocked) {
            throw new AssertionError("blocked for " + within.toSeconds() + " s; there are " + play.requests(), blocked);
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof AssertionError told
                    ? told
                    : new AssertionError("an actor failed: " + failed.getCause(), failed.getCause());
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
        try {
            List<CompletableFuture<Void>> closing = connecting.stream()
                    .filter(each -> !each.isCompletedExceptionally())
                    .map(each -> each.thenAcceptAsync(FaultyClient::close, connections))
                    .toList();
            closing.forEach(CompletableFuture::join);
        } finally {
            connections.shutdown();
        }
    }
}
