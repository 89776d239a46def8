// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.Acquirable;
import io.latchkey.lock.BadPathException;
import io.latchkey.lock.ClientClosedException;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockException.Reason;
import io.latchkey.lock.LockMismatchException;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.OnLoss;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.Semaphore;
import io.latchkey.lock.SessionState;
import io.latchkey.lock.spi.LossNotifier;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.Stopwatch;
import io.latchkey.testkit.proxy.Fault.HeldFrames;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.RequestMatch;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A user's mistakes: a clear error, at once, and nothing left behind. */
@Timeout(30)
class MistakesTest extends OnOneServer {
    private static final Duration FOR_EVER = ChronoUnit.FOREVER.getDuration();
    private static final Duration OUTLIVES_RECONNECTS = Duration.ofSeconds(10);

    private final ZkLockClient locks = client("mistaken");
    private final ZooKeeper operator = handle();

    MistakesTest() throws Exception {}

    @Test
    void otherBadArgumentsAreRefusedAtOnce() throws Exception {
        assertThrows(NullPointerException.class, () -> locks.mutex(null));
        assertThrows(BadPathException.class, () -> ZkLockClient.builder().basePath("/a/"));
        ZkLockClient.Builder builder = ZkLockClient.builder();
        builder.sessionTimeout(Duration.ofMillis(1)).sessionTimeout(Duration.ofMillis(Integer.MAX_VALUE));
        for (Duration out : List.of(Duration.ofNanos(999_999), Duration.ofMillis(Integer.MAX_VALUE + 1L))) {
            assertThrows(IllegalArgumentException.class, () -> builder.sessionTimeout(out));
        }
        for (Duration none : List.of(Duration.ZERO, Duration.ofNanos(-1))) {
            assertThrows(IllegalArgumentException.class, () -> builder.validityMargin(none));
            assertThrows(IllegalArgumentException.class, () -> builder.localTurns(2, none));
        }
        assertThrows(IllegalArgumentException.class, () -> builder.localTurns(1, FOR_EVER));
        assertThrows(
                IllegalArgumentException.class, () -> ZkLockClient.builder().connectTimeout(Duration.ofNanos(-1)));
        assertThrows(
                IllegalArgumentException.class, () -> ZkLockClient.builder().acl(List.of()));
        IllegalArgumentException label =
                assertThrows(IllegalArgumentException.class, () -> builder.ownerLabel("till\n1"));
        assertEquals("ownerLabel has the character U+000A, which is not printable", label.getMessage());
        assertThrows(IllegalStateException.class, () -> ZkLockClient.builder().build());
        assertThrows(IllegalStateException.class, () -> ZkLockClient.builder()
                .connectString(server().connectString())
                .using(operator)
                .build());
        assertTrue(locks.mutex("/fence").tryAcquire().isPresent());
        assertNeverMade("/m");
    }

