// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import static org.apache.zookeeper.ZooDefs.Ids.OPEN_ACL_UNSAFE;
import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.Acquirable;
import io.latchkey.lock.ClientClosedException;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.Owner;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.admin.Contender;
import io.latchkey.lock.admin.LockSummary;
import io.latchkey.testkit.LatchkeyTest;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.zk.Layout;
import io.latchkey.zk.ZkLockClient;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** Every command and every exit status of the command line, each as a process of its own, as cron would start it. */
@Tag("slow")
@LatchkeyTest(sessionMillis = 10_000)
@Timeout(300)
class CommandLineTest extends CommandFixture {
    private static final Duration SOON = Duration.ofSeconds(60);
    /** What is measured in this process, and not awaited from another. */
    private static final Duration MOST = Duration.ofSeconds(20);

    private ZooKeeper operator;

    CommandLineTest(EmbeddedZooKeeper server, LockClient other) {
        super(server, other);
    }

    /** Sessions outlive a machine that stands still, but where a test gives them another time. */
    @Override
    Program start(Map<String, String> environment, String... args) {
        List<String> all = new ArrayList<>(List.of(args));
        if (!all.isEmpty() && all.get(0).equals("run") && String.join(" ", all).indexOf("--session-timeout") < 0) {
            all.add(1, "--session-timeout=30s");
        }
        return super.start(environment, all.toArray(String[]::new));
    }

    private Program.Exit run(String... args) throws InterruptedException {
        return start(args).ended();
    }

    /** Returns the table without its last columns: the age, session and label of a holder. */
    private static String columns(String table, int number) {
        return table.lines()
                .map(line ->
                        line.replaceAll("^((\\S+ +){" + number + "}).*", "$1").stripTrailing() + "\n")
                .collect(Collectors.joining());
    }

    private static Program.Exit succeeded(Program.Exit ended) {
        assertEquals(0, ended.status(), ended::toString);
        assertEquals("", ended.err());
        return ended;
    }

    private void awaitRequests(String path, int number) throws InterruptedException {
        Eventually.holds(
                number + " requests at " + path, SOON, () -> requests(path).size() == number);
    }

    // ---- looking

    @Test
    @Tag("once")
    void ls_showsKindsAndCountsOfHoldersAndWaiters() throws Exception {
        try (Lease mutex = other.mutex("/list/deep/mutex").acquire();
                Lease one = other.semaphore("/list/pool", 3).acquire();
                Lease two = other.semaphore("/list/pool", 3).permits(2).acquire();
                Lease reader = other.readWriteLock("/list/document").readLock().acquire()) {
            CompletableFuture<Lease> writer =
                    other.readWriteLock("/list/document").writeLock().acquireAsync();
            CompletableFuture<Lease> third = other.semaphore("/list/pool", 3).acquireAsync();
            awaitRequests("/list/document", 2);
            awaitRequests("/list/pool", 3);
            Program.Exit text = latchkey("ls", "/list");
            Program.Exit json = latchkey("ls", "--json", "/list");
            Program.Exit nothing = latchkey("ls", "/list/none");

            assertEquals(
                    """
                    PATH              KIND        CAPACITY  HOLDERS  WAITERS  LAYOUT
                    /list/deep/mutex  mutex       1         1        0        latchkey
                    /list/document    read-write  1         1        1        latchkey
                    /list/pool        semaphore   3         2        1        latchkey
                    """,
                    columns(succeeded(text).out(), 6));
            assertTrue(
                    text.out().lines().toList().get(1).matches(".* latchkey  +\\d+s  +0x[0-9a-f]+  -"), text::toString);
            assertEquals(0, nothing.status(), nothing::toString);
            assertEquals("latchkey: no lock at or below /list/none\n", nothing.err());
            JsonArray locks = JsonParser.parseString(succeeded(json).out()).getAsJsonArray();
            JsonObject pool = locks.asList().stream()
                    .map(each -> each.getAsJsonObject())
                    .filter(lock -> lock.get("path").getAsString().equals("/list/pool"))
                    .findFirst()
                    .orElseThrow();
            for (String age : List.of("oldestHolderAgeSeconds", "oldestWaiterAgeSeconds")) {
                double seconds = pool.remove(age).getAsDouble();
                assertTrue(seconds >= 0 && seconds < MOST.toSeconds(), age + " " + seconds);
            }
            assertEquals(
                    JsonParser.parseString(
                            """
                            {"path": "/list/pool", "kind": "semaphore", "permits": 3, "capacity": 3, "holders": 2, "waiters": 1, "layout": "latchkey"}
                            """),
                    pool);
            assertTrue(writer.cancel(false) && third.cancel(false));
            assertTrue(mutex.isValid() && one.isValid() && two.isValid() && reader.isValid());
        }
    }

