// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.ReleaseRequest;
import io.latchkey.lock.admin.Contender;
import io.latchkey.lock.admin.Contender.Eviction;
import io.latchkey.lock.admin.Contender.ReleaseRequestResult;
import io.latchkey.testkit.proxy.Fault;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.server.ServerNode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Logins and ACLs: a client without rights can neither read a lock nor delete it. */
@Timeout(60)
class AccessTest extends OnOneServer {
    private static final byte[] LOGIN = "service:secret".getBytes(StandardCharsets.UTF_8);
    private static final byte[] OTHER_LOGIN = "service:guessed".getBytes(StandardCharsets.UTF_8);

    private ZkLockClient loggedIn(String label) throws InterruptedException {
        return client(builder -> builder.ownerLabel(label).auth("digest", LOGIN));
    }

    private ZooKeeper handle(byte[] login) throws Exception {
        ZooKeeper handle = handle();
        handle.addAuthInfo("digest", login);
        return handle;
    }

    private List<String> allPaths() {
        return server().nodesUnder("/").stream().map(ServerNode::path).toList();
    }

    @ParameterizedTest
    @EnumSource(Lockable.class)
    @Tag("slow")
    void nodesOfAClientWithALogin_areItsOwn(Lockable kind) throws Exception {
        ZkLockClient service = client(builder -> builder.connectString(server().connectString() + "/chroot/of/two")
                .basePath("/base")
                .auth("digest", LOGIN));
        Lease held = kind.of(service).acquire();
        var unused = listening(
                held, kind.paths().stream().map("/chroot/of/two/base"::concat).toArray(String[]::new));
        assertTrue(allPaths().size() >= 3 + 1 + 1 + 2, () -> allPaths().toString());
        assertAllIsItsOwn();
        assertEquals(LeaseState.HELD, held.state());
        held.close();
    }

    @Test
    void recordOfAPeriodIsItsOwn_asTheLockIs() throws Exception {
        OncePerPeriod days = OncePerPeriod.calendar(Duration.ofDays(1));
        loggedIn("service").mutex("/jobs/report").run(lease -> assertTrue(days.atMostOnce(lease, turn -> {})));
        assertTrue(allPaths().contains("/jobs/report.period"), () -> allPaths().toString());
        assertAllIsItsOwn();
    }

    /** All nodes belong to the login; other clients can neither read nor delete them. */
    private void assertAllIsItsOwn() throws Exception {
        ZooKeeper inside = handle(LOGIN);
        ZooKeeper stranger = handle();
        for (String path : allPaths()) {
            List<ACL> acl = assertDoesNotThrow(() -> inside.getACL(path, new Stat()), path);
            assertEquals(1, acl.size(), path);
            assertEquals("digest", acl.get(0).getId().getScheme(), path);
            assertEquals(ZooDefs.Perms.ALL, acl.get(0).getPerms(), path);
            assertThrows(KeeperException.NoAuthException.class, () -> stranger.getData(path, false, null), path);
            assertThrows(KeeperException.NoAuthException.class, () -> stranger.getChildren(path, false), path);
            assertThrows(KeeperException.NoAuthException.class, () -> stranger.setData(path, new byte[0], -1), path);
            if (path.lastIndexOf('/') > 0) {
                assertThrows(KeeperException.NoAuthException.class, () -> stranger.delete(path, -1), path);
            }
        }
    }

    /**
     * What it makes then, levels of the path included: all of the time before has gone. The caller has overwritten its
     * credentials by then, so that no password stays in its memory.
     */
    @ParameterizedTest
    @EnumSource(Lockable.class)
    void loginIsKept_afterAReconnectAndInTheNextSession(Lockable kind) throws Exception {
        FaultProxy proxy = fastProxy();
        byte[] credentials = LOGIN.clone();
        ZkLockClient service =
                client(builder -> builder.connectString(proxy.connectString()).auth("digest", credentials));
        Arrays.fill(credentials, (byte) 0);
        kind.of(service).acquire().close();
        awaitNothingLeft(kind.paths().toArray(String[]::new));
        long session = proxy.session().orElseThrow();
        proxy.cut();
        assertCreatedAgainAsItsOwn(kind, service);
        assertEquals(session, proxy.session().orElseThrow(), "the same session");
        proxy.expireSession().get(10, TimeUnit.SECONDS);
        assertCreatedAgainAsItsOwn(kind, service);
        assertNotEquals(session, proxy.session().orElseThrow(), "the next session");
    }

