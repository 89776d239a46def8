// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.history;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.Semaphore;
import io.latchkey.testkit.ClientProcess;
import io.latchkey.testkit.ClientRecord;
import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.history.HistoryEvent.EventType;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;
import java.util.stream.Collectors;

/**
 * A record of requests, grants, checks and releases, as the clients saw them, for checkers such as
 * {@link io.latchkey.testkit.check.ExclusionChecker}. Record it by wrapping locks, or step by step with {@link
 * #attempt}. Thread-safe.
 *
 * <p>All times come from one {@link System#nanoTime()}, so all clients have to live in one process. A recorded hold is
 * the time in which a client could rely on it: it begins with the grant to the caller and ends before the release
 * begins, never later.
 */
public final class History implements ClientRecord {
    private final EventLog log = new EventLog();

    /** An empty history that begins now. */
    public History() {}

    /** {@return now, in nanoseconds since the history began} */
    public long now() {
        return log.now();
    }

    @Override
    public long origin() {
        return log.origin();
    }

    /**
     * The lock, with every attempt on it recorded. Leases are recorded too: the results of their holder's checks, their
     * loss, their release. The claims say what they hold; a history cannot read that from the lock.
     *
     * @param client a name for the client, the same for all it does
     * @param lock the lock, which does the work
     * @param claims the access of a holder of the lock: one claim, or one for each member of a multi-lock
     * @return a lock that does what this one does, and records it
     * @throws IllegalArgumentException if there is no claim
     */
    public Acquirable recorded(String client, Acquirable lock, LockClaim... claims) {
        return new RecordedLock(log, client, checked(claims), lock, ServerObservation::nobody);
    }

    /**
     * A lock of this client, recorded in the same way together with the session that each grant is of: the client's
     * proxy has seen it. So checkers know even of a grant that reached the client after its session had ended.
     *
     * <pre>{@code
     * LockClient locks = client.client();
     * history.recorded(client, locks.readWriteLock("/doc").readLock(), LockClaim.shared("/doc"));
     * history.recorded(client, locks.semaphore("/pool", 3).permits(2), LockClaim.permits("/pool", 2, 3));
     * MultiLock both = locks.multiLock(locks.mutex("/a"), locks.mutex("/b"));
     * history.recorded(client, both, LockClaim.exclusive("/a"), LockClaim.exclusive("/b"));
     * }</pre>
     *
     * @param client whose lock it is
     * @param lock a lock of that client, which does the work
     * @param claims the access of a holder of the lock: one claim, or one for each member of a multi-lock
     * @return a lock that does what this one does, and records it
     * @throws IllegalArgumentException if there is no claim
     */
    public Acquirable recorded(FaultyClient client, Acquirable lock, LockClaim... claims) {
        client.recordedIn(this);
        return new RecordedLock(log, client.name(), checked(claims), lock, () -> ServerObservation.of(client.proxy()));
    }

    /**
     * A lock of a simulated client, recorded in the same way together with the session that each grant is of.
     *
     * @param locks the simulation, which knows whose every node is
     * @param client a name for the client, the same for all it does
     * @param lock a lock of a client of that simulation, which does the work
     * @param claims the access of a holder of the lock: one claim, or one for each member of a multi-lock
     * @return a lock that does what this one does, and records it
     * @throws IllegalArgumentException if there is no claim
     */
    public Acquirable recorded(SimulatedLocks locks, String client, Acquirable lock, LockClaim... claims) {
        return new RecordedLock(log, client, checked(claims), lock, () -> ServerObservation.of(locks));
    }

    /**
     * The client's mutex on the path, recorded in the same way together with the session that each grant is of.
     *
     * @param client whose mutex it is
     * @param path the mutex's
     * @return a lock that does what the mutex does, and records it
     */
    public Acquirable recordedMutex(FaultyClient client, String path) {
        return recorded(client, client.client().mutex(path), LockClaim.exclusive(path));
    }

    /**
     * Downgrades a recorded write lease as {@link ReadWriteLock#downgrade} does, and records that the client held on:
     * its exclusive hold ends in the moment in which the shared one begins. If it fails, the write lease stays recorded
     * as it was.
     *
     * @param lock the lock itself, not recorded
     * @param write a lease of its write lock, as a recorded lock gave it
     * @return the read lease, recorded too
     * @throws IllegalArgumentException if the lease is not one that a history gave
     * @throws io.latchkey.lock.LeaseLostException if the write lease is lost
     */
    public static Lease downgrade(ReadWriteLock lock, Lease write) {
        if (!(write instanceof RecordedLease recorded)) {
            throw new IllegalArgumentException("not a recorded lease: " + write);
        }
        return recorded.downgradedBy(lock);
    }

    /**
     * The view of a mutex, with every hold of every thread recorded, re-entries too: each is an attempt of its own, of
     * the client and thread together. Views show neither tokens nor sessions, and since their holds are nested, only
     * {@link io.latchkey.testkit.check.LinearizabilityChecker#ofViews} can judge them.
     *
     * @param client a name for the client, the same for all it does
     * @param view from {@link io.latchkey.lock.Mutex#asLock()}
     * @param path the mutex's path
     * @return a view that does what this one does, and records it
     */
    public Lock recordedView(String client, Lock view, String path) {
        return new RecordedView(log, client, view, LockClaim.exclusive(path));
    }

