// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static java.util.concurrent.CompletableFuture.delayedExecutor;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.ClientClosedException;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.SessionExpiredException;
import io.latchkey.lock.SessionState;
import io.latchkey.lock.admin.Contender;
import io.latchkey.log.LoggedWarnings;
import io.latchkey.testkit.Stopwatch;
import io.latchkey.testkit.proxy.Fault;
import io.latchkey.testkit.proxy.Fault.HeldFrames;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.Wire;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.testkit.time.Slowness;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.context.ClientConfig;
import io.latchkey.zk.internal.events.Outbox;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.Namings;
import io.latchkey.zk.internal.queue.OwnerData;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.WaitPolicy;
import io.latchkey.zk.internal.request.ZkLease;
import io.latchkey.zk.internal.store.HandleOpener;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.store.ZooKeeperStore;
import io.latchkey.zk.internal.threads.DaemonThreads;
import io.latchkey.zk.internal.validity.SystemClock;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZKUtil;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Where a client's session comes from and where its paths lie: chroot, base path, logins, borrowed handles, guards. */
@Timeout(30)
class HandlesTest extends OnOneServer {
    @Test
    void missingChrootIsCreated() throws Exception {
        ZkLockClient rooted = client(builder -> builder.connectString(server().connectString() + "/apps/shop"));
        Lease lease = rooted.mutex("/a/m").acquire();
        assertEquals("/a/m", lease.path());
        ServerNode node = requestsUnder("/apps/shop/a/m").get(0);
        assertEquals(lease.token(), node.created(), "the token, also through a chroot");
        assertFalse(client("unrooted").mutex("/apps/shop/a/m").tryAcquire().isPresent());
    }

    /**
     * The check of the chroot is the first request, which the next connection repeats. Without the login the server
     * would refuse a chroot that belongs to its creator.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void missingChrootIsCreated_whenTheConnectionBreaksAtItsCheck(boolean answered) throws Exception {
        FaultProxy proxy = fastProxy();
        Fault cut = answered ? proxy.cutAfter(RequestMatch.getData(), 1) : proxy.cutBefore(RequestMatch.getData(), 1);
        ZkLockClient rooted = client(builder -> builder.connectString(proxy.connectString() + "/apps/shop")
                .auth("digest", "shop:secret".getBytes(StandardCharsets.UTF_8)));
        cut.await(Duration.ofSeconds(10));
        rooted.mutex("/m").acquire().close();
        assertTrue(server().nodesUnder("/apps").stream()
                .anyMatch(node -> node.path().equals("/apps/shop/m")));
    }

    /** ZooKeeper's client tries the servers in a random order, for each handle anew. */
    @Test
    @Tag("slow")
    void missingChrootIsCreated_whenMostServersAreDown() throws Exception {
        List<Socket> unheard = new ArrayList<>();
        StringBuilder servers = new StringBuilder(server().connectString());
        try {
            for (int i = 0; i < 4; i++) {
                Socket bound = new Socket();
                unheard.add(bound);
                bound.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                servers.append(",127.0.0.1:").append(bound.getLocalPort());
            }
            for (String chroot : List.of("/one", "/two/deeper", "/three")) {
                client(builder -> builder.connectString(servers + chroot));
                assertNotNull(handle().exists(chroot, false));
            }
        } finally {
            for (Socket each : unheard) {
                each.close();
            }
        }
    }

    private static void assertThrowsAndLeavesNoThread(Class<? extends Throwable> cause, ZkLockClient.Builder builder)
            throws Exception {
        ThreadGroup threads = new ThreadGroup("of this client");
        CompletableFuture<Throwable> thrown = CompletableFuture.supplyAsync(
                () -> assertThrows(Throwable.class, builder::build), task -> new Thread(threads, task).start());
        assertEquals(cause, soon(thrown).getClass());
        awaitUntil("all threads end", () -> threads.activeCount() == 0);
    }

    @Test
    void buildLeavesNoThreadAndNoSession_whenTheChrootMayNotBeCreated() throws Exception {
        ZooKeeper operator = handle();
        operator.setACL("/", ZooDefs.Ids.READ_ACL_UNSAFE, -1);
        ZkLockClient.Builder builder = ZkLockClient.builder()
                .connectString(server().connectString() + "/apps/shop")
                .sessionTimeout(LONG_SESSION);
        assertThrowsAndLeavesNoThread(AccessDeniedException.class, builder);
        awaitUntil("only the operator's session is left", () -> server().sessions()
                .equals(Set.of(operator.getSessionId())));
    }

