// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.zk.internal.queue.Tag;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.request.ZkLease;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * What a client believes to hold in a session that lives.
 *
 * @param nodes what must be there for it
 */
record Hold(List<LockTarget> members, List<String> nodes) {
    static final Hold NOTHING = new Hold(List.of(), List.of());

    /** What the workers hold whose leases are valid and whose sessions live. */
    static Hold of(List<Worker> workers, Leader leader) {
        List<LockTarget> members = new ArrayList<>(0);
        List<String> nodes = new ArrayList<>(0);
        for (Worker worker : workers) {
            ZkLease lease = worker.lease();
            if (lease != null
                    && lease.isValid()
                    && lease.port() instanceof SimulatedPort port
                    && leader.hasSession(port.session())) {
                members.addAll(worker.task().members());
                nodes.addAll(lease.nodePaths());
            }
        }
        return members.isEmpty() ? NOTHING : new Hold(members, nodes);
    }

    boolean stands(Set<String> present) {
        return present.containsAll(nodes);
    }

    /** Whether all can be held at a time. */
    static boolean agree(List<Hold> holds) {
        for (Hold hold : holds) {
            for (LockTarget member : hold.members()) {
                if (!agree(member, hold, holds)) {
                    return false;
                }
            }
        }
        return true;
    }

    @SuppressWarnings("ReferenceEquality") // two clients may have equal holds
    private static boolean agree(LockTarget member, Hold of, List<Hold> holds) {
        int permits = 0;
        for (Hold hold : holds) {
            for (LockTarget other : hold.members()) {
                if (other.path().equals(member.path())) {
                    permits += other.recipe().permits();
                    boolean excludes =
                            member.recipe().tag() == Tag.WRITE || other.recipe().tag() == Tag.WRITE;
                    if (hold != of && excludes) {
                        return false;
                    }
                }
            }
        }
        return member.recipe().tag() != Tag.LEASE
                || permits <= member.recipe().purpose().capacity();
    }
}
