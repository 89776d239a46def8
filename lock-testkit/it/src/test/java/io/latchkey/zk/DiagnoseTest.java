// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.ClientClosedException;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.Owner;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.SessionState;
import io.latchkey.lock.SessionStatus;
import io.latchkey.lock.admin.Diagnosis;
import io.latchkey.log.LoggedWarnings;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.proxy.Fault.HeldFrames;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.Wire;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a client holds and waits for, and cycles of clients that wait for each other. */
@Timeout(60)
class DiagnoseTest extends OnOneServer {
    @AutoClose
    private final SimulatedLocks locks = SimulatedLocks.start();

    private final ZkLockClient alice = labelled("alice", "");
    private final ZkLockClient bob = labelled("bob", "");
    private final ZkLockClient carol = labelled("carol", "");

    DiagnoseTest() throws InterruptedException {}

    private ZkLockClient labelled(String label, String basePath) throws InterruptedException {
        return client(builder -> {
            builder.ownerLabel(label);
            if (!basePath.isEmpty()) {
                builder.basePath(basePath);
            }
        });
    }

    private static List<String> ring(Diagnosis diagnosis) {
        assertEquals(Optional.empty(), diagnosis.incompleteBecause());
        assertEquals(1, diagnosis.cycles().size(), diagnosis::toString);
        return diagnosis.cycles().get(0).stream()
                .map(link -> link.client().label() + ": " + link.holds().orElse("") + " -> " + link.waitsFor())
                .toList();
    }

    private static void assertNoCycle(LockClient... clients) {
        for (LockClient client : clients) {
            Diagnosis diagnosis = client.diagnose();
            assertEquals(Optional.empty(), diagnosis.incompleteBecause());
            assertEquals(List.of(), diagnosis.cycles(), diagnosis::toString);
        }
    }

    private void waitBehind(LockClient client, String path, int length) throws InterruptedException {
        var unused = client.mutex(path).acquireAsync();
        awaitRequests(path, length);
    }

    @Test
    void diagnosis_listsLeasesAndWaitsWithTheirTimes() throws Exception {
        Instant before = Instant.now().minusMillis(1);
        Lease held = alice.mutex("/held").acquire();
        Lease others = bob.mutex("/others").acquire();
        CompletableFuture<Lease> waiting = alice.readWriteLock("/rw").readLock().acquireAsync();
        soon(waiting).close();
        waitBehind(alice, "/others", 2);
        Diagnosis diagnosis = alice.diagnose();
        assertEquals(1, diagnosis.holds().size());
        assertEquals(
                new LockObserver.Request(1, "/held", LockObserver.Kind.MUTEX, 1, ""),
                diagnosis.holds().get(0).request());
        assertEquals(
                List.of("/others"),
                diagnosis.waits().stream().map(own -> own.request().path()).toList());
        for (Diagnosis.OwnRequest own :
                List.of(diagnosis.holds().get(0), diagnosis.waits().get(0))) {
            assertTrue(
                    own.since().isAfter(before)
                            && own.since().isBefore(Instant.now().plusMillis(1)),
                    own::toString);
            assertFalse(own.waitsForItself(), own::toString);
        }
        assertNoCycle(alice, bob);
        held.close();
        others.close();
        awaitUntil("its turn", () -> alice.diagnose().waits().isEmpty());
        assertEquals("/others", alice.diagnose().holds().get(0).request().path());
    }

    @Test
    void leasesAreInTheOrderOfTheirGrants_andWaitsInThatOfTheirCalls() throws Exception {
        LockClient client = locks.client();
        Duration second = Duration.ofSeconds(1);
        Lease others = locks.client().mutex("/late").acquire();
        CompletableFuture<Lease> late = client.mutex("/late").acquireAsync();
        locks.advance(second);
        Lease early = client.mutex("/early").acquire();
        locks.advance(second);
        others.close();
        Lease granted = soon(late);
        CompletableFuture<Lease> first = client.mutex("/early").acquireAsync();
        locks.advance(second);
        CompletableFuture<Lease> last = client.mutex("/late").acquireAsync();
        locks.advance(second);
        Diagnosis diagnosis = client.diagnose();
        Instant start = diagnosis.session().since();
        assertEquals(List.of("/early after PT1S", "/late after PT2S"), times(diagnosis.holds(), start));
        assertEquals(List.of("/early after PT2S", "/late after PT3S"), times(diagnosis.waits(), start));
        early.close();
        soon(first).close();
        granted.close();
        soon(last).close();
    }