    private void assertCreatedAgainAsItsOwn(Lockable kind, ZkLockClient service) throws Exception {
        var unused = reapAll();
        assertEquals(List.of(), allPaths());
        Lease held = kind.of(service).acquire();
        assertEquals(2 * kind.paths().size(), allPaths().size());
        assertAllIsItsOwn();
        ZkLockClient stranger = client("stranger");
        assertThrows(AccessDeniedException.class, () -> kind.of(stranger).tryAcquire());
        assertTrue(held.isValid());
        held.close();
        awaitNothingLeft(kind.paths().toArray(String[]::new));
    }

    @ParameterizedTest
    @EnumSource(Lockable.class)
    void clientWithoutRights_isDeniedAndChangesNothing(Lockable kind) throws Exception {
        ZkLockClient service = loggedIn("service");
        Lease held = kind.of(service).acquire();
        List<String> before = allPaths();
        ZkLockClient stranger = client("stranger");
        ZkLockClient guesser = client(builder -> builder.auth("digest", OTHER_LOGIN));
        for (ZkLockClient foreign : List.of(stranger, guesser)) {
            assertThrows(AccessDeniedException.class, () -> kind.of(foreign).queue());
            assertThrows(AccessDeniedException.class, () -> kind.of(foreign).acquire());
            assertThrows(AccessDeniedException.class, () -> kind.of(foreign).tryAcquire());
            assertThrows(AccessDeniedException.class, () -> kind.of(foreign).tryAcquire(Duration.ofSeconds(5)));
            assertEquals(List.of(), foreign.diagnose().waits(), "a refused request has ended");
        }
        if (kind.paths().contains("/s")) {
            assertThrows(AccessDeniedException.class, () -> stranger.semaphore("/s", 2)
                    .resize(3));
        }
        assertEquals(before, allPaths());
        assertTrue(held.isValid());
        held.close();
        assertTrue(kind.of(loggedIn("colleague")).tryAcquire().isPresent(), "the same login shares");
    }

    /** The right to read a queue includes neither release requests nor eviction. */
    @ParameterizedTest
    @EnumSource(Lockable.class)
    void viewerSeesTheQueue_withTheReadRightOnly(Lockable kind) throws Exception {
        List<ACL> readable = new ArrayList<>(ZooDefs.Ids.CREATOR_ALL_ACL);
        readable.addAll(ZooDefs.Ids.READ_ACL_UNSAFE);
        ZkLockClient service = client(
                builder -> builder.ownerLabel("service").auth("digest", LOGIN).acl(readable));
        Lease held = kind.of(service).acquire();
        CompletableFuture<ReleaseRequest> wish = listening(held, kind.paths().toArray(String[]::new));
        Contender seen = kind.of(client("stranger")).queue().get(0);
        assertEquals("service", seen.owner().label());
        AccessDeniedException denied = assertThrows(AccessDeniedException.class, seen::requestRelease);
        assertTrue(denied.getMessage().contains(kind.paths().get(0)), denied.getMessage());
        assertThrows(AccessDeniedException.class, seen::evict);
        settle(kind.of(service));
        assertFalse(wish.isDone());
        assertEquals(LeaseState.HELD, held.state());

        Contender seenByColleague = kind.of(loggedIn("colleague")).queue().get(0);
        assertEquals(ReleaseRequestResult.STORED, seenByColleague.requestRelease());
        assertEquals("colleague", wish.get(10, TimeUnit.SECONDS).by().label());
        assertEquals(Eviction.EVICTED, seenByColleague.evict());
        assertEquals(LossCause.NODE_DELETED, held.lost().toCompletableFuture().get(10, TimeUnit.SECONDS));
    }

    /** Whether it is older than the resize is not known. */
    @Test
    void unreadableRequestDoesNotSeemToHold_whenItWaitsSinceTheSemaphoreShrank() throws Exception {
        makeNode("/s");
        ZkLockClient service = loggedIn("service");
        Lease held = service.semaphore("/s", 2).acquire();
        service.semaphore("/s", 2).resize(1);
        CompletableFuture<Lease> waiting = service.semaphore("/s", 2).acquireAsync();
        awaitRequests("/s", 2);
        assertEquals(
                List.of(Contender.State.HOLDING, Contender.State.WAITING),
                client("stranger").semaphore("/s", 2).queue().stream()
                        .map(Contender::state)
                        .toList());
        assertFalse(waiting.isDone());
        held.close();
        soon(waiting).close();
    }

