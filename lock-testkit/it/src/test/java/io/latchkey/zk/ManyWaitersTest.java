// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.Wire;
import io.latchkey.testkit.proxy.WireRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A thousand waiters lose their connection or their session at the same time; counts the requests on the wire. */
@Timeout(120)
@Tag("slow")
class ManyWaitersTest extends OnOneServer {
    private static final int CLIENTS = 10;
    private static final int WAITERS_OF_EACH = 100;
    private static final Duration LONG = Duration.ofSeconds(20);

    private final List<FaultProxy> proxies = new ArrayList<>();
    private final List<ZkLockClient> clients = new ArrayList<>();
    private final List<CompletableFuture<Lease>> waiting = new ArrayList<>();

    /** Lets a thousand wait behind the lease, a hundred in each of ten sessions, in turn. */
    private Lease heldBeforeAThousand() throws Exception {
        Lease held = client(builder -> builder.sessionTimeout(LONG)).mutex("/m").acquire();
        for (int i = 0; i < CLIENTS; i++) {
            FaultProxy proxy = fastProxy();
            proxies.add(proxy);
            clients.add(client(
                    builder -> builder.connectString(proxy.connectString()).sessionTimeout(LONG)));
        }
        for (int i = 0; i < CLIENTS * WAITERS_OF_EACH; i++) {
            waiting.add(clients.get(i % CLIENTS).mutex("/m").acquireAsync());
        }
        awaitRequests("/m", 1 + CLIENTS * WAITERS_OF_EACH);
        // Each has been created; its list may still be under way. The server serves a session in order, so this comes
        // after.
        for (int trip = 0; trip < 4; trip++) {
            for (ZkLockClient client : clients) {
                client.mutex("/behind").acquire().close();
            }
        }
        return held;
    }

    /** Prints what was counted, for docs/failures.md. */
    private static void assertNoMoreThan(long most, String of, Map<WireRecord.Op, Long> sent) {
        long all = sent.values().stream().mapToLong(Long::longValue).sum();
        System.out.println("requests of " + of + ": " + all + " " + sent);
        assertTrue(all <= most, sent::toString);
    }

    private Map<WireRecord.Op, Long> requestsSince(List<Wire.Mark> marks) {
        Map<WireRecord.Op, Long> counts = new TreeMap<>();
        for (int i = 0; i < CLIENTS; i++) {
            proxies.get(i)
                    .since(marks.get(i))
                    .requestsByOp()
                    .forEach((op, count) -> counts.merge(op, count, Long::sum));
        }
        counts.remove(WireRecord.Op.PING);
        return counts;
    }

    private List<Wire.Mark> marks() {
        return proxies.stream().map(FaultProxy::mark).toList();
    }

    private void assertServedInOrder(Lease held) throws Exception {
        List<Long> tokens = Collections.synchronizedList(new ArrayList<>(List.of(held.token())));
        List<CompletableFuture<Void>> served = waiting.stream()
                .map(each -> each.thenAccept(lease -> {
                    tokens.add(lease.token());
                    var unused = lease.releaseAsync();
                }))
                .toList();
        held.close();
        CompletableFuture.allOf(served.toArray(CompletableFuture<?>[]::new)).get(60, TimeUnit.SECONDS);
        assertEquals(tokens.stream().sorted().toList(), tokens);
    }

    @Test
    void reconnectCostsLessThanOneRequestPerWaiter() throws Exception {
        Lease held = heldBeforeAThousand();
        List<Wire.Mark> marks = marks();
        proxies.forEach(FaultProxy::cut);
        for (FaultProxy proxy : proxies) {
            awaitUntil("connected", proxy::isConnected);
        }
        // Two heartbeats later whatever a reconnect leads to has been sent.
        awaitUntil("heartbeats", () -> requestsSince(marks).getOrDefault(WireRecord.Op.MULTI, 0L) >= 3 * CLIENTS);
        assertNoMoreThan(50, "a reconnect", requestsSince(marks));
        assertServedInOrder(held);
    }

    @Test
    void newSessionCostsFewRequestsPerWaiter() throws Exception {
        Lease held = heldBeforeAThousand();
        List<Wire.Mark> marks = marks();
        for (FaultProxy proxy : proxies) {
            proxy.expireSession().get(10, TimeUnit.SECONDS);
        }
        awaitUntil(
                "a thousand new requests",
                () -> requestsUnder("/m").stream()
                                .filter(request -> sequence(request) > CLIENTS * WAITERS_OF_EACH)
                                .count()
                        == CLIENTS * WAITERS_OF_EACH);
        // The same for the watches that follow, by 40 requests more.
        for (int trip = 0; trip < 4; trip++) {
            for (var client : clients) {
                assertEquals(1, client.semaphore("/behind-all", 1).capacity());
            }
        }
        // One request creates the node; a request behind two of its own client needs no more yet.
        assertNoMoreThan(1_400, "new sessions", requestsSince(marks));
        assertServedInOrder(held);
    }
}
