// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.turns;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.zk.internal.turns.TurnWorld.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How many requests are at the server, and which: the table of {@link TurnQueue}, and the moments between its rows. */
class TurnQueueRequestsTest {
    private static final int MOST = 4;
    private static final long PATIENCE = TurnQueue.PATIENCE.toNanos();
    private static final Duration LONGEST = Duration.ofHours(1);
    private static final long CAREFUL = Duration.ofMillis(50).toNanos();

    private final List<Node> requests = new ArrayList<>();
    private final List<Long> wakes = new ArrayList<>();
    private long now;
    private int room = 2;
    private boolean roomIsKnown = true;

    // ---- permits

    @Test
    void eachWaiterHasARequest_upToTheCapacity() {
        TurnQueue<Lease> permits = permits();
        callers(permits, 3);
        assertEquals(2, open());
    }

    @Test
    void oneRequestIsMade_beforeTheCapacityIsKnown() {
        roomIsKnown = false;
        TurnQueue<Lease> permits = permits();
        callers(permits, 2);
        assertEquals(1, open());
        roomIsKnown = true;
        permits.look();
        assertEquals(2, open());
    }

    @Test
    void nextCallerHasARequestAtOnce_whileNothingWasReleased() {
        TurnQueue<Lease> permits = permits();
        callers(permits, 1);
        grant(permits, 0);
        callers(permits, 1);
        assertEquals(1, open());
    }

    /** A caller that was just served may release at once, so the turn may cost nothing. */
    @Test
    void nextCallerHasARequestAfterPatienceOnly_onceACallerHasReleased() {
        room = 3;
        TurnQueue<Lease> permits = permits();
        callers(permits, 1);
        Node held = grant(permits, 0);
        callers(permits, 1);
        assertTrue(held.passOn());
        callers(permits, 1);
        assertEquals(0, open());
        assertEquals(List.of(PATIENCE), wakes);
        pass(permits, PATIENCE - 1);
        assertEquals(0, open());
        pass(permits, 1);
        assertEquals(1, open());
    }

    /** The last release was long ago: callers do not come and go. */
    @ParameterizedTest
    @CsvSource({"-1, 0", "0, 1"})
    void nextCallerHasARequestAtOnce_whenNothingWasReleasedForAWhile(long nanos, int expected) {
        room = 3;
        TurnQueue<Lease> permits = permits();
        callers(permits, 1);
        Node held = grant(permits, 0);
        callers(permits, 1);
        now = 1;
        assertTrue(held.passOn());
        now += CAREFUL + nanos;
        callers(permits, 1);
        assertEquals(expected, open());
    }

    /** The turns of its own nodes come sooner than a request would be granted. */
    @ParameterizedTest
    @CsvSource({"1, 0", "4, 0", "5, 1", "6, 2", "7, 2"})
    void waitersBeyondTwoTurnsOfEachNodeHaveARequest_whenThisClientHoldsAll(int waiters, int expected) {
        TurnQueue<Lease> permits = permits();
        callers(permits, 2);
        grant(permits, 0);
        grant(permits, 1);
        callers(permits, waiters);
        assertEquals(expected, open());
    }

    @Test
    void onlyWaitersWithoutPatienceHaveARequest_whenThisClientHoldsAll() {
        room = 3;
        TurnQueue<Lease> permits = permits();
        callers(permits, 3);
        grant(permits, 0);
        grant(permits, 1);
        grant(permits, 2);
        callers(permits, 2);
        pass(permits, 1);
        callers(permits, 1);
        pass(permits, PATIENCE - 2);
        assertEquals(0, open());
        pass(permits, 1);
        assertEquals(2, open());
        pass(permits, 1);
        assertEquals(3, open());
    }

    /** Its last turns are near, and the next node should be there then. */
    @Test
    void nodeThatIsHalfUsedUpHasARequest_whenThisClientHoldsAll() {
        TurnQueue<Lease> permits = permits();
        callers(permits, 2);
        Node used = grant(permits, 0);
        grant(permits, 1);
        callers(permits, MOST / 2);
        for (int turn = 1; turn < MOST / 2; turn++) {
            assertTrue(used.passOn());
        }
        assertEquals(0, open());
        assertTrue(used.passOn());
        assertEquals(0, open(), "no caller waits");
        callers(permits, 1);
        assertEquals(1, open());
    }

    @Test
    void eachWaiterHasARequest_whenNoNodeIsPassedOn() {
        TurnQueue<Lease> permits = permits();
        callers(permits, 2);
        Node one = grant(permits, 0);
        Node two = grant(permits, 1);
        callers(permits, 2);
        assertEquals(0, open());
        one.mayPassOn = false;
        one.node.changed();
        assertEquals(0, open(), "the other node serves them");
        two.mayPassOn = false;
        two.node.changed();
        assertEquals(2, open());
    }