    @Test
    @Tag("once")
    void show_printsHoldersAndWaiters() throws Exception {
        try (LockClient named = ZkLockClient.builder()
                        .connectString(server.connectString())
                        .ownerLabel("night shift")
                        .build();
                Lease held = named.mutex("/show").acquire()) {
            CompletableFuture<Lease> waiter = other.mutex("/show").acquireAsync();
            awaitRequests("/show", 2);
            Program.Exit text = latchkey("show", "/show");
            Program.Exit json = latchkey("show", "--json", "/show");
            Program.Exit unused = latchkey("show", "/show/unused");

            JsonObject shown = JsonParser.parseString(succeeded(json).out()).getAsJsonObject();
            assertEquals("mutex", shown.get("kind").getAsString());
            JsonArray queue = shown.getAsJsonArray("queue");
            assertEquals(2, queue.size());
            JsonObject first = queue.get(0).getAsJsonObject();
            assertEquals("holding", first.get("state").getAsString());
            assertEquals(held.token(), first.get("token").getAsLong());
            assertEquals(ProcessHandle.current().pid(), first.get("processId").getAsLong());
            assertEquals("night shift", first.get("label").getAsString());
            assertFalse(first.get("host").getAsString().isEmpty());
            Instant since = Instant.parse(first.get("since").getAsString());
            assertTrue(Duration.between(since, Instant.now()).compareTo(MOST) < 0, () -> "since " + since);
            assertTrue(first.get("ageSeconds").getAsDouble() < MOST.toSeconds(), first::toString);
            assertEquals(
                    "0x" + Long.toHexString(named.session().id()),
                    first.get("session").getAsString());
            assertEquals("waiting", queue.get(1).getAsJsonObject().get("state").getAsString());

            List<String> lines = succeeded(text).out().lines().toList();
            assertEquals("/show: mutex", lines.get(0));
            assertTrue(
                    lines.get(1).matches("STATE +TOKEN +LOCK +PERMITS +AGE +SINCE +SESSION +HOST +PROCESS +LABEL"),
                    lines.get(1));
            assertTrue(
                    lines.get(2)
                            .matches("holding +" + held.token() + " +mutex +1 +\\d+s .* 0x[0-9a-f]+ .* night shift"),
                    lines.get(2));
            assertTrue(lines.get(3).startsWith("waiting "), lines.get(3));

            assertEquals(
                    "/show/unused: no lock; no holders, no waiters\n",
                    succeeded(unused).out());
            assertTrue(waiter.cancel(false));
        }
    }

    /** Any client that may create nodes somewhere can leave such nodes there. */
    @Test
    @Tag("once")
    void ls_namesUnreadableLocksAndShowsTheRest() throws Exception {
        String tooLong = "/" + "long".repeat(2_500);
        try (LockClient odd = ZkLockClient.connect(server.connectString() + "/odd");
                Lease good = odd.mutex("/good").acquire();
                Lease beside = odd.mutex("/p/good").acquire();
                Lease below = odd.mutex("/tenant/nest/good").acquire()) {
            create("/odd/lock-0000000000", "", OPEN_ACL_UNSAFE);
            create("/odd" + tooLong, "latchkey/3 mutex", OPEN_ACL_UNSAFE);
            create("/odd/p/leases", "", List.of(new ACL(ZooDefs.Perms.CREATE, ZooDefs.Ids.ANYONE_ID_UNSAFE)));
            create("/odd/big", "", OPEN_ACL_UNSAFE);
            create("/odd/big/1" + "x".repeat(600_000), "", OPEN_ACL_UNSAFE);
            create("/odd/big/2" + "x".repeat(600_000), "", OPEN_ACL_UNSAFE);
            create("/odd/tenant/block-1700000000", "", OPEN_ACL_UNSAFE);
            create("/odd/tenant/block-1700000000/job", "latchkey/3 mutex", OPEN_ACL_UNSAFE);
            Program.Exit listed = InThisJvm.latchkey(server.connectString() + "/odd", "ls");
            Program.Exit shown = InThisJvm.latchkey(server.connectString() + "/odd", "show", "/p");

            assertEquals(70, listed.status(), listed::toString);
            List<String> paths = listed.out()
                    .lines()
                    .skip(1)
                    .map(line -> line.split(" ", 2)[0])
                    .toList();
            assertEquals(List.of("/good", "/p/good", "/tenant", "/tenant/nest/good"), paths);
            List<String> said = listed.err().lines().toList();
            assertEquals(4, said.size(), listed::toString);
            assertEquals(
                    "latchkey: not shown, since this client may not read it (give it the right, or --auth): /p/leases",
                    said.get(0));
            assertTrue(said.get(1).startsWith("latchkey: not shown: /big: The connection breaks"), said.get(1));
            assertTrue(said.get(2).startsWith("latchkey: not shown: " + tooLong + ": "), said.get(2));
            assertTrue(said.get(3).startsWith("latchkey: not shown: /tenant/block-1700000000/job: "), said.get(3));
            assertEquals(77, shown.status(), shown::toString);
            assertTrue(shown.err().endsWith(": /p/leases\n"), shown::toString);
            assertTrue(good.isValid() && beside.isValid() && below.isValid());
        }
    }

