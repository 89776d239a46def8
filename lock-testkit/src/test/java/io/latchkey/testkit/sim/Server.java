package io.latchkey.testkit.sim;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** One server that clients talk to: it follows the leader's log at its own pace, and tells its clients what it sees. */
final class Server {
    private final Leader leader;
    private final Tree tree = new Tree();
    private final Set<SimulatedPort> clients = new LinkedHashSet<>();

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

    /** Applies the next transaction of the log: watches fire, and what waited for it is answered. */
    void applyNext() {
        Tree.Txn next = leader.log().get((int) tree.zxid());
        tree.apply(next);
        List<SimulatedPort> told = List.copyOf(clients);
        told.forEach(client -> client.applied(next));
        told.forEach(SimulatedPort::answer);
        told.stream().filter(client -> client.session() == next.ended()).forEach(SimulatedPort::cut);
    }

    void attach(SimulatedPort client) {
        clients.add(client);
    }

    void detach(SimulatedPort client) {
        clients.remove(client);
    }
}
