// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.layout;

import static org.junit.jupiter.api.Assertions.assertFalse;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.testkit.Eventually;
import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.FaultyClient.Connector;
import io.latchkey.testkit.Reconnects;
import io.latchkey.testkit.Slowness;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.testkit.workload.FaultAction;
import io.latchkey.testkit.workload.FaultSchedule;
import io.latchkey.testkit.workload.LockSpec;
import io.latchkey.testkit.workload.Play;
import io.latchkey.testkit.workload.Scenario;
import io.latchkey.testkit.workload.Turn;
import io.latchkey.testkit.workload.Workload;
import io.latchkey.zk.Layout;
import io.latchkey.zk.ZkLockClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Latchkey beside processes that run another library, on one path. */
@Timeout(120)
@Tag("once")
@Tag("long")
abstract class BesideProcesses {
    static final Duration SESSION = Slowness.stretched(Duration.ofSeconds(6));
    private static final int CLIENTS = 4;
    private static final int TURNS = 25;
    private static final int LONGEST_MILLIS = 8;

    private final long seed = Long.getLong("latchkey.seed", System.nanoTime());
    private final Random random = new Random(seed);

    abstract Layout layout();

    /** A process of the other library. */
    abstract ForeignClient process(String servers, Duration session);

    /** Whether a reader of theirs that has to wait waits for those before it only. */
    boolean readersWaitInLine() {
        return true;
    }

    private LockClient latchkey(String servers, Duration session) {
        return ZkLockClient.builder()
                .connectString(servers)
                .sessionTimeout(session)
                .layout(layout())
                .build();
    }

    /** Every other client is of the other library. */
    private Connector inTurn() {
        AtomicInteger clients = new AtomicInteger();
        return (servers, session) ->
                clients.getAndIncrement() % 2 == 0 ? latchkey(servers, session) : process(servers, session);
    }

    private static void await(String what, java.util.function.BooleanSupplier condition) throws InterruptedException {
        Eventually.holds(what, Duration.ofSeconds(10), condition);
    }

    @Test
    void grantsComeInTheOrderOfTheQueue() throws Exception {
        Connector connector = inTurn();
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                LockClient ours = connector.connect(server.connectString(), SESSION);
                LockClient theirs = connector.connect(server.connectString(), SESSION)) {
            for (String kind : List.of("mutex", "read-write")) {
                String path = "/order/" + kind;
                List<Boolean> shares = new ArrayList<>();
                List<CompletableFuture<Lease>> queue = new ArrayList<>();
                for (int i = 0; i < 14; i++) {
                    LockClient client = i % 2 == 0 ? ours : theirs;
                    boolean mayRead = client == ours || readersWaitInLine();
                    boolean read = kind.equals("read-write") && mayRead && random.nextInt(3) > 0;
                    shares.add(read);
                    Acquirable lock = kind.equals("mutex")
                            ? client.mutex(path)
                            : read
                                    ? client.readWriteLock(path).readLock()
                                    : client.readWriteLock(path).writeLock();
                    queue.add(lock.acquireAsync());
                    int stand = i + 1;
                    await(stand + " requests", () -> server.nodesUnder(path).size() == stand);
                }
                serve(queue, shares);
            }
        }
    }

    /** Holders that hold together release together. */
    private void serve(List<CompletableFuture<Lease>> queue, List<Boolean> shares) throws Exception {
        for (int i = 0; i < queue.size(); ) {
            int end = i + 1;
            while (shares.get(i) && end < queue.size() && shares.get(end)) {
                end++;
            }
            List<Lease> together = new ArrayList<>();
            for (CompletableFuture<Lease> each : queue.subList(i, end)) {
                together.add(each.get(10, TimeUnit.SECONDS));
            }
            for (CompletableFuture<Lease> behind : queue.subList(end, queue.size())) {
                assertFalse(behind.isDone(), "seed " + seed);
            }
            together.forEach(Lease::close);
            i = end;
        }
    }

    @Test
    void mutexesAtRandomWhileSessionsEnd() throws Exception {
        play(() -> new LockSpec.Mutex("/m"));
    }

    @Test
    void readersAndWritersAtRandomWhileSessionsEnd() throws Exception {
        play(() -> random.nextInt(3) > 0 ? new LockSpec.Read("/rw") : new LockSpec.Write("/rw"));
    }

    private interface Drawn {
        LockSpec lock();
    }

    private void play(Drawn drawn) throws Exception {
        List<Workload.Actor> actors = IntStream.range(0, CLIENTS)
                .mapToObj(client -> new Workload.Actor(
                        client,
                        IntStream.range(0, TURNS)
                                .mapToObj(i -> turn(drawn.lock()))
                                .toList()))
                .toList();
        List<FaultSchedule.Timed> faults = IntStream.range(0, CLIENTS)
                .mapToObj(i -> new FaultSchedule.Timed(
                        random.nextInt(60, 200), i, new FaultAction.Expire(ExpiryOrder.SERVER_FIRST)))
                .toList();
        Scenario scenario = new Scenario(seed, new Workload(actors), new FaultSchedule(faults));
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            Play.of(scenario, server, Play.Settings.fast().with(inTurn())).assertExclusion();
        }
    }

    private Turn turn(LockSpec lock) {
        boolean tries = random.nextInt(4) == 0 || (lock instanceof LockSpec.Read && !readersWaitInLine());
        Turn.Form form = tries ? Turn.Form.TRY_WITHIN : Turn.Form.ACQUIRE;
        return new Turn(
                random.nextInt(LONGEST_MILLIS),
                lock,
                form,
                random.nextInt(1, 10 * LONGEST_MILLIS),
                random.nextInt(LONGEST_MILLIS));
    }

    /** The other process is paused while it holds; its lease ends by time. */
    @Test
    void pausedProcessBlocks_untilItsSessionEnds() throws Exception {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                FaultyClient theirs =
                        FaultyClient.connect(server, Duration.ofSeconds(2), Reconnects.HONEST, this::process);
                LockClient ours = latchkey(server.connectString(), SESSION)) {
            theirs.client().mutex("/still").acquire();
            CompletableFuture<Lease> next = ours.mutex("/still").acquireAsync();
            await("two requests", () -> server.nodesUnder("/still").size() == 2);
            long pid = ((ForeignClient) theirs.client()).process().pid();
            signal("STOP", pid);
            assertFalse(next.isDone());
            next.get(20, TimeUnit.SECONDS).close();
            signal("CONT", pid);
            await("it goes on in a new session", () -> theirs.proxy().isConnected());
            theirs.client().mutex("/still").acquire().close();
            await("nothing left", () -> server.nodesUnder("/still").stream().noneMatch(ServerNode::isEphemeral));
        }
    }

    private static void signal(String name, long pid) throws Exception {
        new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start().waitFor();
    }
}
