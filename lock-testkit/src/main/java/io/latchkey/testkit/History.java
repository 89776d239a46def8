package io.latchkey.testkit;

import io.latchkey.lock.Acquirable;
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
     * release.
     *
     * @param client a name for the client, the same for all it does
     * @param path a name for what is locked, the same for all clients
     */
    public Acquirable recorded(String client, String path, Acquirable lock) {
        return new RecordedLock(this, client, path, lock, token -> OptionalLong.empty());
    }

    /**
     * The client's mutex on the path, with every attempt recorded, together with the session that it was granted to: the client's proxy
     * has seen it. So checkers know even of a grant that reached the client after its session had ended.
     */
    public Acquirable recordedMutex(FaultyClient client, String path) {
        LongFunction<OptionalLong> sessions = token -> client.proxy().sessionThatCreated(token);
        return new RecordedLock(this, client.name(), path, client.client().mutex(path), sessions);
    }

    /** Records that the client is about to ask; what comes of it is recorded with the attempt. */
    public Attempt attempt(String client, String path) {
        return attempt(client, path, token -> OptionalLong.empty());
    }

    synchronized Attempt attempt(String client, String path, LongFunction<OptionalLong> sessions) {
        Attempt attempt = new Attempt(
                this,
                Objects.requireNonNull(client, "client"),
                Objects.requireNonNull(path, "path"),
                attempts.size() + 1,
                sessions);
        attempts.add(attempt);
        attempt.requested();
        return attempt;
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
        add(new HistoryEvent(now(), client, 0, "", What.SESSION_ENDING, 0, session, how));
    }

    /** Records that a session has ended at the server. Call it when that is certain. */
    public void sessionEnded(String client, long session) {
        add(new HistoryEvent(now(), client, 0, "", What.SESSION_ENDED, 0, session, ""));
    }

    /** Records something for the reader. */
    public void note(String client, String text) {
        add(new HistoryEvent(now(), client, 0, "", What.NOTE, 0, 0, text));
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