    // ---- requests without a waiter

    /** It would be in the way of other clients. */
    @Test
    void requestIsWithdrawnAtOnce_whenAnotherRequestServesItsWaiter() {
        TurnQueue<Lease> permits = permits();
        callers(permits, 1);
        Node held = grant(permits, 0);
        callers(permits, 1);
        assertEquals(1, open());
        assertTrue(held.passOn());
        assertEquals(0, open());
    }

    /** Others wait anyway, and a caller that returns soon finds its request made. */
    @Test
    void requestIsWithdrawnAfterPatienceOnly_whenThisClientHoldsAlone() {
        TurnQueue<Lease> mutex = lock(MOST);
        writers(mutex, 1);
        Node held = grant(mutex, 0);
        writers(mutex, 1);
        assertEquals(1, open());
        now = 7;
        assertTrue(held.passOn());
        assertEquals(1, open());
        pass(mutex, PATIENCE - 1);
        assertEquals(1, open());
        pass(mutex, 1);
        assertEquals(0, open());
    }

    /** The time without a waiter begins again with each caller. */
    @Test
    void requestIsKept_whenACallerReturnsBeforePatienceEnds() {
        TurnQueue<Lease> mutex = lock(MOST);
        writers(mutex, 1);
        Node held = grant(mutex, 0);
        writers(mutex, 1);
        assertTrue(held.passOn());
        pass(mutex, PATIENCE - 1);
        writers(mutex, 1);
        assertTrue(held.passOn());
        pass(mutex, 1);
        assertEquals(1, open());
        pass(mutex, PATIENCE - 1);
        assertEquals(0, open());
    }

    @Test
    void requestIsWithdrawnAtOnce_whenItsWaiterGivesUp() {
        TurnQueue<Lease> mutex = lock(MOST);
        writers(mutex, 1);
        grant(mutex, 0);
        Caller waiter = writers(mutex, 1).get(0);
        mutex.leave(waiter);
        assertEquals(0, open());
    }

    // ---- what callers hear

    /** The position counts the waiters ahead and the nodes that hold. Where a permit may be free, none is reported. */
    @Test
    void callersHearTheirPosition_whereTheyWait() {
        TurnQueue<Lease> permits = permits();
        callers(permits, 1);
        grant(permits, 0);
        List<Caller> waiters = new ArrayList<>(callers(permits, 3));
        assertEquals(
                List.of(0, 0, 3), waiters.stream().map(each -> each.position).toList());
        grant(permits, 1);
        assertEquals(4, callers(permits, 1).get(0).position);
    }

    // ---- readers

    /** The readers that come then do not wait for a round trip. */
    @ParameterizedTest
    @CsvSource({"2, 0", "3, 1"})
    void nextNodeIsAskedForAhead_whenReadersHaveUsedUpHalf(int readers, int expected) {
        TurnQueue<Lease> lock = lock(MOST);
        lock.call(new Caller(Kind.READER));
        grant(lock, 0);
        for (int i = 1; i < readers; i++) {
            lock.call(new Caller(Kind.READER));
        }
        assertEquals(expected, open());
        assertEquals(expected, requests.stream().filter(each -> each.ahead).count());
    }

    /** A shared request is granted sooner beside readers; an exclusive one serves both kinds behind a writer. */
    @ParameterizedTest
    @CsvSource({"WRITER, true", "READER, false"})
    void nextRequestIsExclusive_behindAWriterIfAnyWriterWaits(Kind holder, boolean exclusive) {
        TurnQueue<Lease> lock = lock(1);
        lock.call(new Caller(holder));
        grant(lock, 0);
        lock.call(new Caller(Kind.READER));
        lock.call(new Caller(Kind.WRITER));
        assertEquals(1, open());
        assertEquals(exclusive, last().exclusive);
    }

    // ---- callers that give up, requests that fail, nodes that end

    /** A reader behind a writer that gives up holds beside the reader that holds. */
    @Test
    void readerJoins_whenTheWriterBeforeItGivesUp() {
        TurnQueue<Lease> lock = lock(MOST);
        lock.call(new Caller(Kind.READER));
        grant(lock, 0);
        Caller writer = writers(lock, 1).get(0);
        Caller reader = new Caller(Kind.READER);
        lock.call(reader);
        assertFalse(reader.holds);
        lock.leave(writer);
        assertTrue(reader.holds);
        assertEquals(0, open());
    }

