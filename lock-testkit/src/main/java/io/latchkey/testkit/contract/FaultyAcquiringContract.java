// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.LockTimeoutException;
import io.latchkey.testkit.contract.LockFixture.Feature;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The guarantees of {@link Acquirable} for every lock while connections and sessions fail. Each recipe's contract has
 * it; it cannot be extended by itself.
 */
abstract class FaultyAcquiringContract extends AcquirableContract {
    @Guarantee(id = "LK-FAULT-01", says = "the next is granted when a holder's session has ended")
    void holderExpires() throws Exception {
        LockClient expiring = client();
        Lease held = acquired(lock(expiring));
        CompletableFuture<Lease> next = queued(lock(client()));
        assertTrue(held.isValid());
        fixture().expire(expiring);
        soon(next).close();
    }

    @Guarantee(
            id = "LK-FAULT-02",
            says = "a waiter whose session ends queues again and is served, though others were ahead of it")
    void waiterExpires() throws Exception {
        Lease held = acquired(lock(client()));
        LockClient expiring = client();
        CompletableFuture<Lease> asked = queued(lock(expiring));
        Acquirable other = lock(client());
        int standing = other.queue().size();
        fixture().disconnect(expiring); // so that it does not ask again before the others
        fixture().expire(expiring);
        assertTrue(other.queue().size() < standing);
        Caller<Boolean> later = holdsOnce(queued(other));
        fixture().heal(expiring);
        Caller<Boolean> served = holdsOnce(asked);
        held.close();
        assertTrue(soon(later.result()));
        assertTrue(soon(served.result()));
        assertFree(other);
    }

    @Guarantee(
            id = "LK-FAULT-03",
            says = "the end of a waiter's session neither admits requests behind it early nor delays them")
    void waiterInTheMiddleExpires() throws Exception {
        Lease held = acquired(lock(client()));
        LockClient expiring = client();
        CompletableFuture<Lease> expired = queued(lock(expiring));
        Acquirable last = lock(client());
        CompletableFuture<Lease> behind = queued(last);
        int standing = last.queue().size();
        fixture().disconnect(expiring); // so that it does not ask again at once
        fixture().expire(expiring);
        assertTrue(last.queue().size() < standing);
        assertWaits(behind, last);
        assertTrue(expired.cancel(false)); // it would ask again
        fixture().heal(expiring);
        held.close();
        soon(behind).close();
        assertFree(last);
    }

    @Guarantee(
            id = "LK-FAULT-04",
            says = "a request that was lost on its way is made again",
            needs = Feature.WIRE_FAULTS)
    void createLost() throws Exception {
        LockClient client = client();
        acquired(lock(client)).close();
        CompletableFuture<?> lost = fixture().loseNextCreate(client);
        Lease held = acquired(lock(client));
        soon(lost);
        assertTrue(held.isValid());
        held.close();
        assertFree(lock(client()));
    }

    @Guarantee(
            id = "LK-FAULT-05",
            says = "a request whose answer was lost is granted, and stands in the queue once",
            needs = Feature.WIRE_FAULTS)
    void answerLost() throws Exception {
        LockClient client = client();
        Lease first = acquired(lock(client));
        int each = lock(client).queue().size();
        first.close();
        CompletableFuture<?> lost = fixture().loseAnswerOfNextCreate(client);
        Lease held = acquired(lock(client));
        soon(lost);
        assertTrue(held.isValid());
        assertEquals(each, lock(client).queue().size());
        held.close();
        assertFree(lock(client()));
    }

    @Guarantee(
            id = "LK-FAULT-06",
            says = "a timed request whose answer was lost leaves nothing",
            needs = Feature.WIRE_FAULTS)
    void answerLostAndOutOfTime() throws Exception {
        LockClient client = client();
        acquired(lock(client)).close();
        Lease blocking = acquired(blocker(client()));
        CompletableFuture<?> lost = fixture().loseAnswerOfNextCreate(client);
        // Enough time to send the request: an attempt that times out before has lost no response.
        assertEquals(Optional.empty(), lock(client).tryAcquire(moment().multipliedBy(5)));
        soon(lost);
        blocking.close();
        assertFree(lock(client()));
    }

    @Guarantee(
            id = "LK-FAULT-07",
            says = "a release whose answer was lost lets the next in",
            needs = Feature.WIRE_FAULTS)
    void releaseAnswerLost() throws Exception {
        LockClient client = client();
        Lease held = acquired(lock(client));
        CompletableFuture<?> lost = fixture().loseAnswerOfNextDelete(client);
        held.close();
        soon(lost);
        assertEquals(LeaseState.RELEASED, held.state());
        assertFree(lock(client()));
        acquired(lock(client)).close();
    }

    @Guarantee(
            id = "LK-FAULT-08",
            says = "a thread that is interrupted while the answer is on its way leaves nothing",
            needs = Feature.WIRE_FAULTS)
    void interruptedWhileCreating() throws Exception {
        LockClient client = client();
        acquired(lock(client)).close();
        LockFixture.MessageHold answers = fixture().holdAnswersOfCreates(client);
        Caller<Lease> caller = inThread(lock(client)::acquire);
        soon(answers.caught());
        caller.thread().interrupt();
        refused(InterruptedException.class, caller.result());
        answers.close();
        assertFree(lock(client()));
    }