    @Test
    @Tag("once")
    void ls_showsLocksAtAnyDepth() throws Exception {
        StringBuilder deep = new StringBuilder("/deep");
        create(deep.toString(), "", OPEN_ACL_UNSAFE);
        for (int level = 1; level <= 3_000; level++) {
            create(deep.append("/a").toString(), "", OPEN_ACL_UNSAFE);
        }
        create(deep.append("/job").toString(), "latchkey/3 mutex", OPEN_ACL_UNSAFE);

        // A small stack instead of a deeper tree.
        Program.Exit ended = start(
                        Map.of(
                                "LATCHKEY_CONNECT",
                                server.connectString(),
                                "PATH",
                                PATH,
                                "JDK_JAVA_OPTIONS",
                                "-Xss256k"),
                        "ls",
                        "/deep")
                .ended();

        assertEquals(0, ended.status(), ended::toString);
        assertTrue(ended.out().contains("\n" + deep + "  mutex"), ended::toString);
    }

    private void create(String path, String data, List<ACL> acl) throws Exception {
        if (operator == null) {
            operator = kept(new ZooKeeper(server.connectString(), 10_000, event -> {}));
        }
        var unused = operator.create(
                path, data.getBytes(StandardCharsets.UTF_8), new ArrayList<>(acl), CreateMode.PERSISTENT);
    }

    /** 100,000 lines, so that an algorithm of quadratic time would not finish. */
    @Test
    void tables_takeTimeInProportionToTheirLines() {
        Table table = new Table("PATH", "KIND");
        for (int n = 0; n < 100_000; n++) {
            table.line("/locks/" + n, "mutex");
        }
        table.line("/" + "long".repeat(2_500), "mutex");

        String text = assertTimeoutPreemptively(MOST, table::toString);

        assertTrue(text.length() < 10_000_000, "one long path makes no other line longer");
    }

    @Test
    void requestHasNoTime_whenItMayNotBeRead() {
        Contender unreadable = contender(Contender.State.WAITING, 0, new Owner("", "", 0));
        assertEquals(
                "Request[state=waiting, token=0, lock=write, permits=1, since=null, host=, processId=0, label=,"
                        + " ageSeconds=null, session=null]",
                Output.Request.of(LockSummary.Kind.READ_WRITE, unreadable, Instant.now())
                        .toString());
    }

    @Test
    void timesHaveTheirUnits() {
        assertEquals(
                List.of(
                        Duration.ofMillis(500),
                        Duration.ofSeconds(7),
                        Duration.ofSeconds(10),
                        Duration.ofMinutes(5),
                        Duration.ofHours(2),
                        Duration.ofDays(1),
                        Duration.ofDays(3)),
                Stream.of("500ms", "7", "10s", "5m", "2h", "1d", "3D")
                        .map(new Span()::convert)
                        .toList());
    }

    @Test
    void statusOfAnIncompleteListIs69_whenTheServersStoppedAnswering() {
        LockException denied = new AccessDeniedException("denied");
        LockException odd = new LockException("odd");
        LockException away = new LockServiceUnavailableException("away");
        assertEquals(ExitStatus.DONE, ExitStatus.ofMissing(List.of()));
        assertEquals(ExitStatus.DENIED, ExitStatus.ofMissing(List.of(denied, denied)));
        assertEquals(ExitStatus.UNEXPECTED, ExitStatus.ofMissing(List.of(denied, odd)));
        assertEquals(ExitStatus.UNAVAILABLE, ExitStatus.ofMissing(List.of(denied, odd, away)));
    }

    @Test
    @Tag("once")
    void textOfOtherUsers_isPrintedHarmless() throws Exception {
        try (Lease held = other.mutex("/raw/gr\u00fcn \u202eevil").acquire()) {
            create("/odd-data", "evil \u202e\u009b2J \ud83d\ude00", OPEN_ACL_UNSAFE);
            Program.Exit json = latchkey("ls", "--json", "/raw");
            Program refused = start("run", "/odd-data", "--", "true");

            String text = succeeded(json).out();
            assertTrue(text.chars().allMatch(c -> c == '\n' || (c >= ' ' && c < 0x7f)), text);
            assertEquals(
                    "/raw/gr\u00fcn \u202eevil",
                    JsonParser.parseString(text)
                            .getAsJsonArray()
                            .get(0)
                            .getAsJsonObject()
                            .get("path")
                            .getAsString());
            Program.Exit mismatch = refused.ended();
            assertEquals(78, mismatch.status(), mismatch::toString);
            assertTrue(mismatch.err().contains("evil ??2J \ud83d\ude00"), mismatch::toString);
            assertTrue(held.isValid());
        }
    }

    // ---- run

    @Test
    void run_passesTheStatusOfTheCommandOn() throws Exception {
        String look = "echo $LATCHKEY_PATH $LATCHKEY_TOKEN; cat; echo $0 $1 $2 >&2; exit 3";

        Program.Exit ended = run("run", "/run/status", "--", "sh", "-c", look, "@x", "--", "-v");

        assertEquals(3, ended.status());
        assertEquals("@x -- -v\n", ended.err(), "what is behind the first -- is the command's");
        String[] said = ended.out().strip().split(" ", -1);
        assertEquals("/run/status", said[0]);
        try (Lease next = other.mutex("/run/status").tryAcquire().orElseThrow()) {
            long token = Long.parseLong(said[1]);
            assertTrue(token > 0 && token < next.token(), said[1]);
        }
    }