    /**
     * Changes the capacity as {@link Semaphore#resize} does, and records when that began and, if it succeeded, when it
     * was done.
     *
     * @param client a name for the client, the same for all it does
     * @param semaphore the semaphore to resize
     * @param path the semaphore's
     * @param capacity how many permits it has from then on
     * @throws InterruptedException if the current thread is interrupted; the capacity may have been changed
     */
    public void resize(String client, Semaphore semaphore, String path, int capacity) throws InterruptedException {
        Attempt attempt =
                log.added(client, List.of(LockClaim.permits(path, capacity, capacity)), ServerObservation.nobody());
        attempt.resizing();
        semaphore.resize(capacity);
        attempt.resized();
    }

    /**
     * Records that the client is about to ask for the path alone. Call it right before it asks.
     *
     * @param client a name for the client, the same for all it does
     * @param path the path, or whatever names what is locked
     * @return what comes of it is recorded with this
     */
    public Attempt attempt(String client, String path) {
        return attempt(client, LockClaim.exclusive(path));
    }

    /**
     * Records that the client is about to ask for all of this at once. Call it right before it asks.
     *
     * @param client a name for the client, the same for all it does
     * @param claims what it will hold: one, or one for each member of a multi-lock
     * @return what comes of it is recorded with this
     * @throws IllegalArgumentException if there is no claim
     */
    public Attempt attempt(String client, LockClaim... claims) {
        return log.attempt(client, checked(claims), ServerObservation.nobody(), "");
    }

    /**
     * Records the same of a client whose proxy sees the session that the grant is of.
     *
     * @param client whose attempt it is
     * @param claims what it will hold: one, or one for each member of a multi-lock
     * @return what comes of it is recorded with this
     * @throws IllegalArgumentException if there is no claim
     */
    public Attempt attempt(FaultyClient client, LockClaim... claims) {
        client.recordedIn(this);
        return log.attempt(client.name(), checked(claims), ServerObservation.of(client.proxy()), "");
    }

    private static List<LockClaim> checked(LockClaim... claims) {
        if (claims.length == 0) {
            throw new IllegalArgumentException("no claims: whatever is acquired holds something");
        }
        return List.of(claims);
    }

    /**
     * Ends the client's session as {@link FaultyClient#expire} does, and records when that began and when the server
     * had done it. Checkers that need to know which sessions are alive need a record of every end, so use this method
     * instead.
     *
     * @param client whose session
     * @param order the order in which server and client learn of the end, and the way in which it ends
     * @return as of {@link FaultyClient#expire}
     * @throws IllegalStateException if the client has not connected yet
     */
    public CompletableFuture<Long> expire(FaultyClient client, ExpiryOrder order) {
        client.recordedIn(this);
        long session = client.proxy().session().orElse(0);
        if (order == ExpiryOrder.CLIENT_FIRST) {
            note(client.name(), "session expires: " + order);
            return client.expire(order);
        }
        ExpiryOrder recorded = client.expiresByDecree(order) ? ExpiryOrder.SERVER_FIRST : order;
        sessionEnding(client.name(), session, recorded.name());
        return client.expire(order).thenApply(ended -> {
            sessionEnded(client.name(), ended);
            return ended;
        });
    }

    /**
     * Records that a session is about to be ended. Call it before the fault.
     *
     * @param client the name of the client whose session it is
     * @param session the server's id of the session, 0 if it is not known
     * @param how by what; the name of an {@link ExpiryOrder}, if it is one
     */
    public void sessionEnding(String client, long session, String how) {
        log.add(new HistoryEvent(now(), client, 0, List.of(), EventType.SESSION_ENDING, 0, session, how));
    }

    /**
     * Records that a session has ended at the server. Call it when that is certain.
     *
     * @param client the name of the client whose session it was
     * @param session the server's id of the session, 0 if it is not known
     */
    public void sessionEnded(String client, long session) {
        log.add(new HistoryEvent(now(), client, 0, List.of(), EventType.SESSION_ENDED, 0, session, ""));
    }

    /**
     * Records what a client in a process of its own has believed of the path, alone. Its clock has to be that of this
     * process too, as on Linux.
     *
     * @param client the client, which gives the name
     * @param path the mutex's
     * @param belief what it has told
     */
    public void believed(ClientProcess client, String path, ClientProcess.Belief belief) {
        Attempt attempt = log.added(client.toString(), List.of(LockClaim.exclusive(path)), ServerObservation.nobody());
        attempt.believed(belief);
    }

    /**
     * Records something for the reader, such as a fault that has no event of its own. To
     * {@link io.latchkey.testkit.check.LivenessChecker} it counts as a fault.
     *
     * @param client the name of the client that it concerns
     * @param text one line
     */
    public void note(String client, String text) {
        log.add(new HistoryEvent(now(), client, 0, List.of(), EventType.NOTE, 0, 0, text));
    }

    /** {@return the events recorded so far, in order of time, without later ones} */
    public List<HistoryEvent> events() {
        return log.events();
    }

    @Override
    public List<Line> lines() {
        return events().stream()
                .map(event -> new Line(log.origin() + event.nanos(), event.client(), event.words()))
                .toList();
    }

    /** {@return one line an event} */
    @Override
    public String toString() {
        return events().stream().map(HistoryEvent::toString).collect(Collectors.joining("\n"));
    }
}