    /** A path that an operator created for all clients, with requests that belong to their creators. */
    @Test
    void unreadableRequestIsShownWithoutItsOwner_andCannotBeAsked() throws Exception {
        makeNode("/m");
        Lease held = loggedIn("service").mutex("/m").acquire();
        var unused = listening(held, "/m");
        Contender seen = client("stranger").mutex("/m").queue().get(0);
        assertEquals("", seen.owner().label());
        assertEquals(0, seen.owner().processId());
        assertThrows(AccessDeniedException.class, seen::requestRelease);
        assertTrue(held.isValid());
        assertEquals(
                Eviction.EVICTED, seen.evict(), "deleting needs the right of the path, which all clients have here");
        assertEquals(LossCause.NODE_DELETED, held.lost().toCompletableFuture().get(10, TimeUnit.SECONDS));
    }

    /** An operator created it without data. The kind of the lock stands in there, which this client may not write. */
    @Test
    void requestIsDenied_whenItMayNotWriteTheKindOfTheLock() throws Exception {
        makeNode("/m");
        List<ACL> allButWrite =
                Arrays.asList(new ACL(ZooDefs.Perms.ALL & ~ZooDefs.Perms.WRITE, ZooDefs.Ids.ANYONE_ID_UNSAFE));
        handle().setACL("/m", allButWrite, -1);
        CompletableFuture<Lease> asked = client("stranger").mutex("/m").acquireAsync();
        ExecutionException told = assertThrows(ExecutionException.class, () -> asked.get(10, TimeUnit.SECONDS));
        AccessDeniedException denied = assertInstanceOf(AccessDeniedException.class, told.getCause());
        assertTrue(denied.getMessage().contains("record the kind of the lock"), denied.getMessage());
        awaitNothingLeft("/m");
    }

    @Test
    void errorLeavesItOpenWhatWasWritten_whenTheServerFailsAtTheKindOfTheLock() throws Exception {
        makeNode("/m");
        FaultProxy proxy = proxy();
        Fault failure = proxy.answerWith(RequestMatch.setData(), 1, KeeperException.Code.SYSTEMERROR);
        LockException failed = assertThrows(
                LockException.class, () -> patient(proxy).mutex("/m").acquire());
        assertTrue(failure.struck().isDone());
        assertEquals(LockException.Reason.OTHER, failed.reason(), failed.getMessage());
        assertFalse(failed.getMessage().contains("Nothing was changed"), failed.getMessage());
        awaitNothingLeft("/m");
    }

    /** The right was taken away after the list; the data is read with the list, and again without it. */
    @Test
    void requestIsDenied_whenItMayNotReadThePathsData() throws Exception {
        makeNode("/m");
        FaultProxy proxy = proxy();
        ZkLockClient unable = patient(proxy);
        for (int number = 1; number <= 2; number++) {
            var unused = proxy.refuseRequest(
                    RequestMatch.getData().path("of /m", "/m"::equals), number, KeeperException.Code.NOAUTH);
        }
        assertThrows(AccessDeniedException.class, () -> unable.mutex("/m").acquire());
        awaitNothingLeft("/m");
    }

    /** Its data has the token, which the client has to read as the answer to the create was lost. */
    @Test
    void requestIsDenied_whenItMayNotReadItsOwnNode() throws Exception {
        makeNode("/m");
        FaultProxy proxy = fastProxy();
        ZkLockClient unable =
                client(builder -> builder.connectString(proxy.connectString()).acl(ALL_BUT_READ));
        Fault cut = proxy.cutAfter(RequestMatch.create(), 1);
        AccessDeniedException denied = assertThrows(
                AccessDeniedException.class, () -> unable.mutex("/m").acquire());
        assertTrue(cut.struck().isDone());
        assertTrue(denied.getMessage().contains("read a request"), denied.getMessage());
        awaitNothingLeft("/m");
    }

    /** Its request is in the queue by then. Without the watch it would never learn that the one ahead is gone. */
    @Test
    void waiterIsDenied_whenItMayNotWatchTheRequestAhead() throws Exception {
        makeNode("/m");
        Lease held = loggedIn("service").mutex("/m").acquire();
        CompletableFuture<Lease> waits = client("stranger").mutex("/m").acquireAsync();
        ExecutionException told = assertThrows(ExecutionException.class, () -> waits.get(10, TimeUnit.SECONDS));
        assertInstanceOf(AccessDeniedException.class, told.getCause());
        assertEquals(1, requestsUnder("/m").size());
        assertTrue(held.isValid());
        held.close();
    }