    @Test
    void commandIsNotStarted_withoutTheLock() throws Exception {
        try (Lease held = other.mutex("/run/busy").acquire();
                Lease one = other.semaphore("/run/pool", 2).acquire();
                Lease reader = other.readWriteLock("/run/document").readLock().acquire()) {
            Program mutex = start("run", "/run/busy", "--timeout", "0", "--", "echo", "ran");
            // Its first request is answered in that time, beside a busy machine too: else its status is another.
            Program quiet = start("run", "/run/busy", "--timeout=5s", "--quiet", "--", "echo", "ran");
            Program second = start("run", "/run/pool", "--semaphore=2", "--timeout=0", "--", "echo", "ran");
            Program beside = start("run", "/run/document", "--read", "--timeout=0", "--", "echo", "ran");

            Program.Exit busy = mutex.ended();
            assertEquals(75, busy.status(), busy::toString);
            assertTrue(
                    busy.err()
                            .matches("latchkey: /run/busy was not free within 0s: held by .+, process "
                                    + ProcessHandle.current().pid() + " \\(token " + held.token()
                                    + ", asked \\d+s ago\\)\\. The command was not run\\.\n"),
                    busy::toString);
            assertEquals(new Program.Exit(75, "", ""), quiet.ended());
            assertEquals(new Program.Exit(0, "ran\n", ""), second.ended());
            assertEquals(new Program.Exit(0, "ran\n", ""), beside.ended());
            // A writer that tries is ahead of later readers while it is in the queue.
            Program writer = start("run", "/run/document", "--write", "--timeout=0", "--", "echo", "ran");
            assertEquals(75, writer.ended().status());
            assertTrue(held.isValid() && one.isValid() && reader.isValid());
        }
    }

    @Test
    void commandRunsOncePerPeriod() throws Exception {
        String day = "--once-per=36500d"; // began in 1970, and does not end while this test runs
        assertEquals(
                3, run("run", "/once/after", day, "--", "sh", "-c", "exit 3").status(), "not recorded");
        Program.Exit done = run("run", "/once/after", day, "--", "sh", "-c", "echo $LATCHKEY_PERIOD");
        assertEquals(new Program.Exit(0, "1970-01-01T00:00:00Z\n", ""), done);
        Program again = start("run", "/once/after", day, "--", "echo", "ran");
        Program quiet = start("run", "/once/after", day, "--quiet", "--", "echo", "ran");
        assertEquals(
                3,
                run("run", "/once/before", day, "--at-most-once", "--", "sh", "-c", "exit 3")
                        .status());
        Program before = start("run", "/once/before", day, "--at-most-once", "--", "echo", "ran");

        String said =
                "latchkey: already done for the period that began at 1970-01-01T00:00:00Z. The command was not run.\n";
        assertEquals(new Program.Exit(0, "", said), again.ended());
        assertEquals(new Program.Exit(0, "", ""), quiet.ended());
        assertEquals(new Program.Exit(0, "", said), before.ended());
        assertEquals(List.of(), requests("/once/after"));
    }

    /** No process of it existed, so the right command is run in the same period. */
    @Test
    void periodIsNotUsedUp_whenTheCommandCannotBeStarted() throws Exception {
        Program.Exit none = run("run", "/once/none", "--once-per=36500d", "--at-most-once", "--", "/no/such/command");
        assertEquals(127, none.status(), none.err());
        Program.Exit right = run("run", "/once/none", "--once-per=36500d", "--at-most-once", "--", "echo", "ran");
        assertEquals("ran\n", right.out(), right.err());
        Program.Exit again = run("run", "/once/none", "--once-per=36500d", "--at-most-once", "--", "echo", "ran");
        assertEquals("", again.out(), again.err());
    }

    @Test
    void commandIsEndedAndItsPeriodNotRecorded_whenTheLockIsLost() throws Exception {
        Program program = runScript("/once/lost", OBEDIENT, "--once-per=1d").awaitSaid("running");
        server.expireSession(requests("/once/lost").get(0).session());
        Program.Exit ended = program.ended();
        assertEquals(76, ended.status(), ended::toString);
        assertEquals("running\ngot TERM\n", ended.out());
        // The shell may have said before that its sleep was ended.
        assertTrue(ended.err().contains("latchkey: the lock /once/lost was lost while the command ran ("), ended.err());
        assertEquals(
                "ran\n",
                run("run", "/once/lost", "--once-per=1d", "--", "echo", "ran").out());
    }

    /** It ends with 0, as many programs do that are asked to end. */
    @Test
    void periodIsNotRecorded_whenASignalEndsTheCommand() throws Exception {
        Program program = runScript("/once/signal", OBEDIENT, "--once-per=1d").awaitSaid("running");
        program.signal("TERM");
        Program.Exit ended = program.ended();
        assertEquals(143, ended.status(), ended::toString);
        assertFalse(ended.err().contains("latchkey"), ended.err());
        assertEquals(
                "ran\n",
                run("run", "/once/signal", "--once-per=1d", "--", "echo", "ran").out());
    }

