// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.testkit.sim.SimulatedPort.Of;
import io.latchkey.testkit.sim.SimulatedPort.Watch;
import io.latchkey.testkit.sim.Tree.Effect;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A server that clients connect to: it applies the leader's log at its own pace and notifies its clients. */
final class Server {
    private final Leader leader;
    private final Tree tree = new Tree();
    private final List<SimulatedPort> clients = new ArrayList<>();
    /** The clients to notify, so that a transaction costs the same beside any number of others. */
    private final Map<Watch, List<SimulatedPort>> watchers = new HashMap<>();
    /** Clients with requests whose transactions this server has not applied. */
    private final Set<SimulatedPort> unanswered = new LinkedHashSet<>(4);

    private final String address;

    Server(Leader leader) {
        this.leader = leader;
        this.address = leader.newAddress();
    }

    String address() {
        return address;
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
        for (Effect change : next.changes()) {
            fire(change, next.zxid());
        }
        if (!unanswered.isEmpty()) {
            unanswered.removeIf(SimulatedPort::answer);
        }
        if (next.ended() != 0) {
            for (int i = clients.size() - 1; i >= 0; i--) {
                if (clients.get(i).session() == next.ended()) {
                    clients.get(i).breakOff();
                }
            }
        }
    }

    private void fire(Effect change, long zxid) {
        if (change instanceof Effect.Created created) {
            fire(created.parent(), Of.CHILDREN, ZnodeStore.Change.CHILDREN, zxid);
        } else if (change instanceof Effect.DataSet set) {
            fire(set.path(), Of.DATA, ZnodeStore.Change.DATA, zxid);
        } else if (change instanceof Effect.Deleted deleted) {
            for (Of what : Of.values()) {
                for (SimulatedPort client : watching(deleted.path(), what)) {
                    client.fired(deleted.path(), ZnodeStore.Change.DELETED, zxid, Of.DATA, Of.CHILDREN);
                }
            }
            fire(deleted.parent(), Of.CHILDREN, ZnodeStore.Change.CHILDREN, zxid);
        }
    }

    private void fire(String path, Of what, ZnodeStore.Change change, long zxid) {
        for (SimulatedPort client : watching(path, what)) {
            client.fired(path, change, zxid, what);
        }
    }

    /** Returns the clients that watch, and forgets them: a watch fires once. */
    private List<SimulatedPort> watching(String path, Of what) {
        List<SimulatedPort> watching = watchers.remove(new Watch(path, what));
        return watching == null ? List.of() : watching;
    }

    void watch(SimulatedPort client, Watch watch) {
        watchers.computeIfAbsent(watch, first -> new ArrayList<>(2)).add(client);
    }

    void unwatch(SimulatedPort client, Watch watch) {
        List<SimulatedPort> watching = watchers.get(watch);
        if (watching != null && watching.remove(client) && watching.isEmpty()) {
            watchers.remove(watch);
        }
    }

    /** Lets the client's requests be answered once their transactions are applied here. */
    void answerLater(SimulatedPort client) {
        unanswered.add(client);
    }

    void attach(SimulatedPort client) {
        clients.add(client);
    }

    void detach(SimulatedPort client) {
        clients.remove(client);
        unanswered.remove(client);
    }
}
