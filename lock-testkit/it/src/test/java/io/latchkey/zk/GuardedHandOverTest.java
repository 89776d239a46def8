// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.testkit.LiveObjects;
import io.latchkey.testkit.proxy.Fault.HeldFrames;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.FaultProxy.Direction;
import io.latchkey.testkit.proxy.RequestMatch;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A guarded write whose outcome is open, and the next holder of the same client. */
@Timeout(60)
class GuardedHandOverTest extends OnOneServer {
    private static final Duration SLOW = Duration.ofMillis(400);

    private final FaultProxy proxy = fastProxy();
    private ZooKeeper reader;

    /** Ways in which a client grants its own next waiter before the server has deleted the former holder's node. */
    private enum HandOver {
        MUTEX {
            @Override
            Acquirable of(ZkLockClient client) {
                return client.mutex("/m");
            }
        },
        WRITE_LOCK {
            @Override
            Acquirable of(ZkLockClient client) {
                return client.readWriteLock("/m").writeLock();
            }
        },
        MULTI_LOCK {
            @Override
            Acquirable of(ZkLockClient client) {
                return client.multiLock(client.mutex("/m"), client.mutex("/n"));
            }

            /** A multi-lock that waited asks the server before it holds. */
            @Override
            Acquirable next(ZkLockClient client) {
                return client.mutex("/m");
            }
        },
        LOCAL_TURN {
            @Override
            ZkLockClient.Builder with(ZkLockClient.Builder builder) {
                return builder.localTurns(100, Duration.ofMinutes(1));
            }

            @Override
            Acquirable of(ZkLockClient client) {
                return client.mutex("/m");
            }
        };

        abstract Acquirable of(ZkLockClient client);

        Acquirable next(ZkLockClient client) {
            return of(client);
        }

        ZkLockClient.Builder with(ZkLockClient.Builder builder) {
            return builder;
        }
    }

    @BeforeEach
    void makeState() throws Exception {
        reader = handle();
        makeNode("/state", "old".getBytes(UTF_8));
    }