    /** As when a password is changed at the servers while the client is connected. CLOSED is the last call. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("slow")
    void sessionIsClosedForGood_whenTheServersRefuseALaterLogin(boolean localTurns) throws Exception {
        ZooKeeper handle = handle();
        RecordingObserver heard = new RecordingObserver();
        Lease held = client("other").mutex("/m").acquire();
        ZkLockClient.Builder builder = ZkLockClient.builder().using(handle).observer(heard);
        if (localTurns) {
            builder.localTurns(2, Duration.ofMinutes(1));
        }
        ZkLockClient borrowing = builder.build();
        CompletableFuture<Lease> waiting = borrowing.mutex("/m").acquireAsync();
        awaitRequests("/m", 2);
        handle.addAuthInfo("no-such-scheme", new byte[0]);
        awaitUntil("the login is refused", () -> borrowing.session().state() == SessionState.CLOSED);
        assertTrue(borrowing.toString().contains("CLOSED"), borrowing::toString);
        assertThrows(AccessDeniedException.class, () -> borrowing.mutex("/m").acquire());
        ExecutionException refused = assertThrows(ExecutionException.class, () -> soon(waiting));
        assertInstanceOf(AccessDeniedException.class, refused.getCause());
        awaitUntil("the observer hears of it", () -> heard.lines().contains("CLOSED"));
        // The servers take no request of this session any more, so its node is deleted with it.
        assertTimeout(SESSION.multipliedBy(4), () -> borrowing.close(), "a session timeout");
        handle.close();
        List<String> ends = heard.lines().stream()
                .filter(line -> !line.startsWith("requested") && !line.startsWith("queued"))
                .toList();
        assertEquals(List.of("CONNECTED", "REFUSED ACCESS_DENIED mutex /m", "CLOSED"), ends);
        assertEquals("CLOSED", heard.lines().get(heard.lines().size() - 1));
        held.close();
    }

    /** Values of a setting that ZooKeeper's handle reads when it is made, with what {@code build()} is to throw. */
    static Stream<Arguments> failuresToOpen() {
        Supplier<String> exception = () -> "no.such.Socket";
        Supplier<String> uncheckedException = () -> {
            throw new IllegalArgumentException("no such socket");
        };
        Supplier<String> error = () -> {
            throw new OutOfMemoryError("unable to create native thread");
        };
        return Stream.of(
                Arguments.of(exception, LockServiceUnavailableException.class),
                Arguments.of(uncheckedException, IllegalArgumentException.class),
                Arguments.of(error, OutOfMemoryError.class));
    }

    @ParameterizedTest
    @MethodSource("failuresToOpen")
    void buildThrowsTheCauseAndLeavesNoThread_whenTheHandleCannotBeOpened(
            Supplier<String> socket, Class<? extends Throwable> cause) throws Exception {
        ZkLockClient.Builder builder = ZkLockClient.builder()
                .connectString(server().connectString())
                .observer(new LockObserver() {})
                .clientConfig(new ZKClientConfig() {
                    @Override
                    public String getProperty(String key) {
                        return key.equals(ZOOKEEPER_CLIENT_CNXN_SOCKET) ? socket.get() : super.getProperty(key);
                    }
                });
        assertThrowsAndLeavesNoThread(cause, builder);
    }

    /** The thread is interrupted as it opens the handle, so it does not begin to wait for a connection. */
    @Test
    @Tag("slow")
    void buildLeavesNoThread_whenItIsInterrupted() throws Exception {
        server().stop();
        ZkLockClient.Builder builder = ZkLockClient.builder()
                .connectString(server().connectString())
                .clientConfig(new ZKClientConfig() {
                    @Override
                    public String getProperty(String key) {
                        if (key.equals(ZOOKEEPER_CLIENT_CNXN_SOCKET)) {
                            Thread.currentThread().interrupt();
                        }
                        return super.getProperty(key);
                    }
                });
        assertThrowsAndLeavesNoThread(LockServiceUnavailableException.class, builder);
    }