    /** The right may never come back: the deletion is sent again with each heartbeat, and no caller waits for that. */
    @Test
    @Tag("slow")
    void releaseIsPending_whileTheServerRefusesTheDeletion() throws Exception {
        ZooKeeper operator = handle();
        List<ACL> allButDelete =
                Arrays.asList(new ACL(ZooDefs.Perms.ALL & ~ZooDefs.Perms.DELETE, ZooDefs.Ids.ANYONE_ID_UNSAFE));
        Lease held = client("holder").mutex("/m").acquire();
        operator.setACL("/m", allButDelete, -1);
        assertEquals(ReleaseOutcome.PENDING, soon(held.releaseAsync()));
        assertEquals(1, requestsUnder("/m").size());
        operator.setACL("/m", ZooDefs.Ids.OPEN_ACL_UNSAFE, -1);
        awaitNothingLeft("/m");
    }

    @Test
    void givenAclIsUsed_andNodesAreOpenWithoutALogin() throws Exception {
        loggedIn("closed").mutex("/closed").acquire();
        List<ACL> open = ZooDefs.Ids.OPEN_ACL_UNSAFE;
        List<ACL> given = new ArrayList<>(open);
        ZkLockClient opener = client(builder -> {
            builder.auth("digest", LOGIN).acl(given);
            given.clear();
        });
        Lease byLogin = opener.mutex("/given").acquire();
        assertTrue(client("stranger").mutex("/given").tryAcquire().isEmpty());
        byLogin.close();
        assertTrue(client("stranger").mutex("/given").tryAcquire().isPresent());

        client("anonymous").mutex("/open").acquire().close();
        assertEquals(open, handle().getACL("/open", new Stat()));
        assertThrows(KeeperException.NoAuthException.class, () -> handle().getData("/closed", false, null));
    }

    /** A server checks the right to create below a node before it looks whether the child is there. */
    @Test
    void missingParentsAreCreated_whenUpperLevelsAreReadOnly() throws Exception {
        ZooKeeper operator = handle();
        makeNode("/team");
        operator.setACL("/", ZooDefs.Ids.READ_ACL_UNSAFE, -1);
        assertTrue(client("lock").mutex("/team/locks/a").tryAcquire().isPresent());
        client("resized").semaphore("/team/pools/b", 2).resize(3);
        assertTrue(client(builder -> builder.basePath("/team/base/of/two"))
                .mutex("/m")
                .tryAcquire()
                .isPresent());
        assertTrue(client(builder -> builder.connectString(server().connectString() + "/team/chroot/of/two"))
                .mutex("/m")
                .tryAcquire()
                .isPresent());
        assertThrows(
                AccessDeniedException.class,
                () -> client("denied").mutex("/other/m").acquire());
    }

    @Test
    void loginIsAskedForAgain_whenTheServerThrottlesTheFirstQuestion() throws Exception {
        FaultProxy proxy = proxy();
        Fault throttled = proxy.refuseRequest(RequestMatch.getData(), 1, KeeperException.Code.THROTTLEDOP);
        ZkLockClient service =
                client(builder -> builder.connectString(proxy.connectString()).auth("digest", LOGIN));
        throttled.await(Duration.ofSeconds(10));
        service.mutex("/m").acquire().close();
    }

    @Test
    void creatorAclIsRefused_withoutALogin() throws InterruptedException {
        ZkLockClient anonymous = client(builder -> builder.acl(ZooDefs.Ids.CREATOR_ALL_ACL));
        RuntimeException refused =
                assertThrows(LockException.class, () -> anonymous.mutex("/m").acquire());
        assertTrue(refused.getMessage().contains("INVALIDACL"), refused.getMessage());
        ZkLockClient locksItselfOut = client(builder -> builder.auth("digest", LOGIN)
                .acl(List.of(new ACL(ZooDefs.Perms.ALL, new Id("digest", "other:AAAAAAAAAAAAAAAAAAAAAAAAAAA=")))));
        assertThrows(
                AccessDeniedException.class, () -> locksItselfOut.mutex("/mine").acquire());
    }

    @Test
    @Tag("slow")
    void loginIsRefused_forABorrowedHandle() throws Exception {
        ZooKeeper handle = handle(LOGIN);
        assertThrows(
                IllegalStateException.class,
                () -> ZkLockClient.builder().using(handle).auth("digest", LOGIN).build());
        try (ZkLockClient borrowing = ZkLockClient.builder()
                .using(handle)
                .acl(ZooDefs.Ids.CREATOR_ALL_ACL)
                .build()) {
            Lease held = borrowing.mutex("/m").acquire();
            assertThrows(
                    AccessDeniedException.class,
                    () -> client("stranger").mutex("/m").queue());
            held.close();
        }
    }
}