    @Guarantee(
            id = "LK-FAULT-09",
            says = "a request that is cancelled while the answer is on its way leaves nothing",
            needs = Feature.WIRE_FAULTS)
    void cancelledWhileCreating() throws Exception {
        LockClient client = client();
        acquired(lock(client)).close();
        LockFixture.MessageHold answers = fixture().holdAnswersOfCreates(client);
        CompletableFuture<Lease> asked = lock(client).acquireAsync();
        soon(answers.caught());
        assertTrue(asked.cancel(false));
        answers.close();
        assertFree(lock(client()));
    }

    @Guarantee(id = "LK-FAULT-10", says = "a timed request returns in time without a server, and leaves nothing")
    void timedOutOfReach() throws Exception {
        LockClient client = client();
        acquired(lock(client)).close();
        fixture().cutOff(client);
        assertEndsInTime(lock(client), () -> null);
        fixture().heal(client);
        acquired(lock(client)).close();
        assertFree(lock(client()));
    }

    @Guarantee(id = "LK-FAULT-11", says = "a try without a timeout throws if no server can be reached")
    void nowOrNeverOutOfReach() throws Exception {
        LockClient client = briefClient();
        acquired(lock(client)).close();
        fixture().cutOff(client);
        Caller<Optional<Lease>> caller = inThread(lock(client)::tryAcquire);
        refused(LockServiceUnavailableException.class, caller.result());
        fixture().heal(client);
        acquired(lock(client)).close();
        assertFree(lock(client()));
    }

    @Guarantee(id = "LK-FAULT-12", says = "an untimed request waits for the connection")
    void waitsForTheConnection() throws Exception {
        LockClient client = client();
        acquired(lock(client)).close();
        fixture().disconnect(client);
        CompletableFuture<Lease> asked = lock(client).acquireAsync();
        assertFalse(asked.isDone());
        fixture().heal(client);
        soon(asked).close();
        assertFree(lock(client()));
    }

    @Guarantee(
            id = "LK-FAULT-13",
            says = "a grant that reaches a client whose session has ended is lost, and the next holder's lease stands",
            needs = Feature.WIRE_FAULTS)
    void expiresAtTheGrant() throws Exception {
        Lease held = acquired(lock(client()));
        LockClient expiring = client();
        CompletableFuture<Lease> asked = queued(lock(expiring));
        assertWaits(asked, lock(expiring));
        LockFixture.MessageHold events = fixture().holdEvents(expiring);
        held.close();
        soon(events.caught());
        fixture().expire(expiring);
        Acquirable other = lock(client());
        Lease next = acquired(other);
        int each = other.queue().size();
        events.close();
        await(
                "it has asked again, or was granted",
                () -> asked.isDone() || other.queue().size() > each);
        if (asked.isDone()) {
            soon(soon(asked).lost());
            assertFalse(soon(asked).isValid());
        }
        assertTrue(next.isValid());
        assertEquals(Optional.empty(), lock(client()).tryAcquire());
        next.close();
        soon(asked).close();
        assertFree(other);
    }

    @Guarantee(
            id = "LK-FAULT-14",
            says = "a waiter whose request an operator deletes is served after those that stood behind it",
            needs = Feature.OPERATOR)
    void waitersRequestDeleted() throws Exception {
        Acquirable watching = lock(client());
        Lease held = acquired(lock(client()));
        Acquirable lock = lock(client());
        CompletableFuture<Lease> asked = queued(lock);
        Acquirable last = lock(client());
        CompletableFuture<Lease> behind = queued(last);
        fixture().deleteRequest(path(), 1);
        assertWaits(asked, lock, last);
        assertWaits(behind, lock, last);
        held.close();
        Lease next = soon(behind);
        assertWaits("granted beside the request that stood behind it", asked, lock, last);
        assertTrue(next.isValid());
        next.close();
        soon(asked).close();
        assertFree(watching);
    }

    @Guarantee(id = "LK-FAULT-15", says = "a holder that lost its lease does not release the next one's")
    void lateRelease() throws Exception {
        for (boolean known : new boolean[] {false, true}) {
            LockClient expiring = client();
            Lease held = acquired(lock(expiring));
            assertTrue(held.isValid());
            fixture().expire(expiring);
            Lease next = acquired(lock(client()));
            if (known) {
                soon(held.lost());
            }
            soon(held.releaseAsync());
            held.close();
            assertTrue(next.isValid() && lock(client()).tryAcquire().isEmpty(), "released the next holder's");
            next.close();
            assertFree(lock(client()));
        }
    }

    /** Lets the lease go as soon as it is there; says whether it was valid. */
    private Caller<Boolean> holdsOnce(CompletableFuture<Lease> asked) {
        return inThread(() -> {
            try (Lease lease = asked.get()) {
                return lease.isValid();
            }
        });
    }

    @Guarantee(
            id = "LK-FAULT-16",
            says = "acquire with a time says that no server answered, whether or not others hold",
            needs = Feature.TIMEOUT_REASONS)
    void timedOutOfReachSaysWhy() throws Exception {
        Lease held = acquired(blocker(client()));
        LockClient client = client();
        assertEquals(Optional.empty(), lock(client).tryAcquire());
        fixture().cutOff(client);
        for (int request = 0; request < 2; request++) {
            Throwable failed = refused(LockTimeoutException.class, lock(client).acquireAsync(moment()));
            assertEquals(LockException.Reason.NO_ANSWER, ((LockTimeoutException) failed).reason());
        }
        fixture().heal(client);
        held.close();
        assertFree(lock(client()));
    }
}