    private static List<String> times(List<Diagnosis.OwnRequest> requests, Instant start) {
        return requests.stream()
                .map(own -> own.request().path() + " after " + Duration.between(start, own.since()))
                .toList();
    }

    @Test
    void diagnosisSendsNothing_whenNothingWaits() throws Exception {
        FaultProxy proxy = proxy();
        ZkLockClient counted = patient(proxy);
        Lease held = counted.mutex("/m").acquire();
        Wire.Mark before = proxy.mark();
        assertEquals(1, counted.diagnose().holds().size());
        assertEquals(0, proxy.since(before).requestsButHeartbeats());

        var unused = counted.mutex("/m").acquireAsync();
        awaitRequests("/m", 2);
        settle(counted.mutex("/m"));
        before = proxy.mark();
        assertNoCycle(counted);
        int oneNodeAndAQueueOfTwo = 2 + 2 + 2;
        assertEquals(oneNodeAndAQueueOfTwo, proxy.since(before).requestsButHeartbeats(), proxy.since(before)::toString);
        held.close();
    }

    @Test
    void deadlockIsNamed_whenTwoClientsWaitForEachOther() throws Exception {
        Lease a = alice.mutex("/accounts/a").acquire();
        Lease b = bob.mutex("/accounts/b").acquire();
        waitBehind(alice, "/accounts/b", 2);
        assertNoCycle(alice, bob);
        waitBehind(bob, "/accounts/a", 2);
        assertEquals(
                List.of("alice: /accounts/a -> /accounts/b", "bob: /accounts/b -> /accounts/a"),
                ring(alice.diagnose()));
        assertEquals(
                List.of("bob: /accounts/b -> /accounts/a", "alice: /accounts/a -> /accounts/b"), ring(bob.diagnose()));
        waitBehind(carol, "/accounts/a", 3);
        assertEquals(2, ring(carol.diagnose()).size(), "a client behind the cycle sees it");
        a.close();
        awaitUntil("bob holds", () -> bob.diagnose().waits().isEmpty());
        assertNoCycle(alice, bob, carol);
        b.close();
    }

    /** Another request of the client waits behind each of them. Several, since they are found in any order. */
    @Test
    void deadlockBeginsWithTheClientThatAsks() throws Exception {
        LockClient one = locks.client("one");
        LockClient two = locks.client("two");
        LockClient three = locks.client("three");
        int deadlocks = 10;
        for (int i = 0; i < deadlocks; i++) {
            String a = "/x/a" + i;
            String b = "/x/b" + i;
            String c = "/x/c" + i;
            var unused = List.<Object>of(
                    one.mutex(a).acquire(),
                    two.mutex(b).acquire(),
                    three.mutex(c).acquire(),
                    one.mutex(b).acquireAsync(),
                    two.mutex(a).acquireAsync(),
                    three.mutex(b).acquireAsync(),
                    one.mutex(c).acquireAsync());
        }
        locks.advance(Duration.ZERO);
        List<List<Diagnosis.CycleMember>> cycles = one.diagnose().cycles();
        assertEquals(deadlocks, cycles.size());
        for (List<Diagnosis.CycleMember> cycle : cycles) {
            assertEquals(
                    List.of("one", "two"),
                    cycle.stream().map(link -> link.client().label()).toList());
        }
    }

    @Test
    void deadlockIsNamed_besideANodeThatMayNotBeRead() throws Exception {
        ZkLockClient one = labelled("one", "/apps");
        ZkLockClient two = labelled("two", "/apps");
        Lease a = one.mutex("/a").acquire();
        Lease b = two.mutex("/b").acquire();
        var unused = List.of(one.mutex("/b").acquireAsync(), two.mutex("/a").acquireAsync());
        awaitRequests("/apps/a", 2);
        awaitRequests("/apps/b", 2);
        handle().create("/apps/secret", new byte[0], ALL_BUT_READ, CreateMode.PERSISTENT);
        Diagnosis diagnosis = one.diagnose();
        String gap = diagnosis.incompleteBecause().orElse("");
        assertTrue(gap.contains(" look for deadlocks at /secret ("), gap);
        assertEquals(1, diagnosis.cycles().size(), diagnosis::toString);
        a.close();
        b.close();
    }