    /** Beside shared nodes a reader waits for an exclusive one longer than for a shared one. */
    @Test
    void exclusiveRequestIsReplaced_whenOnlyReadersWaitBesideSharedNodes() {
        TurnQueue<Lease> lock = lock(1);
        lock.call(new Caller(Kind.READER));
        grant(lock, 0);
        Caller writer = writers(lock, 1).get(0);
        lock.call(new Caller(Kind.READER));
        assertTrue(last().exclusive);
        lock.leave(writer);
        assertEquals(1, open());
        assertFalse(last().exclusive);
    }

    @Test
    void exclusiveRequestIsReplaced_whenOnlyReadersWaitAndNothingIsHeld() {
        TurnQueue<Lease> lock = lock(MOST);
        Caller writer = writers(lock, 1).get(0);
        lock.call(new Caller(Kind.READER));
        lock.leave(writer);
        assertEquals(1, open());
        assertFalse(last().exclusive);
    }

    /** It serves the reader too, and then the other writer. */
    @Test
    void exclusiveRequestIsKept_whileAWriterWaitsOrHolds() {
        TurnQueue<Lease> lock = lock(MOST);
        Caller first = writers(lock, 1).get(0);
        lock.call(new Caller(Kind.READER));
        Caller second = writers(lock, 1).get(0);
        lock.leave(first);
        assertEquals(1, requests.size());
        Node held = grant(lock, 0);
        assertTrue(held.passOn(), "to the other writer");
        assertTrue(second.holds);
        Caller third = writers(lock, 1).get(0);
        lock.call(new Caller(Kind.READER));
        assertEquals(2, requests.size());
        lock.leave(third);
        assertEquals(2, requests.size());
        assertEquals(1, open());
    }

    @Test
    void allWaitersAreRefused_whenTheirRequestIs() {
        TurnQueue<Lease> permits = permits();
        List<Caller> waiters = callers(permits, 3);
        IllegalStateException why = new IllegalStateException("refused");
        permits.refused(requests.get(0).made, why);
        assertEquals(
                List.of(why, why, why),
                waiters.stream().map(each -> each.refusal).toList());
        assertEquals(1, requests.stream().filter(each -> each.withdrawn).count(), "the other request");
        Caller later = callers(permits, 1).get(0);
        permits.refused(requests.get(1).made, why);
        assertNull(later.refusal, "it did not wait for that request");
    }

    @ParameterizedTest
    @CsvSource({"-1, true", "0, false"})
    void nodeIsNotPassedOn_afterItsTime(long nanos, boolean passedOn) {
        TurnQueue<Lease> mutex = lock(MOST);
        now = 5;
        writers(mutex, 1);
        Node held = grant(mutex, 0);
        writers(mutex, 1);
        now += LONGEST.toNanos() + nanos;
        assertEquals(passedOn, held.passOn());
    }

    @Test
    void nodeIsNotPassedOn_afterItsTurns() {
        TurnQueue<Lease> mutex = lock(2);
        writers(mutex, 1);
        Node held = grant(mutex, 0);
        writers(mutex, 2);
        assertTrue(held.passOn());
        assertFalse(held.passOn());
    }

    /** Its caller gave up as it was granted. */
    @Test
    void leaseIsEnded_whenNoCallerTakesIt() {
        TurnQueue<Lease> mutex = lock(MOST);
        Caller waiter = writers(mutex, 1).get(0);
        Node granted = last();
        mutex.leave(waiter);
        Lease unused = grant(mutex, granted);
        assertTrue(unused.abandoned);
    }

    /** The next readers take it. It ends with the last node that has holders. */
    @Test
    void nodeThatWasAskedForAheadStays_untilTheReadersBeforeItHaveReleased() {
        TurnQueue<Lease> lock = lock(MOST);
        lock.call(new Caller(Kind.READER));
        Node first = grant(lock, 0);
        lock.call(new Caller(Kind.READER));
        lock.call(new Caller(Kind.READER));
        Lease spare = grant(lock, last());
        assertFalse(spare.abandoned);
        assertTrue(first.node.mayBeJoined());
        first.node.ended();
        assertTrue(spare.abandoned);
    }

    @Test
    void nodeThatHasEndedIsNotHalfUsedUp() {
        TurnQueue<Lease> permits = permits();
        callers(permits, 2);
        Node used = grant(permits, 0);
        grant(permits, 1);
        callers(permits, MOST / 2);
        for (int turn = 0; turn < MOST / 2; turn++) {
            assertTrue(used.passOn());
        }
        used.node.ended();
        callers(permits, 1);
        pass(permits, PATIENCE);
        grant(permits, 2);
        callers(permits, 1);
        assertEquals(0, open());
    }

    @Test
    void nodeIsHalfUsedUp_whenAnotherHasEndedBeforeThat() {
        TurnQueue<Lease> permits = permits();
        callers(permits, 2);
        Node used = grant(permits, 0);
        Node other = grant(permits, 1);
        callers(permits, MOST / 2);
        for (int turn = 0; turn < MOST / 2; turn++) {
            assertTrue(used.passOn());
        }
        other.node.ended();
        callers(permits, 1);
        pass(permits, PATIENCE);
        grant(permits, 2);
        callers(permits, 1);
        assertEquals(1, open());
    }

