package io.latchkey.testkit;

import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.testkit.HistoryEvent.What;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;

/**
 * One attempt to acquire, as its client records it in a {@link History}. Call each method at the moment that it names: {@link
 * #granted} after the lock was handed out, {@link #releasing} before the release is begun.
 */
public final class Attempt {
    private static final long NEVER = -1;

    private final History history;
    private final String client;
    private final List<Claim> claims;
    private final long number;
    private final LongFunction<OptionalLong> sessions;
    private final AtomicLong lastValid = new AtomicLong(NEVER);
    private volatile long token;
    private volatile long session;

    Attempt(History history, String client, List<Claim> claims, long number, LongFunction<OptionalLong> sessions) {
        this.history = history;
        this.client = client;
        this.claims = claims;
        this.number = number;
        this.sessions = sessions;
    }

    private void record(What what, String note) {
        record(history.now(), what, note);
    }

    private void record(long nanos, What what, String note) {
        history.add(new HistoryEvent(nanos, client, number, claims, what, token, session, note));
    }

    void requested() {
        record(What.REQUESTED, "");
    }

    /**
     * The client has turned this exclusive hold into a shared one and never let go in between: this one ends and that one begins at the
     * moment that was taken before the downgrade was begun.
     *
     * @param before from {@link #beforeLook()}, before the downgrade
     * @return the attempt that holds from then on
     */
    public Attempt downgraded(long before) {
        record(before, What.RELEASING, "downgrade");
        record(before, What.RELEASED, "downgrade");
        List<Claim> shared =
                claims.stream().map(claim -> Claim.shared(claim.path())).toList();
        Attempt reader = history.added(client, shared, sessions);
        reader.token = token;
        reader.session = session;
        reader.record(before, What.REQUESTED, "downgrade");
        reader.record(before, What.GRANTED, "downgrade");
        return reader;
    }

    /** The client has been told that it holds, with this token; it relies on it from now on. */
    public void granted(long grantedToken) {
        token = grantedToken;
        session = sessions.apply(grantedToken).orElse(0);
        record(What.GRANTED, "");
    }

    /** The attempt has ended without a grant. */
    public void gaveUp(String why) {
        record(What.GAVE_UP, why);
    }

    /** A moment for {@link #valid}: take it before you look whether the lease is valid. */
    public long beforeLook() {
        return history.now();
    }

    /** The client looked whether its lease is valid, and it was: it has relied on it at least until the given moment. */
    public void valid(long beforeLook) {
        lastValid.accumulateAndGet(beforeLook, Math::max);
    }

    /** The client is about to release. */
    public void releasing() {
        record(What.RELEASING, "");
    }

    /** The release has come out so. */
    public void released(ReleaseOutcome outcome) {
        switch (outcome) {
            case RELEASED, PENDING -> record(What.RELEASED, outcome.name());
            case LOST -> record(What.LOST, "found by the release");
            case ALREADY_RELEASED -> record(What.NOTE, "released again");
        }
    }

    /** The client has been told that the lease is lost. */
    public void lost(String cause) {
        record(What.LOST, cause);
    }

    Optional<HistoryEvent> lastLook() {
        long nanos = lastValid.get();
        return nanos == NEVER
                ? Optional.empty()
                : Optional.of(new HistoryEvent(nanos, client, number, claims, What.VALID, token, session, ""));
    }
}