    private String state() {
        try {
            return new String(reader.getData("/state", false, null), UTF_8);
        } catch (KeeperException | InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    private static void write(Lease lease) throws KeeperException, InterruptedException {
        var unused = ZkLocks.guarded(lease, Op.setData("/state", "new".getBytes(UTF_8), -1));
    }

    /** The holder's lease, and the request that waits behind it in the same client. */
    private record Pair(Lease first, CompletableFuture<Lease> second) {}

    private Pair pair(HandOver kind) throws Exception {
        ZkLockClient client = client(builder -> kind.with(builder.connectString(proxy.connectString())));
        return pair(kind.of(client), kind.next(client));
    }

    private Pair pair(Acquirable lock, Acquirable next) throws Exception {
        Pair pair = new Pair(lock.acquire(), next.acquireAsync());
        awaitRequests("/m", 2);
        settle(next);
        return pair;
    }

    private static <T> T told(CompletableFuture<T> due) throws Exception {
        return due.get(10, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @EnumSource
    @Tag("slow")
    void nextHolderReadsTheWrite_whenTheWriterWasInterrupted(HandOver kind) throws Exception {
        Pair pair = pair(kind);
        Lease first = pair.first();
        CompletableFuture<String> read = pair.second().thenApply(next -> state());
        proxy.delay(Direction.TO_SERVER, SLOW);
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> write(first));
        first.close();
        assertEquals("new", told(read));
    }

    @ParameterizedTest
    @EnumSource
    @Tag("slow")
    void nextHolderReadsTheWrite_whenAnotherThreadIsWriting(HandOver kind) throws Exception {
        Pair pair = pair(kind);
        Lease first = pair.first();
        CompletableFuture<String> read = pair.second().thenApply(next -> state());
        proxy.delay(Direction.TO_SERVER, SLOW);
        AtomicReference<Exception> failure = new AtomicReference<>();
        Thread writer = new Thread(() -> {
            try {
                write(first);
            } catch (KeeperException | InterruptedException unexpected) {
                failure.set(unexpected);
            }
        });
        writer.start();
        awaitUntil("the write is under way", () -> writer.getState() == Thread.State.WAITING);
        first.close();
        assertEquals("new", told(read));
        writer.join();
        assertEquals(null, failure.get());
    }

    @ParameterizedTest
    @EnumSource
    void nextHolderIsGrantedWhenTheNodeIsGone_afterAConnectionLoss(HandOver kind) throws Exception {
        Pair pair = pair(kind);
        Lease first = pair.first();
        CompletableFuture<Boolean> alone = pair.second()
                .thenApply(next -> requestsUnder("/m").stream().noneMatch(node -> node.created() == first.token()));
        proxy.refuse();
        proxy.cut();
        assertThrows(KeeperException.ConnectionLossException.class, () -> write(first));
        assertEquals(ReleaseOutcome.PENDING, first.release());
        proxy.accept();
        assertTrue(told(alone));
    }

    /** A write that was answered, refused or carried out, or was never sent, costs the next holder nothing. */
    @ParameterizedTest
    @EnumSource
    void nextHolderIsGrantedAtOnce_whenAllWritesWereAnswered(HandOver kind) throws Exception {
        Pair pair = pair(kind);
        Lease first = pair.first();
        write(first);
        assertThrows(
                KeeperException.NoNodeException.class,
                () -> ZkLocks.guarded(first, Op.setData("/nothing", new byte[0], -1)));
        assertThrows(
                IllegalArgumentException.class, () -> ZkLocks.guarded(first, Op.setData("no path", new byte[0], -1)));
        proxy.blackHole();
        var unused = first.releaseAsync();
        assertTrue(soon(pair.second()).isValid());
        proxy.heal();
    }

    @Test
    void writeIsApplied_whileTheClientWaitsForItsHoldersToClose() throws Exception {
        ZkLockClient client = client("closing");
        Lease held = client.mutex("/m").acquire();
        CompletableFuture<?> asked = held.releaseRequested().toCompletableFuture();
        CompletableFuture<Void> closing = CompletableFuture.runAsync(() -> client.close(Duration.ofMinutes(1)));
        told(asked);
        write(held);
        assertEquals("new", state());
        assertEquals(ReleaseOutcome.RELEASED, held.release());
        told(closing);
        assertThrows(IllegalStateException.class, () -> write(held));
    }

    /** The write checks the node that the downgrade deletes, so only a release in the midst of it hands over early. */
    @Test
    @Tag("slow")
    void nextWriterReadsTheWrite_whenALeaseIsReleasedWhileItIsDowngraded() throws Exception {
        ZkLockClient client = client(builder -> builder.connectString(proxy.connectString()));
        var lock = client.readWriteLock("/m");
        Pair pair = pair(lock.writeLock(), lock.writeLock());
        Lease first = pair.first();
        CompletableFuture<String> read = pair.second().thenApply(next -> state());
        proxy.delay(Direction.TO_SERVER, SLOW);
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> write(first));
        Thread downgrading = new Thread(() -> assertThrows(IllegalStateException.class, () -> lock.downgrade(first)));
        downgrading.start();
        awaitUntil("the downgrade is under way", () -> downgrading.getState() == Thread.State.WAITING);
        first.close();
        assertEquals("new", told(read));
        downgrading.join();
    }

    /** Readers of one client share a node, which another of them keeps. */
    @Test
    void releasedWriterIsForgotten_whenItsWriteWasAnswered() throws Exception {
        String lease = "io.latchkey.zk.internal.request.ZkLease";
        ZkLockClient client =
                client(builder -> builder.connectString(proxy.connectString()).localTurns(100, Duration.ofMinutes(1)));
        Acquirable reads = client.readWriteLock("/shared").readLock();
        Lease keeper = reads.acquire();
        int writers = 20;
        for (int i = 0; i < writers; i++) {
            Lease writer = reads.acquire();
            HeldFrames answers = proxy.holdAnswers(RequestMatch.setData());
            CompletableFuture<Boolean> written = CompletableFuture.supplyAsync(() -> {
                try {
                    return !ZkLocks.guarded(writer, Op.setData("/state", "new".getBytes(UTF_8), -1))
                            .isEmpty();
                } catch (KeeperException | InterruptedException failed) {
                    throw new IllegalStateException(failed);
                }
            });
            answers.firstCaught().get(10, TimeUnit.SECONDS);
            assertEquals(ReleaseOutcome.RELEASED, writer.release());
            answers.close();
            assertTrue(written.get(10, TimeUnit.SECONDS));
        }
        reads.acquire().close();
        assertTrue(keeper.isValid());
        long kept = LiveObjects.count(lease::equals).getOrDefault(lease, 0L);
        assertTrue(kept < writers, () -> kept + " leases are kept");
    }
}
