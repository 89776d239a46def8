// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import java.util.List;

/**
 * Whether two clients ever relied on the same lock at once. Of the two forms of that question, choose the one that fits the faults:
 *
 * <ul>
 *   <li>{@link #whileSessionsLive}: never two clients that rely on it while the sessions of both live at the server. True under every
 *       fault.
 *   <li>{@link #byTheirOwnLooks}: never two clients at all of which each has looked and found its lease valid. True where sessions
 *       end by time; not where they are ended by decree ({@link ExpiryOrder#SERVER_FIRST}), since no client's clock can know of that.
 * </ul>
 *
 * <p>A hold counts from when the client was told of it until it began a clean release. One that was lost counts for certain only until
 * the client's last look at it, and perhaps until the client was told; if only such parts overlap, the verdict is undecided. So have
 * clients look ({@code isValid()}) before what they do under the lock, as real ones should.
 *
 * <p>It takes every hold for one that has its path alone, whatever was claimed. Where readers or several permits may hold at once, ask
 * {@link ReadersWritersChecker} or {@link PermitBoundChecker}.
 */
public final class MutualExclusionChecker {
    private static final Overlaps OVERLAPS = new Overlaps("mutual exclusion", (next, atHand) -> atHand);

    private MutualExclusionChecker() {}

    /**
     * {@return whether there never were two clients that relied on a lock while both their sessions lived at the server} The ends of sessions
     * must have been recorded.
     *
     * @param history as it is now
     */
    public static Verdict whileSessionsLive(History history) {
        return whileSessionsLive(history.events());
    }

    /**
     * {@return the same, of events from elsewhere}
     *
     * @param events in order of time
     */
    public static Verdict whileSessionsLive(List<HistoryEvent> events) {
        return OVERLAPS.whileSessionsLive(events);
    }

    /**
     * {@return whether there never were two clients at once that had looked at their leases and found them valid}
     *
     * @param history as it is now
     */
    public static Verdict byTheirOwnLooks(History history) {
        return byTheirOwnLooks(history.events());
    }

    /**
     * {@return the same, of events from elsewhere}
     *
     * @param events in order of time
     */
    public static Verdict byTheirOwnLooks(List<HistoryEvent> events) {
        return OVERLAPS.byTheirOwnLooks(events);
    }
}