    /**
     * The handle lives where an answer told of the session's end, so its close waits for a silent server, some 40 s
     * here.
     */
    @Test
    void timedTriesEndInTime_whileTheHandleOfAFormerSessionIsClosed() throws Exception {
        FaultProxy proxy = proxy();
        Duration timeout = Duration.ofSeconds(60);
        AtomicBoolean over = new AtomicBoolean();
        Engine engine = new Engine(new ClientConfig(
                new ClientConfig.Source.Own(listener -> expiringPort(
                        ZooKeeperStore.open(
                                (watcher, attempts) -> HandleOpener.Opened.withNewSession(
                                        new ZooKeeper(proxy.connectString(), (int) timeout.toMillis(), watcher)),
                                ZooDefs.Ids.OPEN_ACL_UNSAFE,
                                task -> DaemonThreads.factory("latchkey-handle-of-test")
                                        .newThread(task)
                                        .start(),
                                listener),
                        over)),
                timeout,
                Optional.empty(),
                new OwnerData("host", 1, "label"),
                new AtomicLong()::incrementAndGet,
                new SystemClock(DaemonThreads.factory("latchkey-timer-of-test"), timeout),
                Outbox.inPlace(Runnable::run, Optional.empty()),
                Runnable::run,
                Namings.LATCHKEY));
        engine.start();
        List<LockTarget> mutex = List.of(new LockTarget(Recipe.MUTEX, new LockPath("/m")));
        ZkLease held = engine.acquire(mutex, new WaitPolicy.Forever())
                .get(10, TimeUnit.SECONDS)
                .orElseThrow();
        proxy.blackHole();
        over.set(true);
        assertTimeoutPreemptively(Duration.ofSeconds(10), () -> {
            held.releaseAsync().toCompletableFuture().get();
            for (int i = 0; i < 3; i++) {
                assertEquals(
                        Optional.empty(),
                        engine.acquire(mutex, new WaitPolicy.AtMost(Duration.ofMillis(200)))
                                .get());
            }
        });
        assertFalse(held.isValid());
        proxy.heal();
        engine.close();
    }

    /** Answers the next write by saying that the session is over. */
    @SuppressWarnings("unchecked") // of an answer to a write
    private static ZnodeStore expiringPort(ZnodeStore to, AtomicBoolean over) {
        return (ZnodeStore) Proxy.newProxyInstance(
                ZnodeStore.class.getClassLoader(), new Class<?>[] {ZnodeStore.class}, (proxy, method, args) -> {
                    if (method.getName().equals("write") && over.getAndSet(false)) {
                        ((Consumer<Response<ZnodeStore.TransactionResult>>) args[1])
                                .accept(Response.failed(Status.SESSION_EXPIRED, "SESSIONEXPIRED"));
                        return null;
                    }
                    return method.invoke(to, args);
                });
    }

    @Test
    void sessionTimeoutIsTenSeconds_whenNoneIsGiven() throws InterruptedException {
        try (ZkLockClient client = ZkLockClient.connect(server().connectString())) {
            assertEquals(Duration.ofSeconds(10), client.session().timeout());
        }
    }

    @Test
    void basePathPrecedesAllPaths() throws Exception {
        ZkLockClient based = client(builder -> builder.basePath("/base/locks"));
        Lease lease = based.mutex("/m").acquire();
        assertEquals("/m", lease.path());
        assertEquals(1, requestsUnder("/base/locks/m").size());
    }

    @Test
    void requestIsNotOwn_whenAnotherClientOfTheHandleMadeIt() throws Exception {
        ZooKeeper shared = handle();
        List<ZkLockClient> clients = List.of(borrowing(shared), borrowing(shared));
        for (ZkLockClient each : clients) {
            var unused = each.mutex("/m").acquireAsync();
        }
        awaitRequests("/m", 2);
        for (ZkLockClient each : clients) {
            assertEquals(
                    1,
                    each.mutex("/m").queue().stream().filter(Contender::isOwn).count());
        }
    }

    @Test
    void borrowedHandleStaysOpenWithoutNodes_whenTheClientCloses() throws Exception {
        ZooKeeper handle = handle();
        ZkLockClient borrowing = borrowing(handle);
        Lease lease = borrowing.mutex("/m").acquire();
        CompletableFuture<Lease> waiting = borrowing.mutex("/m").acquireAsync();
        awaitQueue(borrowing.mutex("/m"), 2);

        borrowing.close();

        assertEquals(List.of(), requestsUnder("/m"), "deleted before close returned");
        assertEquals(LeaseState.LOST, lease.state());
        assertThrows(ExecutionException.class, waiting::get);
        assertEquals(ZooKeeper.States.CONNECTED, handle.getState());
        awaitNoWatchOf(handle);
        handle.close();
    }

