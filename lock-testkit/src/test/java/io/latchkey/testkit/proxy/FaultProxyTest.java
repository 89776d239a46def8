// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.proxy.FaultProxy.Direction;
import io.latchkey.testkit.time.Eventually;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("once")
@Timeout(30)
class FaultProxyTest extends BehindAProxy {
    private CompletableFuture<KeeperException.Code> creates(String path) {
        CompletableFuture<KeeperException.Code> answer = new CompletableFuture<>();
        client.zooKeeper()
                .create(
                        path,
                        new byte[0],
                        Ids.OPEN_ACL_UNSAFE,
                        CreateMode.EPHEMERAL,
                        (rc, requested, context, name, stat) -> answer.complete(KeeperException.Code.get(rc)),
                        null);
        return answer;
    }

    private static boolean isThere(String path) {
        return server.nodesUnder("/").stream().anyMatch(node -> node.path().equals(path));
    }

    @Test
    void cutBeforeLetsEarlierRequestsThrough() throws Exception {
        proxy.delay(Direction.TO_SERVER, Duration.ofMillis(20));
        Fault fault = proxy.cutBefore(RequestMatch.create().under("/second"), 1);
        CompletableFuture<?> both = CompletableFuture.allOf(creates("/first"), creates("/second"));
        fault.await(SOON);
        both.get(10, TimeUnit.SECONDS);
        Eventually.holds("first node", SOON, () -> isThere("/first"));
        assertFalse(isThere("/second"));
    }

    @Test
    void cutAfterLetsEarlierAnswersThrough() throws Exception {
        proxy.delay(Direction.TO_CLIENT, Duration.ofMillis(50));
        Fault fault = proxy.cutAfter(RequestMatch.create().under("/second"), 1);
        CompletableFuture<KeeperException.Code> first = creates("/first");
        CompletableFuture<KeeperException.Code> second = creates("/second");
        fault.await(SOON);
        assertEquals(KeeperException.Code.OK, first.get(10, TimeUnit.SECONDS));
        assertEquals(KeeperException.Code.CONNECTIONLOSS, second.get(10, TimeUnit.SECONDS));
        assertTrue(isThere("/second"));
    }

    @Test
    void delayAddsToEveryRoundTrip() throws Exception {
        client.zooKeeper().exists("/", false);
        proxy.delay(Duration.ofMillis(15));
        double slow = fastestOfTwentyReads();
        assertTrue(slow >= 30, slow + " ms");
        proxy.delay(Duration.ZERO);
        double fast = fastestOfTwentyReads();
        assertTrue(fast < slow - 15, "from " + slow + " to " + fast + " ms");
    }

    /** In milliseconds. The fastest one met the fewest pauses of the machine. */
    private double fastestOfTwentyReads() throws Exception {
        long fastest = Long.MAX_VALUE;
        for (int i = 0; i < 20; i++) {
            long start = System.nanoTime();
            client.zooKeeper().exists("/", false);
            fastest = Math.min(fastest, System.nanoTime() - start);
        }
        return fastest / 1e6;
    }

    /** Such as the four letters by which a server is asked for its state: too short for a request. */
    @Test
    void othersAreServed_whenAConnectionBeginsWithAShortFrame() throws Exception {
        try (Socket stray = new Socket(InetAddress.getLoopbackAddress(), proxy.port())) {
            stray.getOutputStream().write(new byte[] {0, 0, 0, 4, 0, 0, 0, 0});
            assertThrows(SocketException.class, () -> stray.getInputStream().read());
        }
        fastestOfTwentyReads();
    }

    @Test
    void expiresTheSessionAtTheClientFirst() throws Exception {
        client.create("/mine", CreateMode.EPHEMERAL);
        CompletableFuture<Long> told = proxy.expireAtClient();
        assertEquals(client.session(), told.get(SOON.toSeconds(), TimeUnit.SECONDS));
        client.awaitState(KeeperState.Expired, SOON);
        assertTrue(server.hasSession(client.session()));
        assertNotNull(other.zooKeeper().exists("/mine", false));
    }

    @Test
    void twoFalseExpiriesOfASession_areAnsweredOnce() throws Exception {
        CompletableFuture<Long> one = proxy.expireAtClient();
        CompletableFuture<Long> two = proxy.expireAtClient();
        CompletableFuture.allOf(one, two).get(SOON.toSeconds(), TimeUnit.SECONDS);
        client.awaitState(KeeperState.Expired, SOON);
    }

    @Test
    void expiresTheSameSessionAtTheServerAndTheClient() throws Exception {
        client.create("/mine", CreateMode.EPHEMERAL);
        long session = client.session();
        assertEquals(session, proxy.expireAtBoth().get(SOON.toSeconds(), TimeUnit.SECONDS));
        client.awaitState(KeeperState.Expired, SOON);
        assertFalse(server.hasSession(session));
        assertNull(other.zooKeeper().exists("/mine", false));
    }

