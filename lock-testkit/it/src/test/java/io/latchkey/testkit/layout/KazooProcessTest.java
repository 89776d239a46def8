// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.admin.Contender;
import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.FaultyClient.Connector;
import io.latchkey.testkit.Reconnects;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.testkit.time.Slowness;
import io.latchkey.testkit.workload.FaultSchedule;
import io.latchkey.testkit.workload.LockSpec;
import io.latchkey.testkit.workload.Play;
import io.latchkey.testkit.workload.Scenario;
import io.latchkey.testkit.workload.Workload;
import io.latchkey.testkit.workload.Workload.Turn;
import io.latchkey.zk.Layout;
import io.latchkey.zk.ZkLockClient;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * Latchkey beside kazoo, as Debian's python3-kazoo brings it, on one path. kazoo 2.8.0's {@code ReadLock} looks for the
 * last writer of the whole queue: one that has to wait, and a writer behind it, wait for each other, with kazoo alone
 * as well. So its readers here never wait without a limit.
 */
@DisabledOnOs(OS.WINDOWS)
@Timeout(120)
@Tag("once")
@Tag("long")
class KazooProcessTest {
    private static final List<String> INTERPRETERS = List.of("/usr/bin/python3", "python3");

    @TempDir
    static Path folder;

    private static String python = "";
    private static Path script = Path.of("");

    @BeforeAll
    static void findKazoo() throws IOException, InterruptedException {
        Optional<String> found = Optional.empty();
        for (String interpreter : INTERPRETERS) {
            if (found.isEmpty() && hasKazoo(interpreter)) {
                found = Optional.of(interpreter);
            }
        }
        assumeTrue(found.isPresent(), "no Python with kazoo here: apt-get install python3-kazoo");
        python = found.orElseThrow();
        script = folder.resolve("kazoo_client.py");
        try (InputStream source = KazooProcessTest.class.getResourceAsStream("kazoo_client.py")) {
            Files.copy(source, script, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    private static boolean hasKazoo(String interpreter) throws InterruptedException {
        try {
            Process asked = new ProcessBuilder(interpreter, "-c", "import kazoo")
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return asked.waitFor(20, TimeUnit.SECONDS) && asked.exitValue() == 0;
        } catch (IOException none) {
            return false;
        }
    }

    private static final Duration SESSION = Slowness.stretched(Duration.ofSeconds(6));
    private static final int CLIENTS = 4;
    private static final int TURNS = 25;
    private static final int LONGEST_MILLIS = 8;

    private final long seed = Long.getLong("latchkey.seed", System.nanoTime());
    private final Random random = new Random(seed);

    private LockClient process(String servers, Duration session) {
        return ForeignClient.kazoo(python, script, servers, session);
    }

    private static LockClient latchkey(String servers, Duration session) throws InterruptedException {
        return ZkLockClient.builder()
                .connectString(servers)
                .sessionTimeout(session)
                .layout(Layout.KAZOO)
                .build();
    }

    /** Every other client is of the other library. */
    private Connector inTurn() {
        AtomicInteger clients = new AtomicInteger();
        return (servers, session) ->
                clients.getAndIncrement() % 2 == 0 ? latchkey(servers, session) : process(servers, session);
    }

    private static void await(String what, Eventually.Condition condition) throws InterruptedException {
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
                    boolean read = kind.equals("read-write") && client == ours && random.nextInt(3) > 0;
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

    private interface LockDraw {
        LockSpec lock();
    }

    private void play(LockDraw drawn) throws Exception {
        List<Workload.Actor> actors = IntStream.range(0, CLIENTS)
                .mapToObj(client -> new Workload.Actor(
                        client,
                        IntStream.range(0, TURNS)
                                .mapToObj(i -> turn(drawn.lock()))
                                .toList()))
                .toList();
        List<FaultSchedule.TimedAction> faults = IntStream.range(0, CLIENTS)
                .mapToObj(i -> new FaultSchedule.TimedAction(
                        random.nextInt(60, 200), i, new FaultSchedule.Action.Expire(ExpiryOrder.SERVER_FIRST)))
                .toList();
        Scenario scenario = new Scenario(seed, new Workload(actors), new FaultSchedule(faults));
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            Play.of(scenario, server, Play.Settings.fast().with(inTurn())).assertExclusion();
        }
    }

    private Turn turn(LockSpec lock) {
        boolean tries = random.nextInt(4) == 0 || lock instanceof LockSpec.Read;
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
                        FaultyClient.connect(server, Duration.ofSeconds(5), Reconnects.HONEST, this::process);
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

    @Test
    void latchkeyRequest_isOneLineAmongKazoosContenders() throws Exception {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                ZkLockClient ours = ZkLockClient.builder()
                        .connectString(server.connectString())
                        .layout(Layout.KAZOO)
                        .ownerLabel("billing run")
                        .build()) {
            ours.mutex("/shown").acquire();
            Process kazoo = new ProcessBuilder(
                            python,
                            "-c",
                            "import sys; from kazoo.client import KazooClient; k = KazooClient(sys.argv[1]);"
                                    + " k.start(); print(k.Lock('/shown', 'batch').contenders())",
                            server.connectString())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String shown = new String(kazoo.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            String line = "\\['\\S*:" + ProcessHandle.current().pid() + " billing run'\\]";
            assertTrue(shown.strip().matches(line), shown);
            Contender holder = ours.mutex("/shown").queue().get(0);
            assertEquals("billing run", holder.owner().label());
            assertEquals(ProcessHandle.current().pid(), holder.owner().processId());
        }
    }

    /** kazoo makes sure of a path once for each lock object: were it a container, the server would take it away. */
    @Test
    void emptyPathIsKept() throws Exception {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                ZkLockClient ours = ZkLockClient.builder()
                        .connectString(server.connectString())
                        .layout(Layout.KAZOO)
                        .build()) {
            ours.mutex("/stays/here").acquire().close();
            assertEquals(List.of(), server.reapContainers());
            assertEquals(
                    List.of("/stays", "/stays/here"),
                    server.nodesUnder("/").stream().map(ServerNode::path).toList());
            assertThrows(UnsupportedOperationException.class, () -> ours.semaphore("/s", 1));
        }
    }
}