    @Test
    void commandIsEnded_whenItHoldsTheLockForTooLong() throws Exception {
        Program program = runScript("/run/limited", OBEDIENT, "--held-at-most", "2s");

        Program.Exit ended = program.ended();
        assertEquals(76, ended.status(), ended::toString);
        assertTrue(ended.err().contains("(HELD_TOO_LONG: "), ended.err());
    }

    @Test
    void commandThatIgnoresTerm_isKilled_whenItsRequestIsEvicted() throws Exception {
        String deaf = "trap '' TERM; sleep 300 & echo running $! $$; wait";
        Program program = runScript("/run/evicted", deaf, "--grace", "300ms").awaitSaid("running ");
        String[] pids = program.out().strip().split(" ", -1);
        String token = Long.toString(other.mutex("/run/evicted").queue().get(0).token());

        String evicted = succeeded(latchkey("evict", "/run/evicted", token)).out();
        assertTrue(
                evicted.matches("evicted the holder with token " + token + " at /run/evicted: .+, process \\d+, sh\n"),
                evicted);

        Program.Exit ended = program.ended();
        assertEquals(76, ended.status(), ended::toString);
        assertTrue(
                ended.err()
                        .contains("while the command ran (NODE_DELETED: its node was deleted, as 'latchkey evict' does;"
                                + " token " + token + ")"),
                ended.err());
        for (int each = 1; each <= 2; each++) {
            assertFalse(
                    ProcessHandle.of(Long.parseLong(pids[each]))
                            .map(Program::runs)
                            .orElse(false),
                    "process " + pids[each] + " still lives");
        }
        Program.Exit again = run("evict", "/run/evicted", token);
        assertEquals(66, again.status());
        assertTrue(again.err().startsWith("latchkey: no request with token " + token), again.err());
    }

    /** Any client that may create nodes there can make a reader that seems to be a downgrade of another's writer. */
    @Test
    @Tag("once")
    void requestIsNotActedOn_whenAnotherHasItsToken() throws Exception {
        ZooKeeper forger = kept(new ZooKeeper(server.connectString(), 10_000, event -> {}));
        try (Lease held = other.readWriteLock("/forged").writeLock().acquire()) {
            String token = Long.toString(held.token());
            String unused = forger.create(
                    "/forged/read-00000000000000ff-",
                    ("evil:1/" + token + " x").getBytes(StandardCharsets.UTF_8),
                    OPEN_ACL_UNSAFE,
                    CreateMode.EPHEMERAL_SEQUENTIAL);
            for (String command : List.of("evict", "ask")) {
                assertStatus(64, "2 requests at /forged have the token " + token, latchkey(command, "/forged", token));
            }
            assertEquals(2, requests("/forged").size());
            assertTrue(held.isValid());
        }
    }

    @ParameterizedTest
    @CsvSource({"TERM,143", "INT,130"})
    void lockIsReleased_whenASignalEndsTheCommand(String signal, int status) throws Exception {
        String path = "/run/signal/" + signal;
        Program program =
                runScript(path, "echo running; sleep 300; echo and on").awaitSaid("running");
        List<ProcessHandle> tree = program.process().descendants().toList();

        program.signal(signal);

        assertEquals(new Program.Exit(status, "running\n", ""), program.ended());
        assertTrue(tree.size() >= 1 && tree.stream().noneMatch(Program::runs), tree::toString);
        assertEquals(List.of(), requests(path), "released, not left to the end of the session");
    }

    @Test
    void login_isNotPassedOnToTheCommand() throws Exception {
        Map<String, String> environment =
                Map.of("LATCHKEY_CONNECT", server.connectString(), "LATCHKEY_AUTH", "digest:me:secret", "PATH", PATH);

        Program.Exit ended =
                start(environment, "run", "/run/login", "--", "sh", "-c", "env").ended();

        assertEquals(0, ended.status(), ended::toString);
        assertTrue(ended.out().contains("LATCHKEY_PATH=/run/login\n"), ended::toString);
        assertFalse(ended.out().contains("secret"), ended::toString);
    }

    /** As after a stop of the process: no signal and no notice has come yet, and its own clock tells. */
    @Test
    void commandIsNotStarted_whenTheLeaseIsNoLongerValid() throws Exception {
        Path ran = folder.resolve("ran");
        Lease lost = (Lease) Proxy.newProxyInstance(
                Lease.class.getClassLoader(),
                new Class<?>[] {Lease.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "isValid" -> false;
                    case "token" -> 7L;
                    case "lost" -> new CompletableFuture<LossCause>();
                    case "release" -> ReleaseOutcome.LOST;
                    default -> throw new UnsupportedOperationException(method.getName());
                });
        RunCommand run = new RunCommand();
        new CommandLine(run)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .parseArgs("/m", "--", "/usr/bin/touch", ran.toString());

        assertEquals(76, run.run(lost, new CommandProcess(SOON)));

        assertFalse(Files.exists(ran));
    }