    /** A multi-lock waits at one path and is first at another, with one token for both of its nodes. */
    @Test
    void deadlockIsNamed_whenAMultiLockIsPartOfIt() throws Exception {
        LockClient one = locks.client("one");
        LockClient two = locks.client("two");
        Lease held = two.mutex("/q").acquire();
        CompletableFuture<Lease> both =
                one.multiLock(one.mutex("/p"), one.mutex("/q")).acquireAsync();
        assertNoCycle(one, two);
        CompletableFuture<Lease> nested = two.mutex("/p").acquireAsync();
        assertEquals(List.of("one: /p -> /q", "two: /q -> /p"), ring(one.diagnose()));
        assertEquals(List.of("two: /q -> /p", "one: /p -> /q"), ring(two.diagnose()));
        held.close();
        soon(both).close();
        soon(nested).close();
    }

    /** The node of the read lease is younger than the request that was made in between. */
    @Test
    void deadlockIsNamed_whenALeaseWasDowngradedAfterItsHolderBeganToWait() throws Exception {
        LockClient one = locks.client("one");
        LockClient two = locks.client("two");
        ReadWriteLock lock = one.readWriteLock("/rw");
        Lease write = lock.writeLock().acquire();
        Lease held = two.mutex("/m").acquire();
        CompletableFuture<Lease> inner = one.mutex("/m").acquireAsync();
        Lease read = lock.downgrade(write);
        CompletableFuture<Lease> nested = two.readWriteLock("/rw").writeLock().acquireAsync();
        assertEquals(List.of("one: /rw -> /m", "two: /m -> /rw"), ring(one.diagnose()));
        held.close();
        soon(inner).close();
        read.close();
        soon(nested).close();
    }

    /** The queues are read one after the other. One request leaves behind the read of its queue, and another comes. */
    @Test
    void noDeadlockIsNamed_whenItsRequestsNeverWaitedTogether() throws Exception {
        LockClient one = locks.client("one");
        LockClient two = locks.client("two");
        LockClient looking = locks.client("looking");
        Lease a = one.mutex("/x/a").acquire();
        Lease b = two.mutex("/x/b").acquire();
        CompletableFuture<Lease> leaving = two.mutex("/x/a").acquireAsync();
        CompletableFuture<Lease> last = looking.mutex("/x/a").acquireAsync();
        HeldFrames answers = locks.holdAnswers(looking, RequestMatch.getData().under("/x/b"));
        CompletableFuture<Diagnosis> asked = CompletableFuture.supplyAsync(looking::diagnose);
        soon(answers.firstCaught());
        leaving.cancel(false);
        CompletableFuture<Lease> coming = one.mutex("/x/b").acquireAsync();
        locks.advance(Duration.ZERO);
        answers.release();
        Diagnosis diagnosis = soon(asked);
        assertEquals(Optional.empty(), diagnosis.incompleteBecause());
        assertEquals(List.of(), diagnosis.cycles(), diagnosis::toString);
        b.close();
        soon(coming).close();
        a.close();
        soon(last).close();
    }

    /** The list of its parent shows it, and its own read does not. */
    @Test
    void diagnosisIsComplete_whenAPathIsDeletedBeforeItIsRead() throws Exception {
        LockClient client = locks.client();
        client.mutex("/x/deleted").acquire().close();
        Lease held = client.mutex("/x/m").acquire();
        CompletableFuture<Lease> waiting = client.mutex("/x/m").acquireAsync();
        HeldFrames answers = locks.holdAnswers(client, RequestMatch.list().path("of /x", "/x"::equals));
        CompletableFuture<Diagnosis> asked = CompletableFuture.supplyAsync(client::diagnose);
        soon(answers.firstCaught());
        locks.delete("/x/deleted");
        answers.release();
        assertEquals(Optional.empty(), soon(asked).incompleteBecause());
        held.close();
        soon(waiting).close();
    }

    @Test
    void belowABasePathAllAreFoundAndNothingElseIsRead() throws Exception {
        ZkLockClient one = labelled("one", "/apps/shop");
        ZkLockClient two = labelled("two", "/apps/shop");
        ZkLockClient three = labelled("three", "/apps/shop");
        Lease a = one.mutex("/a").acquire();
        Lease b = two.mutex("/b").acquire();
        Lease c = three.mutex("/c").acquire();
        var unused = List.of(
                one.mutex("/b").acquireAsync(),
                two.mutex("/c").acquireAsync(),
                three.mutex("/a").acquireAsync());
        for (String path : List.of("/apps/shop/a", "/apps/shop/b", "/apps/shop/c")) {
            awaitRequests(path, 2);
        }
        // It would be a gap.
        handle().create("/apps/secret", new byte[0], ALL_BUT_READ, CreateMode.PERSISTENT);
        assertEquals(List.of("one: /a -> /b", "two: /b -> /c", "three: /c -> /a"), ring(one.diagnose()));
        List.of(a, b, c).forEach(Lease::close);
    }