    @Test
    @Tag("slow")
    void borrowedHandleHasNoWatch_whenCloseReturns() throws Exception {
        FaultProxy proxy = proxy();
        ZooKeeper handle = new ZooKeeper(proxy.connectString(), (int) LONG_SESSION.toMillis(), event -> {});
        ZkLockClient borrowing = borrowing(handle);
        var unused = borrowing.mutex("/m").acquire().lost();
        settle(borrowing.mutex("/m"));
        proxy.delay(Duration.ofMillis(200));
        borrowing.close();
        assertEquals(List.of(), watchesOf(handle));
        handle.close();
    }

    /**
     * A server that has kept the create carries it out when the session is back with it: after the client was closed
     * here.
     */
    @Test
    void nodeOfALostCreateIsDeleted_whenItTurnsUpAfterTheCloseOfABorrowingClient() throws Exception {
        FaultProxy proxy = fastProxy();
        ZooKeeper handle = new ZooKeeper(proxy.connectString(), (int) LONG_SESSION.toMillis(), event -> {});
        ZkLockClient borrowing = borrowing(handle);
        String lost = pathOfALostCreate(borrowing, proxy);
        borrowing.close();
        assertEquals(List.of(), requestsUnder("/m"));

        String late = handle.create(lost, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL);
        awaitRequests("/m", 1);
        proxy.cut();
        awaitUntil(late + " is deleted", () -> requestsUnder("/m").isEmpty());
        awaitNoWatchOf(handle);
        handle.close();
    }

    private static String pathOfALostCreate(ZkLockClient client, FaultProxy proxy) throws Exception {
        client.mutex("/m").acquire().close();
        Wire.Mark asking = proxy.mark();
        Fault cut = proxy.cutBefore(RequestMatch.create(), 1);
        client.mutex("/m").acquire().close();
        cut.await(Duration.ofSeconds(10));
        return proxy.since(asking).requests(RequestMatch.create()).get(0).path();
    }

    /**
     * Until then it looks for that node on each new connection. The check after each test awaits the end of its timer.
     */
    @Test
    void closedClientEndsItsTimer_whenTheSessionWithALostCreateEnds() throws Exception {
        FaultProxy proxy = fastProxy();
        ZooKeeper handle = new ZooKeeper(proxy.connectString(), (int) LONG_SESSION.toMillis(), event -> {});
        ZkLockClient borrowing = borrowing(handle);
        var unused = pathOfALostCreate(borrowing, proxy);
        borrowing.close();
        handle.close();
    }

    @Test
    void closeOfAnInterruptedThread_stopsWaitingAndDeletesTheNodes() throws Exception {
        ZkLockClient own = client(builder -> builder.sessionTimeout(Duration.ofSeconds(60)));
        own.mutex("/own").acquire();
        Thread.currentThread().interrupt();
        own.close();
        assertTrue(Thread.interrupted(), "the status stays set");
        awaitNothingLeft("/own");

        FaultProxy proxy = proxy();
        ZooKeeper handle = new ZooKeeper(proxy.connectString(), (int) LONG_SESSION.toMillis(), event -> {});
        ZkLockClient borrowing = borrowing(handle);
        borrowing.mutex("/borrowed").acquire();
        HeldFrames hold = proxy.holdAnswers(RequestMatch.delete());
        Thread.currentThread().interrupt();
        borrowing.close();
        assertTrue(Thread.interrupted(), "the status stays set");
        hold.firstCaught().get(10, TimeUnit.SECONDS);
        hold.close();
        awaitNothingLeft("/borrowed");
        awaitNoWatchOf(handle);
        handle.close();
    }

