// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockMismatchException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.ReleaseRequest;
import io.latchkey.lock.admin.Contender.Eviction;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.server.auth.DigestAuthenticationProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The rights that docs/security.md names for each role are enough, and needed. */
@Timeout(60)
@Tag("slow")
class RolesTest extends OnOneServer {
    private static final int WORKER = Perms.CREATE | Perms.DELETE | Perms.READ | Perms.WRITE;

    private static Id id(String login) throws Exception {
        return new Id("digest", DigestAuthenticationProvider.generateDigest(login));
    }

    private static List<ACL> roles() throws Exception {
        Id worker = id("worker:one");
        Id operator = id("operator:two");
        List<ACL> acl = Arrays.asList(
                new ACL(Perms.CREATE | Perms.DELETE | Perms.READ | Perms.WRITE, worker),
                new ACL(Perms.READ | Perms.DELETE, operator));
        return acl;
    }

    private ZkLockClient as(String login, List<ACL> acl) throws InterruptedException {
        return client(builder ->
                builder.auth("digest", login.getBytes(StandardCharsets.UTF_8)).acl(acl));
    }

    @Test
    void digestLoginOwnsWhatItCreates() throws Exception {
        String servers = server().connectString();
        ZkLockClient service = ZkLockClient.builder()
                .connectString(servers)
                .auth("digest", "billing:secret".getBytes(StandardCharsets.UTF_8))
                .build();
        service.mutex("/own").acquire();
        assertThrows(
                AccessDeniedException.class,
                () -> client("stranger").mutex("/own").tryAcquire());
        service.close();
    }

    @ParameterizedTest
    @EnumSource(Lockable.class)
    void workerNeedsNoAdminRight(Lockable kind) throws Exception {
        ZkLockClient one = as("worker:one", roles());
        ZkLockClient two = as("worker:one", roles());
        Lease held = kind.of(one).acquire();
        CompletableFuture<ReleaseRequest> asked = listening(held, kind.paths().toArray(String[]::new));
        CompletableFuture<Lease> next = kind.of(two).acquireAsync();
        var unused = kind.of(two).queue().get(0).requestRelease();
        asked.get(10, TimeUnit.SECONDS);
        held.close();
        next.get(10, TimeUnit.SECONDS).close();
        if (kind.paths().contains("/s")) {
            two.semaphore("/s", 2).resize(3);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Perms.CREATE, Perms.DELETE, Perms.READ, Perms.WRITE})
    void workerNeedsEachRightButAdmin(int without) throws Exception {
        List<ACL> acl = Arrays.asList(new ACL(WORKER & ~without, id("worker:one")));
        ZkLockClient worker = as("worker:one", acl);
        ZkLockClient next = as("worker:one", acl);
        assertThrows(RuntimeException.class, () -> {
            worker.mutex("/m").tryAcquire(Duration.ofSeconds(1)).orElseThrow().release();
            next.mutex("/m").tryAcquire(Duration.ofSeconds(1)).orElseThrow().release();
            worker.semaphore("/s", 2).resize(3);
        });
    }

    @ParameterizedTest
    @EnumSource(Lockable.class)
    void operatorEvicts_withReadAndDelete(Lockable kind) throws Exception {
        Lease held = kind.of(as("worker:one", roles())).acquire();
        ZkLockClient operator = as("operator:two", roles());
        assertThrows(AccessDeniedException.class, () -> kind.of(operator).tryAcquire());
        assertEquals(Eviction.EVICTED, kind.of(operator).queue().get(0).evict());
        assertEquals(LossCause.NODE_DELETED, held.lost().toCompletableFuture().get(10, TimeUnit.SECONDS));
    }

    @Test
    void otherRightsAreTaken_byAClientWithTheAdminRight() throws Exception {
        List<ACL> acl =
                Arrays.asList(new ACL(WORKER, id("worker:one")), new ACL(Perms.READ | Perms.ADMIN, id("admin:three")));
        Lease held = as("worker:one", acl).mutex("/m").acquire();
        ZkLockClient admin = as("admin:three", acl);
        assertThrows(
                AccessDeniedException.class,
                () -> admin.mutex("/m").queue().get(0).evict());
        ZooKeeper handle = handle();
        handle.addAuthInfo("digest", "admin:three".getBytes(StandardCharsets.UTF_8));
        handle.setACL("/m", ZooDefs.Ids.OPEN_ACL_UNSAFE, -1);
        assertEquals(Eviction.EVICTED, admin.mutex("/m").queue().get(0).evict());
        assertEquals(LossCause.NODE_DELETED, held.lost().toCompletableFuture().get(10, TimeUnit.SECONDS));
    }

    @Test
    void pathIsDeletedOnlyWithoutRequests_byAClientThatMayDeleteOnItsParent() throws Exception {
        ZkLockClient worker = as("worker:one", roles());
        Lease held = worker.mutex("/m").acquire();
        ZooKeeper stranger = handle();
        assertThrows(KeeperException.NotEmptyException.class, () -> stranger.delete("/m", -1));
        assertTrue(held.isValid());
        held.close();
        stranger.delete("/m", -1);
        worker.mutex("/m").acquire().close();
    }

    @Test
    void newClientsAreRefused_whenTheDataOfThePathIsOverwritten() throws Exception {
        List<ACL> acl =
                Arrays.asList(new ACL(WORKER, id("worker:one")), new ACL(Perms.WRITE, ZooDefs.Ids.ANYONE_ID_UNSAFE));
        Lease held = as("worker:one", acl).mutex("/m").acquire();
        handle().setData("/m", new byte[] {'?'}, -1);
        ZkLockClient next = as("worker:one", acl);
        assertThrows(LockMismatchException.class, () -> next.mutex("/m").tryAcquire());
        assertTrue(held.isValid());
        assertEquals(ReleaseOutcome.RELEASED, held.release());
    }
}