    @Test
    @Tag("slow")
    void threadThatWaitsForItselfIsNamed_andWarnedOfAfterFiveSeconds() throws Exception {
        LoggedWarnings log = LoggedWarnings.listen();
        Thread nested = new Thread(
                () -> assertThrows(InterruptedException.class, () -> alice.mutex("/nested")
                        .run(outer -> alice.mutex("/nested").run(inner -> {}))),
                "nested");
        nested.start();
        awaitRequests("/nested", 2);
        String words = "hread nested waits for a lock that it holds itself: acquiring is not re-entrant";
        awaitUntil("it is named", () -> alice.diagnose().toString().contains(words));
        awaitUntil("a warning", () -> !log.with(words).isEmpty());
        nested.interrupt();
        nested.join();
        assertEquals(1, log.with(words).size());
        log.close();
    }

    @Test
    void threadThatOthersCanServeDoesNotWaitForItself() throws Exception {
        Lease permits = alice.semaphore("/s", 3).permits(2).acquire();
        Lease others = bob.semaphore("/s", 3).acquire();
        Lease mutex = alice.mutex("/m").acquire();
        CompletableFuture<Lease> next = alice.mutex("/m").acquireAsync();
        awaitRequests("/m", 2);
        FutureTask<Diagnosis> look = new FutureTask<>(() -> {
            awaitRequests("/s", 3);
            Diagnosis seen = alice.diagnose();
            others.close();
            return seen;
        });
        new Thread(look).start();
        alice.semaphore("/s", 3).acquire().close();
        List<Diagnosis.OwnRequest> waits = look.get().waits();
        assertEquals(2, waits.size());
        assertTrue(waits.stream().noneMatch(Diagnosis.OwnRequest::waitsForItself), waits::toString);
        mutex.close();
        soon(next).close();
        permits.close();
    }

    @Test
    void threadThatAnotherThreadCanServeDoesNotWaitForItself() throws Exception {
        Lease ofThisThread = alice.mutex("/a").acquire();
        CompletableFuture<CompletableFuture<Lease>> ofNoThread = new CompletableFuture<>();
        List<FutureTask<Boolean>> tasks = List.of(
                new FutureTask<>(() -> {
                    alice.mutex("/a").acquire().close();
                    return true;
                }),
                new FutureTask<>(() -> {
                    CompletableFuture<Lease> first = alice.mutex("/b").acquireAsync();
                    ofNoThread.complete(first);
                    awaitUntil("its lease", first::isDone);
                    alice.mutex("/b").acquire().close();
                    return true;
                }));
        List<Thread> threads = tasks.stream().map(Thread::new).toList();
        threads.forEach(Thread::start);
        awaitRequests("/a", 2);
        awaitRequests("/b", 2);
        awaitUntil("both wait", () -> threads.stream()
                .allMatch(thread -> thread.getState() == Thread.State.TIMED_WAITING));
        List<Diagnosis.OwnRequest> waits = alice.diagnose().waits();
        assertEquals(2, waits.size());
        assertTrue(waits.stream().noneMatch(Diagnosis.OwnRequest::waitsForItself), waits::toString);
        ofThisThread.close();
        soon(soon(ofNoThread)).close();
        for (FutureTask<Boolean> task : tasks) {
            assertTrue(task.get(10, TimeUnit.SECONDS));
        }
    }

    @Test
    @Tag("slow")
    void diagnosisNamesItsGap_whenThereAreTooManyNodes() throws Exception {
        assertGap("More than 5000 nodes are to be read", Map.of("/app/some", 2_500, "/app/more", 2_500));
    }

    @Test
    @Tag("slow")
    void diagnosisNamesItsGap_whenANodeHasTooManyChildren() throws Exception {
        assertGap("/app/data: It has 10001 children", Map.of("/app/data", 10_001));
    }

    private void assertGap(String gap, Map<String, Integer> children) throws Exception {
        ZooKeeper operator = handle();
        makeNode("/app");
        for (var each : children.entrySet()) {
            makeNode(each.getKey());
            ForgedRequests.create(
                    operator,
                    CreateMode.PERSISTENT,
                    each.getKey(),
                    IntStream.range(0, each.getValue()).mapToObj(i -> "some-" + i));
        }
        Lease held = alice.mutex("/app/a").acquire();
        waitBehind(alice, "/app/a", 2);
        String found = alice.diagnose().incompleteBecause().orElse("");
        assertTrue(found.contains(gap), found);
        held.close();
    }

