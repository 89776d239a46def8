// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.List;
import java.util.Set;

/**
 * What a client, its server and what is between them have come to, whatever led there, whichever entries of the log its
 * server has applied for it, and whatever others have written since. Two that have the same fingerprint differ in
 * nothing that counts.
 */
final class State {
    final long high;
    final long low;

    final Hold hold;
    /** Whether its next step may concern the leader. */
    final boolean writes;
    /** Whether nothing that a server tells it arrives. */
    final boolean losing;
    /** Whether it has all that it wanted, and nothing is left of it. */
    final boolean gone;
    /** Whether it is about to read or to connect, and sees whatever its server applies. */
    final boolean looks;

    final boolean sessionLives;
    /** Whether it has asked for something that its server has not answered. */
    final boolean awaits;
    /** Whether its server has yet to apply the end of its session. */
    final boolean ends;
    /** Whether it has yet to apply the end of one that had no node: no entry of the log. */
    final boolean behind;
    /** What it watches besides. */
    final Set<SimulatedPort.Watch> watches;
    /** What each of its workers that wait waits for. */
    final List<List<Wish>> waiting;
    /** What it can do without a fault, and without that its server applies something. */
    final int[] steps;
    /** What it can do that may concern the leader. */
    final int[] writing;
    /** What may be broken of it, but for the end of its session. */
    final int[] faults;

    State(Alone alone) {
        Fingerprint print = alone.fingerprint();
        Options options = alone.options();
        this.high = print.high();
        this.low = print.low();
        this.hold = alone.hold();
        this.writes = options.writes();
        this.losing = alone.isLosing();
        this.gone = alone.isGone();
        this.looks = options.looks();
        this.sessionLives = alone.sessionLives();
        this.awaits = options.awaits();
        this.ends = options.ends();
        this.behind = options.isBehind();
        this.watches = Set.copyOf(alone.watches());
        this.waiting = alone.waiting();
        this.steps = options.steps();
        this.writing = options.writing();
        this.faults = options.faultsOfTheConnection();
    }

    /** Whether its server has something to apply after {@code place} entries, and it matters when. */
    boolean applies(Log log, int place, Set<Reduction> reductions) {
        boolean lags = behind || log.seenFrom(place) > 0;
        if (!lags || (losing && reductions.contains(Reduction.LOST_ANYWAY))) {
            return false;
        }
        return !reductions.contains(Reduction.UNSEEN_TRANSACTIONS)
                || looks
                || awaits
                || ends
                || log.fires(place, watches);
    }

    /** Whether it sees that its server applies this. */
    boolean isConcernedBy(List<Tree.Effect> changes) {
        if (looks) {
            return !changes.isEmpty();
        }
        for (Tree.Effect change : changes) {
            if (SimulatedPort.fires(watches, change)) {
                return true;
            }
        }
        return false;
    }
}