    @Test
    void closedProxyFailsItsFaults() throws Exception {
        Fault fault = proxy.cutBefore(RequestMatch.create(), 1);
        FaultProxy mine = FaultProxy.to(server);
        Fault never = mine.cutBefore(RequestMatch.any(), 1);
        mine.close();
        mine.close();
        assertThrows(AssertionError.class, () -> never.await(SOON));
        assertThrows(IllegalStateException.class, mine::cut);
        assertThrows(IllegalArgumentException.class, () -> proxy.cutAfter(RequestMatch.any(), 0));
        KeeperException.Code ok = KeeperException.Code.OK;
        assertThrows(IllegalArgumentException.class, () -> proxy.refuseRequest(RequestMatch.any(), 1, ok));
        assertThrows(IllegalArgumentException.class, () -> proxy.answerWith(RequestMatch.any(), 1, ok));
        fault.close();
    }

    /** The thread would be gone, and no call would return. */
    @Test
    void callsFail_whenAnExceptionEndsTheProxysThread() throws Exception {
        FaultProxy mine = FaultProxy.to(server);
        Fault never = mine.cutBefore(RequestMatch.any(), 1);
        mine.whenConnectionChanges(() -> {
            throw new IllegalArgumentException("a fault of the proxy");
        });
        assertResets(mine);
        assertThrows(AssertionError.class, () -> never.await(SOON));
        for (Runnable call : List.<Runnable>of(mine::cut, mine::close)) {
            CompletableFuture<Void> called = CompletableFuture.runAsync(call);
            ExecutionException failure = assertThrows(ExecutionException.class, () -> called.get(10, TimeUnit.SECONDS));
            assertInstanceOf(IllegalStateException.class, failure.getCause());
            assertEquals("a fault of the proxy", failure.getCause().getCause().getMessage());
        }
    }

    @Test
    void connectionIsRefused_whenTheServersNameIsUnknown() throws Exception {
        try (FaultProxy mine = FaultProxy.to("latchkey.invalid:2181")) {
            assertResets(mine);
            mine.cut();
            assertTrue(mine.wire().toString().contains("server on port 2181 refused"), () -> mine.wire() + "");
        }
    }

    private static void assertResets(FaultProxy proxy) throws Exception {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), proxy.port())) {
            socket.setSoTimeout((int) SOON.toMillis());
            assertThrows(SocketException.class, () -> {
                if (socket.getInputStream().read() < 0) {
                    throw new SocketException("ended");
                }
            });
        }
    }

    @Test
    void faultFails_whenItsPredicateThrows() throws Exception {
        RequestMatch broken = RequestMatch.of("broken", request -> {
            throw new IllegalArgumentException("a fault of the test");
        });
        Fault cut = proxy.cutBefore(broken, 1);
        Fault.HeldFrames hold = proxy.holdAnswers(broken);
        fastestOfTwentyReads();
        AssertionError told = assertThrows(AssertionError.class, () -> cut.await(SOON));
        assertEquals("a fault of the test", told.getCause().getCause().getMessage());
        assertTrue(hold.firstCaught().isCompletedExceptionally());
    }

    @Test
    void serverGetsTheRequest_whenTheConnectionIsCutAsSoonAsItWasSent() throws Exception {
        Fault sent = proxy.sent(RequestMatch.create(), 1);
        CompletableFuture<Void> cut = sent.struck().thenRun(proxy::cut);
        CompletableFuture<KeeperException.Code> answer = creates("/sent");
        cut.get(10, TimeUnit.SECONDS);
        assertEquals(KeeperException.Code.CONNECTIONLOSS, answer.get(10, TimeUnit.SECONDS));
        Eventually.holds("node", SOON, () -> isThere("/sent"));
    }

    @Test
    void everyFaultEnds_whenTheRequestOfAllIsCutOff() throws Exception {
        List<Fault> all = List.of(
                proxy.sent(RequestMatch.create(), 1),
                proxy.cutBefore(RequestMatch.create(), 1),
                proxy.cutBefore(RequestMatch.create(), 1),
                proxy.cutAfter(RequestMatch.create(), 1),
                proxy.sent(RequestMatch.create(), 1));
        assertEquals(KeeperException.Code.CONNECTIONLOSS, creates("/cut").get(10, TimeUnit.SECONDS));
        all.get(1).await(SOON);
        for (Fault moot : List.of(all.get(0), all.get(2), all.get(3), all.get(4))) {
            ExecutionException told =
                    assertThrows(ExecutionException.class, () -> moot.struck().get(10, TimeUnit.SECONDS));
            assertInstanceOf(IllegalStateException.class, told.getCause());
        }
    }

    /** A newer server may answer with it. */
    @Test
    void unknownCodeOfAnAnswerIsShownAsItsNumber() {
        WireRecord.Request read = new WireRecord.Request(0, 1, 1, WireRecord.Op.GET_DATA, "/m", false, List.of());
        String shown = new WireRecord.Answer(0, 1, read, 5, -12345).toString();
        assertTrue(shown.startsWith("error -12345 zxid 0x5 "), shown);
    }
}