    @Test
    void diagnosisNamesItsGap_withoutAServer() throws Exception {
        LockClient client =
                locks.builder().sessionTimeout(Duration.ofMillis(600)).build();
        Lease held = client.mutex("/m").acquire();
        CompletableFuture<Lease> waiting = client.mutex("/m").acquireAsync();
        assertNoCycle(client);
        locks.cutOff(client);
        Diagnosis diagnosis = client.diagnose();
        assertEquals(
                List.of(1, 1),
                List.of(diagnosis.holds().size(), diagnosis.waits().size()));
        assertEquals(List.of(), diagnosis.cycles());
        assertEquals(Optional.of("the servers do not answer in time"), diagnosis.incompleteBecause());
        locks.heal(client);
        held.close();
        waiting.get(10, TimeUnit.SECONDS).close();
    }

    @Test
    void diagnosisIsEmpty_whenTheClientIsClosed() throws Exception {
        LockClient client = locks.client();
        Lease held = client.mutex("/m").acquire();
        CompletableFuture<Lease> waiting = client.mutex("/m").acquireAsync();
        client.close();
        Diagnosis diagnosis = client.diagnose();
        assertEquals(new Diagnosis(List.of(), List.of(), List.of(), Optional.empty(), client.session()), diagnosis);
        assertEquals(SessionState.CLOSED, diagnosis.session().state());
        assertFalse(held.isValid());
        var unused = refusal(ClientClosedException.class, waiting);
    }

    @Test
    void diagnosisNamesItsGapAndTheStatusStaysSet_whenTheThreadIsInterrupted() throws Exception {
        LockClient client = locks.client();
        Lease held = client.mutex("/m").acquire();
        CompletableFuture<Lease> waiting = client.mutex("/m").acquireAsync();
        HeldFrames answers = locks.holdAnswers(client, RequestMatch.getData());
        Thread.currentThread().interrupt();
        Diagnosis diagnosis = client.diagnose();
        assertTrue(Thread.interrupted(), "the interrupt status stays set");
        assertEquals(Optional.of("interrupted"), diagnosis.incompleteBecause());
        assertEquals(1, diagnosis.waits().size());
        answers.release();
        held.close();
        soon(waiting).close();
    }

    @Test
    void diagnosisNamesItsGap_whenTheConnectionBreaksAtEachReadOfANode() throws Exception {
        LockClient client = locks.client();
        Lease held = client.mutex("/m").acquire();
        CompletableFuture<Lease> waiting = client.mutex("/m").acquireAsync();
        assertNoCycle(client);
        RequestMatch read = RequestMatch.getData().path("of /m", "/m"::equals);
        var unused = locks.cutBefore(client, read, 1);
        assertEquals(Optional.empty(), client.diagnose().incompleteBecause());
        var unused2 = locks.cutBefore(client, read, 1);
        var unused3 = locks.cutBefore(client, read, 2);
        String gap = client.diagnose().incompleteBecause().orElse("");
        assertTrue(gap.startsWith("/m: The connection breaks whenever this node is read"), gap);
        held.close();
        waiting.get(10, TimeUnit.SECONDS).close();
    }

    @Test
    void diagnosisIsReadableText() {
        Instant noon = Instant.parse("2026-11-21T12:00:00Z");
        Diagnosis diagnosis = new Diagnosis(
                List.of(new Diagnosis.OwnRequest(
                        new LockObserver.Request(1, "/a", LockObserver.Kind.MUTEX, 1, ""), noon, "main", false)),
                List.of(),
                List.of(List.of(
                        new Diagnosis.CycleMember(new Owner("", "host", 7), Optional.of("/a"), "/b", noon),
                        new Diagnosis.CycleMember(new Owner("bob", "other", 8), Optional.empty(), "/a", noon))),
                Optional.of("it was late"),
                new SessionStatus(SessionState.CONNECTED, 0x17, noon, Duration.ofSeconds(10)));
        assertEquals(
                """
                session: CONNECTED since 2026-11-21T12:00:00Z, session 0x17, session timeout 10000 ms
                holds:
                  mutex /a since 2026-11-21T12:00:00Z, asked for by thread main
                waits for nothing
                deadlock suspected: each waits for the next, and the last for the first:
                  a client (host, process 7) holds /a and waits for /b since 2026-11-21T12:00:00Z
                  bob (other, process 8) waits for /a since 2026-11-21T12:00:00Z
                the search for deadlocks is incomplete: it was late""",
                diagnosis.toString());
    }
}