    /** A time that no counter of nanoseconds has room for is as good as any long one. */
    @Test
    void timesWithoutEndAreLongOnes() throws Exception {
        ZkLockClient patient = client(builder ->
                builder.connectTimeout(FOR_EVER).validityMargin(FOR_EVER).localTurns(2, FOR_EVER));
        Acquirable mutex = patient.mutex("/m").heldAtMost(FOR_EVER);
        for (int turn = 0; turn < 3; turn++) {
            Lease held = mutex.tryAcquire(FOR_EVER).orElseThrow();
            CompletableFuture<Lease> next = mutex.acquireAsync();
            assertEquals(ReleaseOutcome.RELEASED, held.release());
            soon(next).close();
        }
        // None of them is made before it is asked for.
        patient.stripedMutex("/striped", Integer.MAX_VALUE)
                .forKey("key")
                .acquire()
                .close();
        patient.close(FOR_EVER);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "host:notaport", "host:2181/bad//chroot", "host:2181/trailing/"})
    void malformedConnectStringIsRefusedAtOnce(String connectString) {
        assertThrows(IllegalArgumentException.class, () -> ZkLockClient.connect(connectString));
    }

    @Test
    void unknownHostsAreNamedAtOnce() throws Exception {
        Stopwatch watch = Stopwatch.start();
        LockServiceUnavailableException refused =
                assertThrows(LockServiceUnavailableException.class, () -> ZkLockClient.builder()
                        .connectString("no-such-host.invalid:2181")
                        .sessionTimeout(Duration.ofSeconds(20))
                        .build());
        assertTrue(refused.getMessage().contains("no-such-host.invalid:2181"), refused.getMessage());
        long took = watch.stop();
        assertTrue(took < 15_000, took + " ms, within which names are looked up again");
    }

    @Test
    void unknownHostsAreNamed_whenTheConnectTimeoutIsOver() {
        LockServiceUnavailableException refused =
                assertThrows(LockServiceUnavailableException.class, () -> ZkLockClient.builder()
                        .connectString("no-such-host.invalid:2181")
                        .connectTimeout(Duration.ofMillis(300))
                        .build());
        assertTrue(refused.getMessage().contains("has a known address"), refused.getMessage());
    }

    /** Neither can be checked before there is a connection. */
    @Test
    void buildDoesNotWaitForLoginAndChroot_whenTheConnectTimeoutIsZero() throws Exception {
        FaultProxy proxy = fastProxy();
        proxy.refuse();
        ZkLockClient later = client(builder -> builder.connectString(proxy.connectString() + "/apps")
                .auth("digest", new byte[] {'u', ':', 'p'})
                .connectTimeout(Duration.ZERO));
        assertEquals(SessionState.DISCONNECTED, later.session().state());
        proxy.accept();
    }

    @Test
    void srvRecordsAreRefusedAtOnce() {
        IllegalArgumentException refused = assertThrows(
                IllegalArgumentException.class, () -> ZkLockClient.connect("dns-srv://zk.example.com/app"));
        assertTrue(refused.getMessage().contains("not supported"), refused.getMessage());
    }

    @Test
    void errorNamesTheServers_whenNoneResponds() throws Exception {
        server().stop();
        Stopwatch watch = Stopwatch.start();
        LockServiceUnavailableException refused = assertThrows(
                LockServiceUnavailableException.class,
                () -> client(builder -> builder.connectTimeout(Duration.ofMillis(300))));
        assertTrue(refused.getMessage().contains(server().connectString()), refused.getMessage());
        assertTrue(refused.getMessage().contains("within 300 ms"), "with a timeout it waits for servers that start");
        long took = watch.stop();
        assertTrue(took < 900, took + " ms");
    }

    /** Without a connect timeout the session timeout counts, and not the shorter time in which servers may refuse. */
    @Test
    @Tag("slow")
    void buildFailsInTime_whenTheServerIsSilent() throws Exception {
        Duration timeout = Duration.ofMillis(1500);
        try (ServerSocket silent = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            ZkLockClient.Builder patient = ZkLockClient.builder()
                    .connectString("127.0.0.1:" + silent.getLocalPort())
                    .sessionTimeout(timeout);
            ZkLockClient.Builder control = ZkLockClient.builder()
                    .connectString("127.0.0.1:" + silent.getLocalPort())
                    .sessionTimeout(timeout)
                    .connectTimeout(Duration.ofMillis(1));
            long openAndClose = failsToConnect(control, "within 1 ms");
            long waited = failsToConnect(patient, "within 1500 ms") - openAndClose;
            assertTrue(waited < 2_100, waited + " ms beside " + openAndClose);
        }
    }

    private static long failsToConnect(ZkLockClient.Builder builder, String why) throws InterruptedException {
        Stopwatch watch = Stopwatch.start();
        LockServiceUnavailableException refused = assertThrows(LockServiceUnavailableException.class, builder::build);
        assertTrue(refused.getMessage().contains(why), refused.getMessage());
        return watch.stop();
    }

    @Test
    void interruptedBuildThrows_whenNoServerAnswers() throws Exception {
        server().stop();
        Thread.currentThread().interrupt();
        assertInterrupted(() -> client("interrupted"));
    }

    @Test
    void interruptedBuildSaysSo_whenNoHostIsKnown() {
        Thread.currentThread().interrupt();
        assertInterrupted(() -> client(builder -> builder.connectString("no-such-host.invalid:2181")));
    }

    /** A server takes the connection and is slow to answer the first request, which checks the chroot. */
    @Tag("slow")
    @Test
    void interruptedBuildThrows_whenTheFirstAnswerIsLate() throws Exception {
        FaultProxy proxy = proxy();
        Thread building = Thread.currentThread();
        HeldFrames hold = proxy.holdAnswers(RequestMatch.getData());
        var unused = hold.firstCaught().thenRun(building::interrupt);
        assertInterrupted(() -> client(builder -> builder.connectString(proxy.connectString() + "/app")));
        hold.close();
    }

    @Test
    @Tag("slow")
    void connectFailsSoon_whenNoServerListens() throws Exception {
        server().stop();
        Stopwatch watch = Stopwatch.start();
        LockServiceUnavailableException refused =
                assertThrows(LockServiceUnavailableException.class, () -> ZkLockClient.builder()
                        .connectString(server().connectString())
                        .sessionTimeout(Duration.ofSeconds(20))
                        .build());
        assertTrue(refused.getMessage().contains("refused"), refused.getMessage());
        long took = watch.stop();
        assertTrue(took < 3000, took + " ms");
    }

    @Test
    void clientConfigIsRefused_whenItDisablesTheResetOfWatches() {
        ZKClientConfig forgetful = new ZKClientConfig();
        forgetful.setProperty(ZKClientConfig.DISABLE_AUTO_WATCH_RESET, "true");
        assertThrows(IllegalArgumentException.class, () -> client(builder -> builder.clientConfig(forgetful)));
    }

    @Test
    void refusedLogin_isReported() {
        assertThrows(
                AccessDeniedException.class,
                () -> client(builder -> builder.sessionTimeout(OUTLIVES_RECONNECTS)
                        .auth("no-such-scheme", "x".getBytes(StandardCharsets.UTF_8))));
    }

    /** No answer reports the refusal. */
    @Test
    void clientIsClosed_whenItsLoginIsRefusedBeforeItSendsARequest() throws Exception {
        ZkLockClient refused = client(builder -> builder.sessionTimeout(OUTLIVES_RECONNECTS)
                .connectTimeout(Duration.ZERO)
                .auth("no-such-scheme", "x".getBytes(StandardCharsets.UTF_8)));
        awaitUntil("it is closed", () -> refused.session().state() == SessionState.CLOSED);
    }

    @Test
    void pathIsRefused_whenItsParentDeniesCreating() throws Exception {
        operator.create("/closed", new byte[0], ZooDefs.Ids.READ_ACL_UNSAFE, CreateMode.PERSISTENT);
        for (String path : List.of("/closed/m", "/closed/deeper/m")) {
            AccessDeniedException denied = assertThrows(
                    AccessDeniedException.class, () -> locks.mutex(path).acquire());
            assertTrue(denied.getMessage().contains(path), denied.getMessage());
        }
        operator.create("/shut", new byte[0], ZooDefs.Ids.READ_ACL_UNSAFE, CreateMode.PERSISTENT);
        assertThrows(AccessDeniedException.class, () -> locks.mutex("/shut").tryAcquire());
        assertEquals(List.of(), operator.getChildren("/closed", false));
    }

    @Test
    void pathUnderAnEphemeralNode_isRefused() throws Exception {
        operator.create("/ephemeral", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
        LockException told = assertThrows(
                LockException.class, () -> locks.mutex("/ephemeral/m").acquire());
        assertEquals(Reason.EPHEMERAL_PARENT, told.reason());
        assertThrows(LockException.class, () -> locks.mutex("/ephemeral").acquire());
    }

    @Test
    void emptyNodeOfAnOperatorIsAdopted() throws Exception {
        makeNode("/m");
        locks.mutex("/m").acquire().close();
        assertEquals("latchkey/3 mutex", new String(operator.getData("/m", false, null), StandardCharsets.UTF_8));
    }

    @Test
    void changedKindIsNoticed_atAKnownPath() throws Exception {
        locks.mutex("/m").acquire().close();
        operator.setData("/m", "latchkey/3 read-write".getBytes(StandardCharsets.UTF_8), -1);
        assertThrows(LockMismatchException.class, () -> locks.mutex("/m").acquire());
        assertEquals(List.of(), operator.getChildren("/m", false));
    }

    // ---- what it says

    @Test
    void reasonDistinguishesMismatches_ofOneType() throws Exception {
        locks.readWriteLock("/rw").writeLock().acquire().close();
        locks.semaphore("/s", 3).acquire().close();
        makeNode("/data", "of another application".getBytes(StandardCharsets.UTF_8));
        makeNode("/curator");
        makeNode("/curator/_c_0b1c2d3e-0000-4000-8000-000000000000-lock-0000000000");
        Map<Acquirable, Reason> expected = Map.of(
                locks.mutex("/rw"), Reason.DIFFERENT_KIND,
                locks.semaphore("/s", 4), Reason.DIFFERENT_PERMITS,
                locks.mutex("/data"), Reason.UNKNOWN_DATA,
                locks.mutex("/curator"), Reason.DIFFERENT_LAYOUT,
                locks.semaphore("/s", 3).permits(4), Reason.TOO_MANY_PERMITS);
        for (Map.Entry<Acquirable, Reason> each : expected.entrySet()) {
            LockMismatchException told = assertThrows(LockMismatchException.class, each.getKey()::acquire);
            assertEquals(each.getValue(), told.reason(), told.getMessage());
        }
    }

    @Test
    void messagesNameTheCure_whenThePathIsUsedOtherwise() throws Exception {
        locks.semaphore("/s", 3).acquire().close();
        LockMismatchException kind = assertThrows(
                LockMismatchException.class, locks.readWriteLock("/s").readLock()::acquire);
        assertTrue(kind.getMessage().startsWith("Asked for a read-write lock at /s, but"), kind.getMessage());
        LockMismatchException count = assertThrows(LockMismatchException.class, locks.semaphore("/s", 4)::acquire);
        assertTrue(
                count.getMessage()
                        .endsWith("To change the number of a path in use, call resize(4) and go on declaring 3."),
                count.getMessage());
    }

    @Test
    void messagesHaveThePathOfTheUser_whenTheClientHasABasePath() throws Exception {
        ZkLockClient based = client(builder -> builder.basePath("/base"));
        Semaphore pool = based.semaphore("/s", 3);
        pool.acquire().close();
        makeNode("/base/theirs");
        makeNode("/base/theirs/_c_0b1c2d3e-0000-4000-8000-000000000000-lock-0000000000");
        Map<Executable, String> expected = Map.of(
                based.mutex("/s")::acquire, "Asked for a mutex at /s, but",
                based.mutex("/theirs")::acquire, "Asked for a mutex at /theirs, but",
                based.semaphore("/s", 4)::capacity, "Asked for a semaphore of 4 permits at /s, but",
                pool.permits(4)::acquire, "of the semaphore /s, whose");
        for (Map.Entry<Executable, String> each : expected.entrySet()) {
            String told =
                    assertThrows(LockMismatchException.class, each.getKey()).getMessage();
            assertTrue(told.contains(each.getValue()), told);
        }
    }

    private static void assertNamed(String argument, Executable call) {
        assertEquals(argument, assertThrows(NullPointerException.class, call).getMessage());
    }

    @Test
    void nullSettingsAreNamed() {
        ZkLockClient.Builder builder = ZkLockClient.builder();
        assertNamed("connectString", () -> ZkLockClient.connect(null));
        assertNamed("zooKeeper", () -> ZkLockClient.using(null));
        assertNamed("sessionTimeout", () -> builder.sessionTimeout(null));
        assertNamed("connectTimeout", () -> builder.connectTimeout(null));
        assertNamed("path", () -> builder.basePath(null));
        assertNamed("scheme", () -> builder.auth(null, new byte[0]));
        assertNamed("credentials", () -> builder.auth("digest", null));
        assertNamed("acl", () -> builder.acl(null));
        assertNamed("clientConfig", () -> builder.clientConfig(null));
        assertNamed("validityMargin", () -> builder.validityMargin(null));
        assertNamed("callbackExecutor", () -> builder.callbackExecutor(null));
        assertNamed("localTurns", () -> builder.localTurns(2, null));
        assertNamed("layout", () -> builder.layout(null));
        assertNamed("ownerLabel", () -> builder.ownerLabel(null));
        assertNamed("observer", () -> builder.observer(null));
    }

    @Test
    void eachSettingReturnsItsBuilder() throws Exception {
        ZkLockClient.Builder builder = ZkLockClient.builder();
        Map<Class<?>, Object> arguments = Map.of(
                String.class,
                "text",
                Duration.class,
                Duration.ofSeconds(1),
                byte[].class,
                new byte[1],
                int.class,
                2,
                List.class,
                ZooDefs.Ids.OPEN_ACL_UNSAFE,
                Layout.class,
                Layout.KAZOO,
                ZKClientConfig.class,
                new ZKClientConfig(),
                Executor.class,
                (Executor) Runnable::run,
                LockObserver.class,
                new LockObserver() {});
        int settings = 0;
        for (Method setting : ZkLockClient.Builder.class.getMethods()) {
            if (setting.getReturnType() == ZkLockClient.Builder.class
                    && setting.getParameterTypes()[0] != ZooKeeper.class) {
                Object[] given = Stream.of(setting.getParameterTypes())
                        .map(type -> switch (setting.getName()) {
                            case "basePath" -> "/base";
                            case "sessionNodeBytes" -> 1_000_000;
                            default -> arguments.get(type);
                        })
                        .toArray();
                assertSame(builder, setting.invoke(builder, given), setting::getName);
                settings++;
            }
        }
        assertEquals(14, settings);
        assertSame(builder, builder.using(operator));
    }

    @Test
    void eachLockNamesItsPath() throws InterruptedException {
        Mutex mutex = locks.mutex("/named");
        ReadWriteLock readWrite = locks.readWriteLock("/named");
        for (Object lock : List.of(
                mutex,
                readWrite.readLock(),
                readWrite.writeLock(),
                locks.semaphore("/named", 2),
                locks.semaphore("/named", 2).permits(2),
                locks.multiLock(mutex, locks.mutex("/other")),
                mutex.asLock(),
                readWrite.asReadWriteLock().readLock(),
                readWrite.asReadWriteLock().writeLock())) {
            assertTrue(lock.toString().contains("/named"), lock.getClass() + ": " + lock);
        }
    }

    /** It has no handle of ZooKeeper. */
    @Test
    void leaseOfASimulationIsRefused_whereAServerIsNeeded() throws Exception {
        try (SimulatedLocks simulated = SimulatedLocks.start();
                Lease lease = simulated.client().mutex("/m").acquireAsync().get(5, TimeUnit.SECONDS)) {
            OncePerPeriod days = OncePerPeriod.calendar(Duration.ofDays(1));
            for (Executable call : List.<Executable>of(
                    () -> ZkLocks.guarded(lease, Op.check("/m", -1)), () -> days.atMostOnce(lease, turn -> {}))) {
                String told = assertThrows(IllegalArgumentException.class, call).getMessage();
                assertTrue(told.startsWith("not a lease of a ZkLockClient: "), told);
            }
        }
    }

    @Test
    @SuppressWarnings("NullAway") // that is what it is about
    void nullArgumentsOfLocksAreNamed() throws Exception {
        Mutex mutex = locks.mutex("/m");
        assertNamed("path", () -> locks.mutex(null));
        assertNamed("root", () -> locks.listLocks(null));
        assertNamed("members", () -> locks.multiLock((List<Acquirable>) null));
        assertNamed("members", () -> locks.multiLock((Acquirable[]) null));
        assertNamed("member", () -> locks.multiLock(mutex, null));
        assertNamed("key", () -> locks.stripedMutex("/s", 2).forKey(null));
        assertNamed("grace", () -> locks.close(null));
        assertNamed("timeout", () -> mutex.tryAcquire(null));
        assertNamed("timeout", () -> mutex.tryAcquireAsync(null));
        assertNamed("label", () -> mutex.labelled(null));
        assertNamed("limit", () -> mutex.heldAtMost(null));
        assertNamed("body", () -> mutex.call(null));
        assertNamed("body", () -> mutex.run(OnLoss.INTERRUPT, null));
        assertNamed("onLoss", () -> mutex.call(null, lease -> lease));
        assertNamed("unit", () -> mutex.asLock().tryLock(1, null));
        assertNamed("write", () -> locks.readWriteLock("/rw").downgrade(null));
        assertNamed("write", () -> locks.readWriteLock("/rw").downgradeAsync(null));
        try (Lease lease = mutex.acquire()) {
            assertNamed("handler", () -> LossNotifier.register(lease, null));
            assertNamed("op", () -> ZkLocks.guarded(lease, (Op) null));
            assertNamed("work", () -> OncePerPeriod.calendar(Duration.ofDays(1)).atMostOnce(lease, null));
        }
        assertNamed("lease", () -> ZkLocks.guarded(null));
        assertNamed("length", () -> OncePerPeriod.interval(null));
        assertNamed("clock", () -> OncePerPeriod.calendar(Duration.ofDays(1)).withClock(null));
    }

    // ---- whose error it is

    @FunctionalInterface
    private interface Call {
        void run() throws Exception;
    }

    /** What {@code call} throws: with this method in its stack, and with what happened elsewhere as its cause. */
    private static <E extends Exception> E thrownToCaller(Class<E> type, Call call) {
        E told = assertThrows(type, call::run);
        assertTrue(hasCaller(told), () -> "no frame of the caller: " + List.of(told.getStackTrace()));
        Throwable cause = assertInstanceOf(type, told.getCause());
        assertEquals(told.getMessage(), cause.getMessage());
        return told;
    }

    private static boolean hasCaller(Throwable told) {
        return Stream.of(told.getStackTrace())
                .anyMatch(frame -> frame.getMethodName().equals("thrownToCaller"));
    }

    @Test
    void errorHasTheCallersStack_whateverBlockingCallIsRefused() throws Exception {
        locks.semaphore("/s", 3).acquire().close();
        thrownToCaller(LockMismatchException.class, () -> locks.mutex("/s").acquire());
        thrownToCaller(LockMismatchException.class, () -> locks.mutex("/s").tryAcquire());
        thrownToCaller(LockMismatchException.class, () -> locks.mutex("/s").tryAcquire(Duration.ofSeconds(5)));
        thrownToCaller(
                LockMismatchException.class, () -> locks.mutex("/s").asLock().lock());
        thrownToCaller(
                LockMismatchException.class, () -> locks.mutex("/s").asLock().tryLock());
        thrownToCaller(
                LockMismatchException.class, () -> locks.semaphore("/s", 4).capacity());
        thrownToCaller(
                LockMismatchException.class, () -> locks.semaphore("/s", 4).resize(5));
    }

    @Test
    void everyCallHasAnErrorOfItsOwn_whenTheClientIsClosed() throws Exception {
        ZkLockClient closing = client("closing");
        closing.close();
        Set<Throwable> told = Collections.newSetFromMap(new IdentityHashMap<>());
        for (int call = 0; call < 2; call++) {
            told.add(thrownToCaller(
                    ClientClosedException.class, () -> closing.mutex("/m").acquire()));
            told.add(thrownToCaller(
                    ClientClosedException.class, () -> closing.mutex("/m").queue()));
            told.add(thrownToCaller(
                    ClientClosedException.class,
                    () -> closing.mutex("/m").asLock().lock()));
            told.add(refusal(ClientClosedException.class, closing.mutex("/m").acquireAsync()));
            told.add(refusal(ClientClosedException.class, closing.mutex("/m").tryAcquireAsync(Duration.ZERO)));
        }
        assertEquals(10, told.size());
    }

    @Test
    void everyWaiterHasAnErrorOfItsOwn_whenAllAreRefusedTogether() throws Exception {
        Lease held = locks.mutex("/m").acquire();
        for (ZkLockClient closing :
                List.of(client("plain"), client(builder -> builder.localTurns(5, Duration.ofMinutes(1))))) {
            List<CompletableFuture<Lease>> waiting = List.of(
                    closing.mutex("/m").acquireAsync(), closing.mutex("/m").acquireAsync());
            closing.close();
            ClientClosedException first = refusal(ClientClosedException.class, waiting.get(0));
            assertNotSame(first, refusal(ClientClosedException.class, waiting.get(1)));
        }
        held.close();
    }
}
