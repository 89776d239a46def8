// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.path;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The lists that new members do not need yet, because others of this session wait ahead of them. */
final class DeferredLists {
    private final PresentNodes nodes;
    private final Map<QueueMember, ListRequest> deferred = new LinkedHashMap<>();

    DeferredLists(PresentNodes nodes) {
        this.nodes = nodes;
    }

    /** Defers the list if that is possible, and returns whether it was. */
    boolean defer(ListRequest request) {
        boolean possible = request.canWait() && othersWaitAhead(Optional.of(request.member()));
        if (possible) {
            deferred.put(request.member(), request);
        }
        return possible;
    }

    boolean isDeferred(QueueMember member) {
        return deferred.containsKey(member);
    }

    /** Returns the deferred lists if they are needed now, and forgets them. */
    List<ListRequest> takeDue() {
        if (deferred.isEmpty() || othersWaitAhead(Optional.empty())) {
            return List.of();
        }
        List<ListRequest> due = deferred.values().stream().map(ListRequest::due).toList();
        deferred.clear();
        return due;
    }

    /**
     * Returns whether two requests of this session wait ahead of {@code one} and of the first deferred member. Then the
     * deferred members need no list yet: they cannot be granted before these two. When the first of the two is granted,
     * there is time for a list, which serves all deferred members. Nodes are in the order of their creation; later ones
     * are behind.
     */
    private boolean othersWaitAhead(Optional<QueueMember> one) {
        int waiting = 0;
        for (QueueMember member : nodes.waiting()) {
            if (deferred.containsKey(member) || one.filter(member::equals).isPresent()) {
                return false;
            }
            if (member.isWaiting() && ++waiting == 2) {
                return true;
            }
        }
        return false;
    }

    void forget(QueueMember member) {
        deferred.remove(member);
    }

    void clear() {
        deferred.clear();
    }
}
