// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.ArrayList;
import java.util.List;

/** A server that clients connect to: it applies the leader's log at its own pace and notifies its clients. */
final class Server {
    private final Leader leader;
    private final Tree tree = new Tree();
    private final List<SimulatedPort> clients = new ArrayList<>();

    Server(Leader leader) {
        this.leader = leader;
    }

    Leader leader() {
        return leader;
    }

    Tree tree() {
        return tree;
    }

    boolean lags() {
        return tree.zxid() < leader.tree().zxid();
    }

    /** Applies the next transaction of the log: watches fire, and responses that waited for it are sent. */
    void applyNext() {
        Tree.Txn next = leader.log().get((int) tree.zxid());
        tree.apply(next);
        for (SimulatedPort client : clients) {
            client.applied(next);
        }
        for (SimulatedPort client : clients) {
            client.answer();
        }
        if (next.ended() != 0) {
            for (int i = clients.size() - 1; i >= 0; i--) {
                if (clients.get(i).session() == next.ended()) {
                    clients.get(i).breakOff();
                }
            }
        }
    }

    void attach(SimulatedPort client) {
        clients.add(client);
    }

    void detach(SimulatedPort client) {
        clients.remove(client);
    }
}