    /** Some servers other than ZooKeeper's do so. The former session goes on at the servers for a while. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void leasesAreLost_whenAReconnectIsAnsweredByANewSession(boolean borrowed) throws Exception {
        FaultProxy proxy = fastProxy();
        ZooKeeper handle =
                borrowed ? new ZooKeeper(proxy.connectString(), (int) LONG_SESSION.toMillis(), event -> {}) : null;
        try (ZkLockClient client =
                handle == null ? client(builder -> builder.connectString(proxy.connectString())) : borrowing(handle)) {
            Lease held = client.mutex("/m").acquire();
            long former = proxy.session().getAsLong();
            Fault given = proxy.giveNewSession();
            proxy.cut();
            given.await(LONG_SESSION);
            assertEquals(
                    LossCause.SESSION_EXPIRED, held.lost().toCompletableFuture().get(10, TimeUnit.SECONDS));
            assertFalse(held.isValid());
            assertNotEquals(former, proxy.session().getAsLong());
            if (handle == null) {
                assertTrue(client.mutex("/other").acquire().isValid());
            } else {
                assertThrows(SessionExpiredException.class, () -> client.mutex("/other")
                        .acquire());
            }
        } finally {
            if (handle != null) {
                handle.close();
            }
        }
    }

    @Test
    void missingChrootOfABorrowedHandle_isReported() throws Exception {
        ZooKeeper handle =
                new ZooKeeper(server().connectString() + "/none", (int) LONG_SESSION.toMillis(), event -> {});
        try (ZkLockClient borrowing = borrowing(handle)) {
            for (Executable call : List.<Executable>of(
                    () -> borrowing.mutex("/m").acquire(),
                    () -> borrowing.semaphore("/s", 2).resize(3))) {
                assertEquals(
                        LockException.Reason.CHROOT_MISSING,
                        assertThrows(LockException.class, call).reason());
            }
        }
        handle.close();
    }

    /** An operator deletes the chroot with all below it. Several requests that need it at a time make it once. */
    @ParameterizedTest
    @ValueSource(strings = {"/gone", "/gone/deeper"})
    void chrootIsCreatedAgain_whenItWasDeleted(String chroot) throws Exception {
        ZkLockClient client = client(builder -> builder.connectString(server().connectString() + chroot));
        List<String> created = List.of("/gone/deeper", "/gone");
        for (Executable call : List.<Executable>of(
                () -> client.mutex("/m").acquire().close(),
                () -> client.mutex("/deep/m").acquire().close(),
                () -> client.semaphore("/s", 2).resize(3),
                () -> client.multiLock(client.mutex("/a"), client.mutex("/b"))
                        .acquire()
                        .close(),
                () -> {
                    List<CompletableFuture<Lease>> all = new ArrayList<>();
                    for (int i = 0; i < 20; i++) {
                        all.add(client.mutex("/many/" + i).acquireAsync());
                    }
                    for (CompletableFuture<Lease> each : all) {
                        each.get(20, TimeUnit.SECONDS).close();
                    }
                })) {
            for (String level : created) {
                if (handle().exists(level, false) != null) {
                    ZKUtil.deleteRecursive(handle(), level);
                }
            }
            assertDoesNotThrow(call);
            assertNotNull(handle().exists(chroot, false));
        }
    }

    /** With a limit of one connection for each address the second one is closed at once. */
    @Tag("slow")
    @Test
    void errorNamesTheSecondConnection_whenTheChrootCannotBeCreated() throws Exception {
        FaultProxy proxy = fastProxy();
        var unused = proxy.answered(RequestMatch.getData()).struck().thenRun(proxy::refuse);
        LockServiceUnavailableException refused = assertThrows(
                LockServiceUnavailableException.class,
                () -> client(builder -> builder.connectString(proxy.connectString() + "/missing")
                        .sessionTimeout(Duration.ofSeconds(6))));
        assertTrue(refused.getMessage().contains("no server accepted"), refused.getMessage());
        assertTrue(refused.getMessage().contains("maxClientCnxns"), refused.getMessage());
        proxy.accept();
    }

    /** A handle without a connection ends with its next attempt, which ZooKeeper's client makes within two seconds. */
    @Tag("slow")
    @Test
    void buildFailsInTime_whenTheChrootCannotBeCreated() throws Exception {
        FaultProxy proxy = fastProxy();
        var unused = proxy.answered(RequestMatch.getData()).struck().thenRun(proxy::refuse);
        Duration timeout = Slowness.stretched(Duration.ofSeconds(2));
        ZkLockClient.Builder builder = ZkLockClient.builder()
                .connectString(proxy.connectString() + "/missing")
                .sessionTimeout(LONG_SESSION)
                .connectTimeout(timeout);
        Stopwatch watch = Stopwatch.start();
        LockServiceUnavailableException refused = assertThrows(LockServiceUnavailableException.class, builder::build);
        long took = watch.stop();
        Matcher tried = Pattern.compile("no server accepted within (\\d+) ms").matcher(refused.getMessage());
        assertTrue(tried.find() && Long.parseLong(tried.group(1)) <= timeout.toMillis(), refused.getMessage());
        assertTrue(
                took < timeout.plus(Slowness.stretched(Duration.ofSeconds(3))).toMillis(), took + " ms");
        proxy.accept();
    }