    /** Then the caller prints its message: without a signal there was no reason to close it. */
    @Test
    void closedClientIsReported_whenNoSignalClosedIt() {
        Acquirable failing = (Acquirable) Proxy.newProxyInstance(
                Acquirable.class.getClassLoader(), new Class<?>[] {Acquirable.class}, (proxy, method, arguments) -> {
                    throw new ClientClosedException("The lock client is closed, as an unexpected error ended it");
                });
        RunCommand run = new RunCommand();
        new CommandLine(run).setCaseInsensitiveEnumValuesAllowed(true).parseArgs("/m", "--", "true");
        assertThrows(
                ClientClosedException.class, () -> run.acquireAndRunUnlessStopped(failing, new CommandProcess(SOON)));
    }

    @Test
    @Tag("once")
    void timedRunEndsWith69_whenNoServerAnswers() throws Exception {
        try (EmbeddedZooKeeper away = EmbeddedZooKeeper.start();
                LockClient holder = ZkLockClient.connect(away.connectString())) {
            Lease unused = holder.mutex("/away").acquire();
            Program program = start(
                    Map.of("LATCHKEY_CONNECT", away.connectString(), "PATH", PATH),
                    "run",
                    "/away",
                    "--timeout=5s",
                    "--session-timeout=2s",
                    "--",
                    "echo",
                    "ran");
            Eventually.holds(
                    "a waiter",
                    SOON,
                    () -> away.nodesUnder("/away").stream()
                                    .filter(ServerNode::isEphemeral)
                                    .count()
                            == 2);
            away.stop();

            assertStatus(69, "No server answers, so it is not known whether /away is free", program.ended());
            away.restart();
        }
    }

    /** Ctrl-C at a terminal: the command often ends before latchkey has noticed the signal. */
    @Test
    @Tag("long")
    @Tag("once")
    @Timeout(300)
    void noLossIsReported_whenTheSignalGoesToTheProcessGroup() throws Exception {
        for (int press = 1; press <= 20; press++) {
            String path = "/run/group/" + press;
            Program program = runScript(path, "echo running; exec sleep 300").awaitSaid("running");

            program.signalGroup("INT");

            assertEquals(new Program.Exit(130, "running\n", ""), program.ended(), "press " + press);
            assertEquals(List.of(), requests(path));
        }
    }

    /** A shell without job control starts background processes that ignore INT, and ends itself at once. */
    @ParameterizedTest
    @CsvSource({"INT, 130, sleep 300", "TERM, 143, trap '' TERM; sleep 300"})
    @Tag("once")
    void processThatIgnoresTheSignalOfItsGroup_isEndedBeforeTheRelease(String signal, int status, String background)
            throws Exception {
        String script = "(" + background + ") & echo pid $!; exec sleep 301";
        Program program = runScript("/run/ignores", script, "--grace=1s").awaitSaid("pid ");

        program.signalGroup(signal);

        Program.Exit ended = program.ended();
        assertEquals(status, ended.status(), ended::toString);
        long child = Long.parseLong(ended.out().strip().replace("pid ", ""));
        assertFalse(ProcessHandle.of(child).filter(Program::runs).isPresent(), "the child goes on");
        assertEquals(List.of(), requests("/run/ignores"));
    }

    @Test
    void requestIsDeleted_whenASignalArrivesWhileItWaits() throws Exception {
        try (Lease held = other.mutex("/run/waits").acquire()) {
            Program program = start("run", "/run/waits", "--", "echo", "ran");
            awaitRequests("/run/waits", 2);

            program.signal("TERM");

            assertEquals(new Program.Exit(143, "", ""), program.ended());
            assertEquals(1, requests("/run/waits").size());
            assertTrue(held.isValid());
        }
    }

    // ---- what can be wrong

    @Test
    @Tag("once")
    void wrongCommandLine_isReportedWithStatus64() throws Exception {
        List<String[]> wrong = List.of(
                new String[] {"run", "/x", "echo", "--", "a separator behind the command"},
                new String[] {"run", "/x", "--read", "--write", "--", "true"},
                new String[] {"run", "/x", "--timeout", "soon", "--", "true"},
                new String[] {"show", "/x", "--auth", "secret"},
                new String[] {"frobnicate"});
        for (String[] line : wrong) {
            Program.Exit ended = InThisJvm.ended(line);
            assertEquals(64, ended.status(), ended::toString);
            assertEquals("", ended.out());
            assertTrue(ended.err().matches("latchkey: .*\nTry 'latchkey.* --help'.\n"), ended::toString);
            assertFalse(ended.err().contains("secret"), ended::toString);
        }
        // Under cron, with nothing in the environment.
        Program.Exit nowhere = start(Map.of(), "ls").ended();
        assertEquals(64, nowhere.status(), nowhere::toString);
        assertTrue(nowhere.err().startsWith("latchkey: No servers are given. Set LATCHKEY_CONNECT"), nowhere::toString);
    }