    @Test
    void nextCallerHasARequestAtOnce_whenTheNodeHasNoTurnLeft() {
        room = 3;
        TurnQueue<Lease> permits = permits();
        callers(permits, 1);
        Node held = grant(permits, 0);
        for (int turn = 1; turn < MOST; turn++) {
            callers(permits, 1);
            assertTrue(held.passOn());
        }
        callers(permits, 1);
        assertEquals(1, open());
    }

    // ---- parts

    private TurnQueue<Lease> permits() {
        return new TurnQueue<>(new Port(), true, MOST, LONGEST);
    }

    /** A mutex, or one side of a read-write lock. */
    private TurnQueue<Lease> lock(int most) {
        room = 1;
        return new TurnQueue<>(new Port(), false, most, LONGEST);
    }

    private static List<Caller> callers(TurnQueue<Lease> turns, int count) {
        return called(turns, count, Kind.PERMIT);
    }

    private static List<Caller> writers(TurnQueue<Lease> turns, int count) {
        return called(turns, count, Kind.WRITER);
    }

    private static List<Caller> called(TurnQueue<Lease> turns, int count, Kind kind) {
        List<Caller> callers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Caller next = new Caller(kind);
            callers.add(next);
            turns.call(next);
        }
        return callers;
    }

    private Node grant(TurnQueue<Lease> turns, int request) {
        Node granted = requests.get(request);
        grant(turns, granted);
        return granted;
    }

    /** Returns the first lease of the node. */
    private static Lease grant(TurnQueue<Lease> turns, Node granted) {
        Lease first = new Lease();
        granted.node = turns.granted(granted.made, granted, first).orElseThrow();
        granted.node.begin(first);
        return first;
    }

    private void pass(TurnQueue<Lease> turns, long nanos) {
        now += nanos;
        turns.look();
    }

    private long open() {
        return requests.stream()
                .filter(each -> each.node == null && !each.withdrawn)
                .count();
    }

    private Node last() {
        return requests.get(requests.size() - 1);
    }

    private static final class Lease implements TurnQueue.Turn {
        private boolean abandoned;

        @Override
        public boolean isValid() {
            return true;
        }

        @Override
        public void abandon() {
            abandoned = true;
        }
    }

    private static final class Caller implements TurnQueue.Caller<Lease> {
        private final Kind kind;
        private int position;
        private boolean holds;
        private Throwable refusal;

        Caller(Kind kind) {
            this.kind = kind;
        }

        @Override
        public boolean reads() {
            return kind == Kind.READER;
        }

        @Override
        public boolean excludes() {
            return kind == Kind.WRITER;
        }

        @Override
        public void queued(int at) {
            position = at;
        }

        @Override
        public boolean take(Lease lease) {
            holds = true;
            return true;
        }

        @Override
        public void refuse(Throwable error) {
            refusal = error;
        }
    }

    /** A request at the server, and then the node that holds. */
    private static final class Node implements TurnQueue.Request, TurnQueue.Place<Lease> {
        private final TurnQueue.NodeRequest made;
        private final boolean exclusive;
        private final boolean ahead;
        private boolean withdrawn;
        private boolean mayPassOn = true;
        private TurnQueue<Lease>.SharedNode node;

        Node(TurnQueue.NodeRequest made, boolean exclusive, boolean ahead) {
            this.made = made;
            this.exclusive = exclusive;
            this.ahead = ahead;
        }

        /** The holder releases. Returns whether a waiter holds by the node now. */
        boolean passOn() {
            return node.takesOver();
        }

        @Override
        public void withdraw() {
            withdrawn = true;
        }

        @Override
        public boolean isExclusive() {
            return exclusive;
        }

        @Override
        public boolean mayPassOn() {
            return mayPassOn;
        }

        @Override
        public Lease newLease() {
            return new Lease();
        }

        @Override
        public void takeBack(Lease lease) {}
    }

    private final class Port implements TurnQueue.Port<Lease> {
        @Override
        public TurnQueue.Request ask(TurnQueue.Caller<Lease> of, boolean ahead, TurnQueue.NodeRequest made) {
            Node next = new Node(made, of.excludes(), ahead);
            requests.add(next);
            return next;
        }

        @Override
        public void wake(long nanos) {
            wakes.add(nanos);
        }

        @Override
        public void isEmpty() {}

        @Override
        public long now() {
            return now;
        }

        @Override
        public int room() {
            return room;
        }

        @Override
        public boolean roomIsKnown() {
            return roomIsKnown;
        }
    }
}