    @Test
    void buildFailsInTime_whenTheQuestionForTheChrootHasNoAnswer() throws Exception {
        FaultProxy proxy = fastProxy();
        HeldFrames hold = proxy.holdAnswers(RequestMatch.getData());
        Duration timeout = Slowness.stretched(Duration.ofMillis(500));
        var unused =
                hold.firstCaught().thenRunAsync(hold::close, delayedExecutor(2 * timeout.toMillis(), MILLISECONDS));
        LockServiceUnavailableException refused = assertThrows(
                LockServiceUnavailableException.class,
                () -> client(builder -> builder.connectString(proxy.connectString() + "/missing")
                        .connectTimeout(timeout)));
        assertTrue(refused.getMessage().contains("whether the chroot"), refused.getMessage());
    }

    /** It is created through a handle of its own, which is closed with the client. */
    @Test
    void chrootIsNotCreatedAgain_onceTheClientIsClosed() throws Exception {
        FaultProxy proxy = fastProxy();
        ZkLockClient client = client(builder -> builder.connectString(proxy.connectString() + "/gone"));
        ZKUtil.deleteRecursive(handle(), "/gone");
        proxy.refuse();
        CompletableFuture<Lease> asked = client.mutex("/m").acquireAsync();
        awaitUntil("the chroot is being created", () -> handlesTo(proxy) == 2);
        client.close();
        assertEquals(0, handlesTo(proxy));
        proxy.accept();
        assertInstanceOf(ClientClosedException.class, refusal(LockException.class, asked));
        assertNull(handle().exists("/gone", false));
    }