    /** No server listens at the address; the last line shows that. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "show x | must begin with /",
                "evict x 1 | must begin with /",
                "ls x | it must begin with /",
                "top x | it must begin with /",
                "top --count=0 | --count takes 1 look or more, not 0",
                "top --count=-1 | --count takes 1 look or more, not -1",
                "watch /x --for=0 | --for takes a time above 0",
                "resize /x x | 'x' is not a number of permits: give 1 or more",
                "resize /x 0 | '0' is not a number of permits: give 1 or more",
                "run x -- true | must begin with /",
                "evict /x abc | 'abc' is not a token: give the number in the column TOKEN of 'latchkey show'",
                "evict /x 0 | '0' is not a token",
                "run /x --at-most-once -- true | --at-most-once needs --once-per",
                "run /x --once-per=1d --read -- true | --once-per needs a lock that one command has alone",
                "run /x --held-at-most=0 -- true | --held-at-most takes a time above 0",
                "run /x --once-per=0 -- true | the length must be from a millisecond",
                "run /x --semaphore=0 -- true | --semaphore takes 1 permit or more, not 0",
                "run /x --label=LONG -- true | --label has 257 characters, and 256 are the most",
                "run /x --label=a\u202eb -- true | --label has the character U+202E, which is not printed",
                "ping /x --connect-timeout=0 | --connect-timeout takes a time above 0",
                "ls --client-config=missing.properties | cannot read the file missing.properties",
                "ls --connect=http://127.0.0.1:1 | host:port[,host:port...][/chroot], without http://",
                "ls --connect=127.0.0.1:1 | --connect-timeout"
            })
    @Tag("once")
    void wrongArguments_areRefusedBeforeConnecting(String line, String said) {
        List<String> args =
                new ArrayList<>(List.of(line.replace("LONG", "x".repeat(257)).split(" ", -1)));
        if (!line.contains("--connect=")) {
            args.add(1, "--connect=127.0.0.1:1");
        }

        Program.Exit ended = InThisJvm.ended(args.toArray(String[]::new));

        assertEquals(said.equals("--connect-timeout") ? 69 : 64, ended.status(), ended::toString);
        assertTrue(ended.err().startsWith("latchkey: ") && ended.err().contains(said), ended::toString);
        assertFalse(ended.err().contains("\tat "), ended::toString);
    }

    @Test
    @Tag("once")
    void refusalOfTheServers_hasItsOwnStatus() throws Exception {
        try (LockClient theirs = strictClient();
                Lease mine = theirs.mutex("/refused/mine").acquire();
                Lease held = other.mutex("/refused-mutex").acquire()) {
            Program.Exit patient = InThisJvm.latchkey("127.0.0.1:1", "ls", "--connect-timeout=500ms");
            Program.Exit listed = latchkey("ls", "/refused");
            Program denied = start("run", "/refused/mine", "--auth=digest:you:yours", "--", "true");
            Program.Exit evict = latchkey("evict", "/refused/mine", "7");
            Program mismatch = start("run", "/refused-mutex", "--semaphore=2", "--", "true");
            Program missing = start("run", "/refused-missing", "--", "/no/such/command");
            Program notExecutable = start("run", "/refused-missing", "--", "/etc/passwd");

            assertStatus(69, "No connection to ZooKeeper at 127.0.0.1:1 within 500 ms", patient);
            assertStatus(77, "", denied.ended());
            assertStatus(77, "may not read it", evict);
            assertEquals(77, listed.status());
            assertEquals(
                    "latchkey: not shown, since this client may not read it (give it the right, or --auth): /refused\n",
                    listed.err());
            assertEquals("PATH  KIND  CAPACITY  HOLDERS  WAITERS  LAYOUT  AGE  SESSION  LABEL\n", listed.out());
            assertStatus(78, "mutex", mismatch.ended());
            assertStatus(127, "/no/such/command", missing.ended());
            assertStatus(126, "/etc/passwd", notExecutable.ended());
            assertEquals(List.of(), requests("/refused-missing"));
            assertTrue(mine.isValid() && held.isValid());
        }
    }

    private static void assertStatus(int status, String said, Program.Exit ended) {
        assertAll(
                () -> assertEquals(status, ended.status(), ended::toString),
                () -> assertEquals("", ended.out()),
                () -> assertTrue(
                        ended.err().startsWith("latchkey: ") && ended.err().contains(said), ended::toString),
                () -> assertEquals(1, ended.err().lines().count(), ended::toString));
    }

    @Test
    @Tag("once")
    void help_hasNoColours_withoutATerminal() throws Exception {
        Program.Exit run = InThisJvm.ended("run", "--help");
        // A process, since picocli asks the terminal for colours.
        for (Program.Exit program : List.of(start("--help").ended(), run, InThisJvm.ended("help", "run"))) {
            String help = succeeded(program).out();
            assertTrue(help.startsWith("Usage: latchkey"), help);
            assertFalse(help.contains("\u001b"), help);
        }
        String words = run.out().replaceAll("\\s+", " ");
        assertTrue(words.contains("COMMAND has latchkey's standard input"), words);
        assertTrue(words.contains("if latchkey gets TERM") && words.contains("If latchkey itself"), words);
    }

    @Test
    void latchkeyAlone_showsHelpWithEachCommandAndStatus() {
        String help = succeeded(InThisJvm.ended()).out();
        assertEquals(help, succeeded(InThisJvm.ended("help")).out());
        for (String command : Main.commands()) {
            assertTrue(help.contains("\n  " + command + " "), help);
        }
        for (ExitStatus status : ExitStatus.values()) {
            assertTrue(help.contains("\n  " + status.code() + " "), help);
        }
    }

    // ---- locks of Curator and kazoo

    private CuratorFramework curator() {
        CuratorFramework curator =
                kept(CuratorFrameworkFactory.newClient(server.connectString(), 10_000, 10_000, new RetryOneTime(1)));
        curator.start();
        return curator;
    }

    private LockClient beside(Layout layout) throws InterruptedException {
        return kept(ZkLockClient.builder()
                .connectString(server.connectString())
                .layout(layout)
                .build());
    }

    /** Waits for a permit until the client of Curator is closed. */
    private static boolean permit(InterProcessSemaphoreV2 pool) {
        try {
            return pool.acquire() != null;
        } catch (Exception closed) {
            return false;
        }
    }

