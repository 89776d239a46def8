package io.latchkey.testkit;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.testkit.HistoryEvent.What;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongFunction;
import java.util.stream.Collectors;

/**
 * Who asked for what, got it, relied on it and let it go, as the clients themselves saw it, for checkers such as {@link
 * MutualExclusionChecker}. Record it by wrapping locks, or step by step with {@link #attempt}. Thread-safe.
 *
 * <p>All times come from one {@link System#nanoTime()}, so all clients have to live in one process. What is recorded is what a client
 * could rely on: a hold begins when the grant was handed out and ends before the release is begun, never later.
 */
public final class History {
    private final long origin = System.nanoTime();
    private final List<HistoryEvent> events = new ArrayList<>();
    private final List<Attempt> attempts = new ArrayList<>();

    /** An empty history that begins now. */
    public History() {}

    /** Now, on the clock of this history. */
    long now() {
        return System.nanoTime() - origin;
    }

    synchronized void add(HistoryEvent event) {
        events.add(event);
    }

    /**
     * The lock, with every attempt on it recorded. Leases are recorded too: what their holder finds when it looks, their loss, their
     * release. What they hold is what the claims say; a history cannot ask the lock for that.
     *
     * @param client a name for the client, the same for all it does
     * @param claims what whoever holds the lock holds: one, or one for each member of a multi-lock
     */
    public Acquirable recorded(String client, Acquirable lock, Claim... claims) {
        return new RecordedLock(this, client, checked(claims), lock, token -> OptionalLong.empty());
    }

    /**
     * A lock of this client, recorded in the same way together with the session that each grant is of: the client's proxy has seen it. So
     * checkers know even of a grant that reached the client after its session had ended.
     *
     * <pre>{@code
     * LockClient locks = client.client();
     * history.recorded(client, locks.readWriteLock("/doc").readLock(), Claim.shared("/doc"));
     * history.recorded(client, locks.semaphore("/pool", 3).permits(2), Claim.permits("/pool", 2, 3));
     * history.recorded(client, locks.multiLock(locks.mutex("/a"), locks.mutex("/b")), Claim.exclusive("/a"), Claim.exclusive("/b"));
     * }</pre>
     */
    public Acquirable recorded(FaultyClient client, Acquirable lock, Claim... claims) {
        LongFunction<OptionalLong> sessions = token -> client.proxy().sessionThatCreated(token);
        return new RecordedLock(this, client.name(), checked(claims), lock, sessions);
    }

    /** The client's mutex on the path, recorded. */
    public Acquirable recordedMutex(FaultyClient client, String path) {
        return recorded(client, client.client().mutex(path), Claim.exclusive(path));
    }

    /**
     * Downgrades a recorded write lease as {@link ReadWriteLock#downgrade} does, and records that the client held on: its exclusive hold
     * ends in the moment in which the shared one begins. If it fails, the write lease stays recorded as it was.
     *
     * @param lock the lock itself, not recorded
     * @param write a lease of its write lock, as this history's recorded lock gave it
     * @throws IllegalArgumentException if the lease is not one that a history gave
     */
    public static Lease downgrade(ReadWriteLock lock, Lease write) {
        if (!(write instanceof RecordedLease recorded)) {
            throw new IllegalArgumentException("not a recorded lease: " + write);
        }
        return recorded.downgradedBy(lock);
    }

    /** Records that the client is about to ask for the path alone; what comes of it is recorded with the attempt. */
    public Attempt attempt(String client, String path) {
        return attempt(client, Claim.exclusive(path));
    }

    /** Records that the client is about to ask for all of this at once; what comes of it is recorded with the attempt. */
    public Attempt attempt(String client, Claim... claims) {
        return attempt(client, checked(claims), token -> OptionalLong.empty());
    }

    Attempt attempt(String client, List<Claim> claims, LongFunction<OptionalLong> sessions) {
        Attempt attempt = added(client, claims, sessions);
        attempt.requested();
        return attempt;
    }

    /** An attempt of which nothing is recorded yet. */
    synchronized Attempt added(String client, List<Claim> claims, LongFunction<OptionalLong> sessions) {
        Attempt attempt =
                new Attempt(this, Objects.requireNonNull(client, "client"), claims, attempts.size() + 1, sessions);
        attempts.add(attempt);
        return attempt;
    }

    private static List<Claim> checked(Claim... claims) {
        if (claims.length == 0) {
            throw new IllegalArgumentException("no claims: whatever is acquired holds something");
        }
        return List.of(claims);
    }

    /** Ends the client's session as {@link FaultyClient#expire} does, and records when that began and when the server had done it. */
    public CompletableFuture<Long> expire(FaultyClient client, ExpiryOrder order) {
        long session = client.proxy().session().orElse(0);
        if (order == ExpiryOrder.CLIENT_FIRST) {
            note(client.name(), "session expires: " + order);
            return client.expire(order);
        }
        sessionEnding(client.name(), session, order.name());
        return client.expire(order).thenApply(ended -> {
            sessionEnded(client.name(), ended);
            return ended;
        });
    }

    /**
     * Records that a session is about to be ended. Call it before the fault.
     *
     * @param session the server's id of the session, 0 if it is not known
     * @param how by what; the name of an {@link ExpiryOrder}, if it is one
     */
    public void sessionEnding(String client, long session, String how) {
        add(new HistoryEvent(now(), client, 0, List.of(), What.SESSION_ENDING, 0, session, how));
    }

    /** Records that a session has ended at the server. Call it when that is certain. */
    public void sessionEnded(String client, long session) {
        add(new HistoryEvent(now(), client, 0, List.of(), What.SESSION_ENDED, 0, session, ""));
    }

    /** Records something for the reader. */
    public void note(String client, String text) {
        add(new HistoryEvent(now(), client, 0, List.of(), What.NOTE, 0, 0, text));
    }

    /** What has been recorded so far, in order of time. */
    public List<HistoryEvent> events() {
        List<HistoryEvent> all;
        List<Attempt> asked;
        synchronized (this) {
            all = new ArrayList<>(events);
            asked = new ArrayList<>(attempts);
        }
        asked.forEach(attempt -> attempt.lastLook().ifPresent(all::add));
        all.sort(Comparator.comparingLong(HistoryEvent::nanos));
        return List.copyOf(all);
    }

    /** One line an event. */
    @Override
    public String toString() {
        return events().stream().map(HistoryEvent::toString).collect(Collectors.joining("\n"));
    }
}