    private static long handlesTo(FaultProxy proxy) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().endsWith("-SendThread(" + proxy.connectString() + ")"))
                .count();
    }

    @Test
    void borrowedHandleWorks_withoutTheRightToReadItsRoot() throws Exception {
        ZooKeeper operator = handle();
        makeNode("/open");
        operator.setACL("/", ALL_BUT_READ, -1);
        try (ZkLockClient borrowing = borrowing(handle())) {
            borrowing.mutex("/open/m").acquire().close();
        }
    }

    /** Until it is connected, a handle has no timeout that a server has granted. */
    @Test
    @Tag("slow")
    void sessionHasTheGrantedTimeout_whenTheBorrowedHandleConnectsLater() throws Exception {
        FaultProxy proxy = fastProxy();
        proxy.refuse();
        Duration asked = Slowness.stretched(Duration.ofSeconds(4));
        ZooKeeper handle = new ZooKeeper(proxy.connectString(), (int) asked.toMillis(), event -> {});
        try (LoggedWarnings log = LoggedWarnings.listen();
                ZkLockClient borrowing = ZkLockClient.builder()
                        .using(handle)
                        .sessionTimeout(Duration.ofMillis(34_321))
                        .connectTimeout(Duration.ZERO)
                        .build()) {
            assertFalse(handle.getState().isConnected());
            proxy.accept();
            awaitUntil("connected", () -> borrowing.session().state() == SessionState.CONNECTED);
            assertEquals(asked, borrowing.session().timeout());
            assertEquals(List.of(), log.aboveDebugWith("34321 ms"), "the client has asked for no timeout");
        }
        handle.close();
    }

    /** Nothing says whether its servers refuse the connection. */
    @Test
    @Tag("slow")
    void buildWaitsForASessionTimeout_whenABorrowedHandleIsNotConnected() throws Exception {
        FaultProxy proxy = fastProxy();
        proxy.refuse();
        ZooKeeper handle = new ZooKeeper(proxy.connectString(), (int) LONG_SESSION.toMillis(), event -> {});
        LockServiceUnavailableException late =
                assertThrows(LockServiceUnavailableException.class, () -> ZkLockClient.builder()
                        .using(handle)
                        .sessionTimeout(Duration.ofSeconds(1))
                        .build());
        assertTrue(late.getMessage().contains("within 1000 ms"), late.getMessage());
        proxy.accept();
        awaitUntil("connected", () -> handle.getState() == ZooKeeper.States.CONNECTED);
        handle.close();
    }

    @Test
    void failedBorrowOfAHandle_leavesNoWatchOnIt() throws Exception {
        FaultProxy proxy = fastProxy();
        ZooKeeper handle = new ZooKeeper(proxy.connectString(), (int) LONG_SESSION.toMillis(), event -> {});
        awaitUntil("connected", () -> handle.getState() == ZooKeeper.States.CONNECTED);
        long session = handle.getSessionId();
        proxy.refuse();
        proxy.cut();
        awaitUntil("cut off", () -> handle.getState() != ZooKeeper.States.CONNECTED);
        assertThrows(LockServiceUnavailableException.class, () -> ZkLockClient.builder()
                .using(handle)
                .connectTimeout(Duration.ofMillis(100))
                .build());
        proxy.accept();
        awaitUntil("connected again", () -> handle.getState() == ZooKeeper.States.CONNECTED);
        // Behind whatever the client might still ask for.
        handle.exists("/", false);
        handle.exists("/", false);
        assertEquals(session, handle.getSessionId());
        assertEquals(List.of(), watchesOf(handle));
        handle.close();
    }

    private List<ServerNode.Watch> watchesOf(ZooKeeper handle) {
        return server().watches().stream()
                .filter(watch -> watch.session() == handle.getSessionId())
                .toList();
    }

    private void awaitNoWatchOf(ZooKeeper handle) throws InterruptedException {
        awaitUntil("no watch is left", () -> watchesOf(handle).isEmpty());
    }

    @Test
    @Tag("slow")
    void expiryOfABorrowedHandle_isFinalAndReported() throws Exception {
        ZooKeeper handle = handle();
        ZkLockClient borrowing = borrowing(handle);
        Lease lease = borrowing.mutex("/m").acquire();
        CompletableFuture<Lease> waiting = borrowing.mutex("/m").acquireAsync();
        awaitQueue(borrowing.mutex("/m"), 2);

        server().expireSession(handle.getSessionId());

        LossCause cause = lease.lost().toCompletableFuture().get(10, TimeUnit.SECONDS);
        assertTrue(cause == LossCause.SESSION_EXPIRED || cause == LossCause.DEADLINE_PASSED, cause.toString());
        ExecutionException told = assertThrows(ExecutionException.class, () -> waiting.get(10, TimeUnit.SECONDS));
        assertInstanceOf(SessionExpiredException.class, told.getCause());
        assertThrows(SessionExpiredException.class, () -> borrowing.mutex("/m").acquire());
        borrowing.close();
        handle.close();
    }

    /**
     * The client watches a node that does not exist to learn of its session; an event of that node says nothing about
     * it.
     */
    @Test
    @Tag("slow")
    void removedWatchOfABorrower_doesNotShortenItsValidity() throws Exception {
        Duration session = Slowness.stretched(Duration.ofSeconds(8));
        FaultProxy proxy = fastProxy();
        ZooKeeper handle = new ZooKeeper(proxy.connectString(), (int) session.toMillis(), event -> {});
        try (ZkLockClient borrowing = ZkLockClient.using(handle)) {
            borrowing.mutex("/m").acquire().close();
            proxy.cut();
            borrowing.mutex("/m").acquire().close();
            handle().create(
                            watchesOf(handle).get(0).path(),
                            new byte[0],
                            ZooDefs.Ids.OPEN_ACL_UNSAFE,
                            CreateMode.PERSISTENT);
            awaitUntil("it is watched again", () -> !watchesOf(handle).isEmpty());
            // As long as what the former connection proved counts.
            TimeUnit.MILLISECONDS.sleep(session.toMillis());
            Duration soon = session.dividedBy(6);
            borrowing.mutex("/m").tryAcquire(soon).orElseThrow().close();
        } finally {
            handle.close();
        }
    }

    /** Its name is known, so any client can create it. */
    @Test
    void handleIsBorrowed_whenTheNodeThatIsWatchedForItExists() throws Exception {
        ZooKeeper handle = handle();
        ZkLockClient first = borrowing(handle);
        String watched = watchesOf(handle).get(0).path();
        int number = watched.lastIndexOf('-') + 1;
        makeNode(watched.substring(0, number) + (Integer.parseInt(watched.substring(number)) + 1));
        ZkLockClient second = borrowing(handle);
        second.mutex("/m").acquire().close();
        second.close();
        first.close();
        handle.close();
    }

    /**
     * The age of its connection is not known: until a pair of requests has proved it, the leader may end the session at
     * any time.
     */
    @Test
    @Tag("slow")
    void firstGrantOnABorrowedHandle_waitsForTheMargin() throws Exception {
        Duration margin = Slowness.stretched(Duration.ofSeconds(2)); // a grant is faster than half of it
        ZooKeeper handle = handle();
        long start = System.nanoTime();
        try (ZkLockClient borrowing =
                ZkLockClient.builder().using(handle).validityMargin(margin).build()) {
            Lease first = borrowing.mutex("/m").acquire();
            Duration waited = Duration.ofNanos(System.nanoTime() - start);
            assertTrue(waited.compareTo(margin) >= 0, () -> "granted after " + waited);
            assertTrue(first.remaining().compareTo(LONG_SESSION.dividedBy(2)) > 0, () -> first.remaining() + " left");
            borrowing.mutex("/n").tryAcquire(margin.dividedBy(2)).orElseThrow().close();
        }
    }

    /** An idle holder on a borrowed handle has no default watcher; its heartbeat tells it. */
    @Test
    @Tag("slow")
    void holderOnABorrowedHandle_learnsOfItsLoss_whenTheHandleIsClosed() throws Exception {
        ZooKeeper handle = handle();
        ZkLockClient borrowing = borrowing(handle);
        Lease lease = borrowing.mutex("/m").acquire();
        handle.close();
        lease.lost().toCompletableFuture().get(10, TimeUnit.SECONDS);
        assertFalse(lease.isValid());
        borrowing.close();
    }

    /**
     * A waiter behind a node watches it as the node's owner does; removing a watch removes all watches of the session
     * on it.
     */
    @Test
    void deletionOfANodeIsNoticed_whenAnotherClientOfTheHandleRemovedItsWatch() throws Exception {
        ZooKeeper handle = handle();
        ZkLockClient one = ZkLockClient.builder()
                .using(handle)
                .validityMargin(Duration.ofMillis(500))
                .build();
        one.mutex("/proof-that-the-session-lives").acquire().close();
        ZkLockClient two = borrowing(handle);
        ZkLockClient other = client("other");
        Lease held = other.mutex("/m").acquire();
        CompletableFuture<Lease> second = one.mutex("/m").acquireAsync();
        awaitRequests("/m", 2);
        ServerNode own = requestsUnder("/m").get(1);
        assertTrue(two.mutex("/m").tryAcquire(Duration.ofMillis(300)).isEmpty());
        settle(one.mutex("/m"));
        CompletableFuture<Lease> third = other.mutex("/m").acquireAsync();
        awaitRequests("/m", 3);
        settle(other.mutex("/m"));
        handle.delete(own.path(), -1);
        held.close();
        soon(third);
        settle(one.mutex("/m"), other.mutex("/m"));
        assertFalse(second.isDone(), "it stands behind the third by now");
        third.join().close();
        soon(second).close();
        one.close();
        two.close();
    }

    @Test
    void guardedWriteIsRefusedAsAWhole_whenTheLeaseIsLost() throws Exception {
        ZooKeeper operator = handle();
        makeNode("/stock", new byte[] {1});
        Lease lease = client(builder -> builder.sessionTimeout(Duration.ofSeconds(60)))
                .mutex("/m")
                .acquire();

        assertEquals(
                1,
                ZkLocks.guarded(lease, Op.setData("/stock", new byte[] {2}, -1)).size());
        assertEquals(2, operator.getData("/stock", false, null)[0]);
        assertThrows(
                KeeperException.BadVersionException.class,
                () -> ZkLocks.guarded(lease, Op.setData("/stock", new byte[] {3}, 77)));

        operator.delete(requestsUnder("/m").get(0).path(), -1);
        LeaseLostException refused = assertThrows(
                LeaseLostException.class, () -> ZkLocks.guarded(lease, Op.setData("/stock", new byte[] {3}, -1)));
        assertEquals(LossCause.NODE_DELETED, refused.lossCause());
        // Long before a heartbeat could tell.
        Eventually.holds(
                "the response of the server counts for all callers",
                Duration.ofSeconds(5),
                () -> lease.state() == LeaseState.LOST);
        assertEquals(LossCause.NODE_DELETED, lease.lost().toCompletableFuture().get(10, TimeUnit.SECONDS));
        assertEquals(ReleaseOutcome.LOST, lease.release());
        assertEquals(2, operator.getData("/stock", false, null)[0]);

        Lease released = client("other").mutex("/n").acquire();
        released.close();
        assertThrows(
                IllegalStateException.class, () -> ZkLocks.guarded(released, Op.setData("/stock", new byte[] {4}, -1)));
        operator.close();
    }
}