    @Test
    @Tag("once")
    void locksOfOthersAreListedAndShownWhileTheyAreUsed() throws Exception {
        CuratorFramework curator = curator();
        LockClient besideCurator = beside(Layout.CURATOR);
        LockClient besideKazoo = beside(Layout.KAZOO);
        new InterProcessMutex(curator, "/fleet/job").acquire();
        InterProcessSemaphoreV2 pool = new InterProcessSemaphoreV2(curator, "/fleet/pool", 2);
        pool.acquire(2);
        var reader = besideCurator.readWriteLock("/fleet/document").readLock().acquire();
        var script = besideKazoo.mutex("/fleet/script").acquire();
        var feed = besideKazoo.readWriteLock("/fleet/feed").readLock().acquire();
        create("/fleet/no-lock", "", OPEN_ACL_UNSAFE);
        List<?> waiting = List.of(
                besideCurator.mutex("/fleet/job").acquireAsync(),
                CompletableFuture.supplyAsync(() -> permit(pool)),
                CompletableFuture.supplyAsync(() -> permit(pool)),
                besideCurator.readWriteLock("/fleet/document").writeLock().acquireAsync(),
                besideKazoo.readWriteLock("/fleet/feed").writeLock().acquireAsync());
        awaitRequests("/fleet/job", 2);
        awaitRequests("/fleet/pool", 5);
        awaitRequests("/fleet/document", 2);
        awaitRequests("/fleet/feed", 2);

        assertEquals(
                """
                PATH             KIND        CAPACITY  HOLDERS  WAITERS  LAYOUT
                /fleet/document  read-write  1         1        1        curator
                /fleet/feed      read-write  1         1        1        kazoo
                /fleet/job       mutex       1         1        1        curator
                /fleet/pool      semaphore   -         2        2        curator
                /fleet/script    mutex       1         1        0        kazoo
                """,
                columns(succeeded(latchkey("ls", "/fleet")).out(), 6));

        List<String> document =
                succeeded(latchkey("show", "/fleet/document")).out().lines().toList();
        assertEquals("/fleet/document: read-write, layout curator", document.get(0));
        assertTrue(document.get(2).matches("holding +" + reader.token() + " +read +1 .*"), document.get(2));
        assertTrue(document.get(3).matches("waiting +\\d+ +write +1 .*"), document.get(3));

        JsonObject shown = JsonParser.parseString(
                        succeeded(latchkey("show", "--json", "/fleet/pool")).out())
                .getAsJsonObject();
        assertTrue(shown.get("capacity").isJsonNull() && shown.get("permits").isJsonNull(), shown::toString);
        assertEquals("curator", shown.get("layout").getAsString());
        assertEquals(4, shown.getAsJsonArray("queue").size());

        assertTrue(reader.isValid() && script.isValid() && feed.isValid());
        assertFalse(waiting.isEmpty());
    }

    /** A case that is not prevented: Curator ignores nodes of Latchkey's own layout. */
    @Test
    @Tag("once")
    void pathWithTwoLocksIsShown() throws Exception {
        var held = other.mutex("/both").acquire();
        new InterProcessMutex(curator(), "/both").acquire();

        Program.Exit ended = latchkey("show", "/both");

        assertEquals(0, ended.status());
        assertTrue(ended.out().contains("/both: mutex\n") && ended.out().contains("/both: mutex, layout curator\n"));
        assertTrue(ended.err().startsWith("latchkey: /both is used for 2 locks of different layouts"), ended.err());
        assertTrue(held.isValid());
    }

    @Test
    @Tag("once")
    void commandsRunUnderLocksOfOthers() throws Exception {
        InterProcessMutex theirs = new InterProcessMutex(curator(), "/shared");
        theirs.acquire();
        String[] job = {"run", "/shared", "--layout", "curator", "--timeout", "0", "--quiet", "--", "echo", "ran"};

        assertEquals(75, run(job).status());
        theirs.release();
        assertEquals("ran\n", succeeded(run(job)).out());
        for (String layout : List.of("curator", "kazoo")) {
            Program.Exit refused = run("run", "/pool", "--layout=" + layout, "--semaphore=2", "--", "echo", "ran");
            assertEquals(64, refused.status());
            assertTrue(
                    refused.err().startsWith("latchkey: --layout " + layout + " shares no semaphore"), refused.err());
            assertTrue(refused.err().contains("--layout latchkey"), refused.err());
        }
    }
}
