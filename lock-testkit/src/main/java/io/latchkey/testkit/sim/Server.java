// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.testkit.sim.SimulatedStore.Watch;
import io.latchkey.testkit.sim.SimulatedStore.WatchedPart;
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
    private final List<SimulatedStore> clients = new ArrayList<>();
    /** The clients to notify, so that a transaction costs the same beside any number of others. */
    private final Map<Watch, List<SimulatedStore>> watchers = new HashMap<>();
    /** Clients with requests whose transactions this server has not applied. */
    private final Set<SimulatedStore> unanswered = new LinkedHashSet<>(4);

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
            unanswered.removeIf(SimulatedStore::answer);
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
            fire(created.parent(), WatchedPart.CHILDREN, ZnodeStore.Change.CHILDREN, zxid);
        } else if (change instanceof Effect.DataSet set) {
            fire(set.path(), WatchedPart.DATA, ZnodeStore.Change.DATA, zxid);
        } else if (change instanceof Effect.Deleted deleted) {
            for (WatchedPart what : WatchedPart.values()) {
                for (SimulatedStore client : watching(deleted.path(), what)) {
                    client.fired(
                            deleted.path(), ZnodeStore.Change.DELETED, zxid, WatchedPart.DATA, WatchedPart.CHILDREN);
                }
            }
            fire(deleted.parent(), WatchedPart.CHILDREN, ZnodeStore.Change.CHILDREN, zxid);
        }
    }

    private void fire(String path, WatchedPart what, ZnodeStore.Change change, long zxid) {
        for (SimulatedStore client : watching(path, what)) {
            client.fired(path, change, zxid, what);
        }
    }

    /** Returns the clients that watch, and forgets them: a watch fires once. */
    private List<SimulatedStore> watching(String path, WatchedPart what) {
        List<SimulatedStore> watching = watchers.remove(new Watch(path, what));
        return watching == null ? List.of() : watching;
    }

    void watch(SimulatedStore client, Watch watch) {
        watchers.computeIfAbsent(watch, first -> new ArrayList<>(2)).add(client);
    }

    void unwatch(SimulatedStore client, Watch watch) {
        List<SimulatedStore> watching = watchers.get(watch);
        if (watching != null && watching.remove(client) && watching.isEmpty()) {
            watchers.remove(watch);
        }
    }

    /** Lets the client's requests be answered once their transactions are applied here. */
    void answerLater(SimulatedStore client) {
        unanswered.add(client);
    }

    void attach(SimulatedStore client) {
        clients.add(client);
    }

    void detach(SimulatedStore client) {
        clients.remove(client);
        unanswered.remove(client);
    }
}
