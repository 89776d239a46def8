// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What one client has come to, and how: the steps of its own, each at some length of the history. */
final class Situation {
    final @Nullable Situation before;
    final int step;
    /** How long the history was when the step was made. */
    final int length;
    /** How much of the history its server has applied. */
    final int applied;

    final State state;
    /** What was broken of the client alone, so far. */
    final int faults;
    /** The newest tokens that were granted. */
    final List<Granted> granted;
    /** What the last step granted. */
    final @Nullable Granted news;
    /**
     * Whether the end of its session must be tried here: it is no use to try it before steps that it does not concern.
     */
    final boolean root;

    /** Where it begins. */
    Situation(State state) {
        this.before = null;
        this.step = 0;
        this.length = 0;
        this.applied = 0;
        this.state = state;
        this.faults = 0;
        this.granted = List.of();
        this.news = null;
        this.root = true;
    }

    /** Where it is once it has made the step. */
    Situation(Situation before, int step, History history, int client, Passage passage, boolean root) {
        this.before = before;
        this.step = step;
        this.length = history.length();
        this.applied = history.log(client).after(before.applied, passage.applied());
        this.state = passage.to();
        this.faults = before.faults + passage.faults();
        Passage.Grant grant = passage.grant();
        this.news = grant == null ? null : new Granted(grant.member(), history.placeOf(grant.node()));
        this.granted = news == null ? before.granted : news.addTo(before.granted);
        this.root = root;
    }

    /** Whether its server has something to apply, and it matters when. */
    boolean applies(Log log, Set<Reduction> reductions) {
        return state.applies(log, applied, reductions);
    }

    /** From the beginning. */
    Iterable<Situation> steps() {
        Deque<Situation> steps = new ArrayDeque<>();
        for (Situation at = this; at.before != null; at = at.before) {
            steps.addFirst(at);
        }
        return steps;
    }
}
