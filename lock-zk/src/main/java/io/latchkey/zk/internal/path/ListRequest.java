// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.path;

import io.latchkey.zk.internal.acquire.State;
import java.util.Set;

/**
 * The need of a list by one member, in its request's current attempt.
 *
 * @param id the id of that attempt
 * @param canWait whether the list may be deferred while others of this session wait ahead of the member
 */
record ListRequest(QueueMember member, String id, From from, boolean canWait) {
    /** The point behind which a list must be sent to count for a request. */
    enum From {
        /** Behind its create. */
        CREATE,
        /**
         * Behind the barrier on a new connection: a lost create was applied by then, or will not be on that connection.
         */
        BARRIER
    }

    ListRequest(QueueMember member, From from) {
        this(member, member.attempt(), from, false);
    }

    /** Returns a request for a list that may be deferred, as the member is new. */
    static ListRequest ofNew(QueueMember member) {
        return new ListRequest(member, member.attempt(), From.CREATE, member.canBeDeferred());
    }

    /** Returns this request as one that is no longer deferred. */
    ListRequest due() {
        return new ListRequest(member, id, from, false);
    }

    boolean isCurrent() {
        State needed = from == From.BARRIER ? State.RECOVERING : State.QUEUED;
        return isAt(needed) && member.wantsList();
    }

    boolean isAmong(Set<String> children) {
        return isCurrent()
                && member.node().filter(name -> children.contains(name.text())).isPresent();
    }

    /** Returns whether it may still need the pending list: its create may be pending, too. */
    boolean mayBecomeCurrent() {
        return isCurrent() || (from == From.CREATE && isAt(State.ENQUEUEING));
    }

    private boolean isAt(State state) {
        return member.attempt().equals(id) && member.state() == state;
    }
}
