// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.ClientClosedException;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.ReleaseRequest;
import io.latchkey.lock.SessionState;
import io.latchkey.testkit.contract.LockFixture.Feature;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;

/** The guarantees of closing a client with a grace, tested with a mutex. {@link LeaseContract} has them too. */
abstract class GraceContract extends LockContract {
    static final Duration HOUR = Duration.ofHours(1);

    /** The mutex at the path of this test. */
    final Mutex mutex(LockClient client) {
        return client.mutex(path());
    }

    /** Closes the client with this grace, in a thread that holds no lease of it. */
    private Caller<Boolean> closing(LockClient client, Duration grace) {
        return inThread(() -> {
            client.close(grace);
            return Thread.currentThread().isInterrupted();
        });
    }

    @Guarantee(
            id = "LK-LEASE-49",
            says = "close with a grace refuses new requests, ends waiting ones, and lets a holder finish",
            needs = Feature.GRACE)
    @SuppressWarnings("NullAway") // that is what it is about
    void closeWithAGrace() throws Exception {
        LockClient client = client();
        assertThrows(NullPointerException.class, () -> client.close(null));
        assertThrows(IllegalArgumentException.class, () -> client.close(Duration.ofNanos(-1)));
        Lease lease = acquired(mutex(client));
        CompletableFuture<Lease> waiting = queued(mutex(client));
        CompletableFuture<Lease> next = queued(mutex(client()));
        Caller<Boolean> closing = closing(client, HOUR);
        refused(ClientClosedException.class, waiting);
        assertThrows(
                ClientClosedException.class, () -> client.mutex(path("other")).acquire());
        assertTrue(lease.isValid());
        assertFalse(closing.result().isDone());
        assertEquals(ReleaseOutcome.RELEASED, lease.release());
        soon(closing.result());
        soon(next).close();
        client.close(HOUR);
    }

    @Guarantee(
            id = "LK-LEASE-50",
            says = "a lease that is held when the grace has passed is lost",
            needs = Feature.GRACE)
    void graceOver() throws Exception {
        LockClient client = client();
        Lease lease = acquired(mutex(client));
        soon(closing(client, moment()).result());
        assertEquals(LossCause.CLIENT_CLOSED, soon(lease.lost()));
        assertFree(mutex(client()));
    }

    @Guarantee(
            id = "LK-LEASE-51",
            says = "close with a grace asks holders that listen to release",
            needs = {Feature.GRACE, Feature.ADMINISTRATION})
    void holdersAreAsked() throws Exception {
        LockClient client = client();
        Lease lease = acquired(mutex(client));
        CompletableFuture<ReleaseRequest> asked = lease.releaseRequested().toCompletableFuture();
        Caller<Boolean> closing = closing(client, HOUR);
        assertEquals(ProcessHandle.current().pid(), soon(asked).by().processId());
        assertTrue(lease.isValid());
        lease.close();
        soon(closing.result());
        assertFree(mutex(client()));
    }

    @Guarantee(
            id = "LK-LEASE-52",
            says = "close with a grace does not wait for the thread that calls it, in a body or in a callback",
            needs = Feature.GRACE)
    void closeFromABody() throws Exception {
        LockClient client = client();
        Caller<Boolean> body = inThread(() -> mutex(client).call(lease -> {
            client.close(HOUR);
            return lease.isValid();
        }));
        assertTrue(soon(body.result()));
        assertFree(mutex(client()));
        LockClient another = client();
        Lease blocking = acquired(mutex(client()));
        CompletableFuture<Boolean> stage = queued(mutex(another)).thenApply(lease -> {
            another.close(HOUR);
            boolean valid = lease.isValid();
            lease.close();
            return valid;
        });
        blocking.close();
        try {
            assertTrue(soon(stage));
        } finally {
            another.close(); // ends the wait of a stage that waits for itself
        }
        assertFree(mutex(client()));
    }

    @Guarantee(
            id = "LK-LEASE-53",
            says = "an interrupt ends the wait of close with a grace and not the grace, which close ends",
            needs = Feature.GRACE)
    void interruptedClose() throws Exception {
        LockClient client = client();
        Lease lease = acquired(mutex(client));
        CompletableFuture<Lease> waiting = queued(mutex(client));
        Caller<Boolean> closing = closing(client, HOUR);
        refused(ClientClosedException.class, waiting);
        closing.thread().interrupt();
        assertTrue(soon(closing.result()), "the interrupt status is not set");
        assertTrue(lease.isValid());
        client.close();
        assertEquals(LossCause.CLIENT_CLOSED, soon(lease.lost()));
        assertFree(mutex(client()));
    }

    @Guarantee(
            id = "LK-LEASE-54",
            says = "a thread locks a view again while its client waits for holders to close",
            needs = {Feature.GRACE, Feature.LOCK_VIEWS})
    @SuppressWarnings("LockNotBeforeTry") // the view is what is tested
    void viewWhileClosing() throws Exception {
        LockClient client = client();
        Lock view = mutex(client).asLock();
        view.lock();
        client.close(HOUR);
        view.lock();
        view.unlock();
        view.unlock();
        assertFree(mutex(client()));
    }

    @Guarantee(
            id = "LK-LEASE-56",
            says = "close with a grace that has passed returns when the client is closed",
            needs = {Feature.GRACE, Feature.SESSION_VIEWS})
    void closedOnReturn() throws Exception {
        // Several times: a client may be closed in the moment between a return that is too early and the look at it.
        for (int i = 0; i < 4; i++) {
            LockClient client = client();
            acquired(mutex(client));
            Caller<SessionState> closing = inThread(() -> {
                client.close(moment());
                return client.session().state();
            });
            assertEquals(SessionState.CLOSED, soon(closing.result()));
        }
    }
}
