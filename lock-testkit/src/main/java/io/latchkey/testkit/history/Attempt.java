// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.history;

import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.testkit.ClientProcess;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.history.HistoryEvent.What;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One attempt to acquire, as its client records it in a {@link History}, for locks that {@link History#recorded(String,
 * io.latchkey.lock.Acquirable, LockClaim...)} cannot wrap. Call each method at the moment that it names:
 * {@link #granted} after the lock was handed out, {@link #releasing} before the release is begun. Any thread may call
 * them.
 */
public final class Attempt {
    /** The note of a hold that goes on as another, see {@link #downgraded}. */
    static final String DOWNGRADE = "downgrade";

    /** The note of a loss that the release told. */
    static final String FOUND_BY_RELEASE = "found by the release";

    /** The note of a loss that a look showed when the lease was handed out. */
    static final String FOUND_BY_LOOK = "invalid when it was handed out";

    private static final long NEVER = -1;

    private final History history;
    private final String client;
    private final List<LockClaim> claims;
    private final long number;
    private final ServerObservation observation;
    private final AtomicLong lastValid = new AtomicLong(NEVER);
    private volatile long token;
    private volatile long session;

    Attempt(History history, String client, List<LockClaim> claims, long number, ServerObservation observation) {
        this.history = history;
        this.client = client;
        this.claims = claims;
        this.number = number;
        this.observation = observation;
    }

    private void record(What what, String note) {
        record(history.now(), what, note);
    }

    private void record(long nanos, What what, String note) {
        history.add(new HistoryEvent(nanos, client, number, claims, what, token, session, note));
    }

    /** @param how the time that the client gives it, if any */
    void requested(String how) {
        record(What.REQUESTED, how);
    }

    /**
     * The client knows that its request is in the queue at the server, for example because it has read it there. Later
     * requests are behind it. Attempts through a {@link FaultyClient} record this by themselves.
     */
    public void placed() {
        record(What.PLACED, "");
    }

    /**
     * The client has converted this exclusive hold into a shared one without a release in between: the former ends and
     * the latter begins at the time that was taken before the downgrade began.
     *
     * @param before from {@link #beforeLook()}, before the downgrade
     * @return the attempt that holds from then on
     */
    public Attempt downgraded(long before) {
        record(before, What.RELEASING, DOWNGRADE);
        record(before, What.RELEASED, DOWNGRADE);
        List<LockClaim> shared =
                claims.stream().map(claim -> LockClaim.shared(claim.path())).toList();
        Attempt reader = history.added(client, shared, observation);
        reader.token = token;
        reader.session = session;
        reader.record(before, What.REQUESTED, DOWNGRADE);
        reader.record(before, What.GRANTED, DOWNGRADE);
        return reader;
    }

    /**
     * The client has been granted the lock, and relies on it from now on.
     *
     * @param grantedToken the lease's {@link io.latchkey.lock.Lease#token}, or 0 if the lock has no tokens; then tokens
     *     cannot be checked
     */
    public void granted(long grantedToken) {
        token = grantedToken;
        session = observation.session(grantedToken).orElse(0);
        long now = history.now();
        observation
                .placed(grantedToken)
                .ifPresent(nanoTime -> record(Math.min(history.sinceItBegan(nanoTime), now), What.PLACED, ""));
        record(now, What.GRANTED, "");
    }

    void resizing() {
        record(What.RESIZING, "");
    }

    void resized() {
        record(What.RESIZED, "");
    }

    /**
     * The attempt has ended without a grant.
     *
     * @param why for the reader
     */
    public void gaveUp(String why) {
        record(What.GAVE_UP, why);
    }

    /**
     * {@return the present moment, for {@link #valid} and {@link #downgraded}} Take it before you look whether the
     * lease is valid.
     */
    public long beforeLook() {
        return history.now();
    }

    /**
     * The client looked whether its lease is valid, and it was: it has relied on it at least until the given moment.
     *
     * @param beforeLook from {@link #beforeLook()}, before the look
     */
    public void valid(long beforeLook) {
        lastValid.accumulateAndGet(beforeLook, Math::max);
    }

    /** The client is about to release: from now on it does not rely on the lease. */
    public void releasing() {
        record(What.RELEASING, "");
    }

    /**
     * The release has come out.
     *
     * @param outcome how; a release that finds the lease lost is recorded as a loss
     */
    public void released(ReleaseOutcome outcome) {
        switch (outcome) {
            case RELEASED, PENDING -> record(What.RELEASED, outcome.name());
            case LOST -> record(What.LOST, FOUND_BY_RELEASE);
            case ALREADY_RELEASED -> record(What.NOTE, "released again");
        }
    }

    /**
     * The client has been notified that the lease is lost.
     *
     * @param cause for the reader
     */
    public void lost(String cause) {
        record(What.LOST, cause);
    }

    /** All that a client in another process has told, afterwards. */
    void believed(ClientProcess.Belief belief) {
        token = belief.token();
        long granted = history.sinceItBegan(belief.granted());
        record(granted, What.REQUESTED, "");
        record(granted, What.GRANTED, "");
        valid(history.sinceItBegan(belief.lastValid()));
        record(history.sinceItBegan(belief.lost()), What.LOST, belief.cause().name());
    }

    Optional<HistoryEvent> lastLook() {
        long nanos = lastValid.get();
        return nanos == NEVER
                ? Optional.empty()
                : Optional.of(new HistoryEvent(nanos, client, number, claims, What.VALID, token, session, ""));
    }
}
