// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.workload;

import io.latchkey.lock.LockClient;
import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.history.History;
import io.latchkey.testkit.workload.FaultSchedule.Timed;
import java.util.ArrayList;
import java.util.List;

/** A schedule of faults under way in a simulation. */
final class SimulatedFaults {
    private final List<Timed> schedule;
    private final SimulatedLocks locks;
    private final List<LockClient> clients;
    private final History history;
    private final List<Timed> struck = new ArrayList<>();

    private int at;
    /** When the next strikes, or the one that lasts is over. */
    private long next;

    private List<LockClient> cutOff = List.of();

    SimulatedFaults(List<Timed> schedule, SimulatedLocks locks, List<LockClient> clients, History history) {
        this.schedule = schedule;
        this.locks = locks;
        this.clients = clients;
        this.history = history;
        plan(0);
    }

    boolean isOver() {
        return next == SimulatedRun.NEVER;
    }

    long next() {
        return next;
    }

    boolean isCutOff(LockClient client) {
        return cutOff.contains(client);
    }

    List<Timed> struck() {
        return List.copyOf(struck);
    }

    /** Strikes if it is time, or ends what lasts; says whether it did. */
    boolean step(long now) {
        if (now < next) {
            return false;
        }
        if (cutOff.isEmpty()) {
            strike(schedule.get(at), now);
        } else {
            cutOff.forEach(locks::heal);
            cutOff = List.of();
        }
        if (cutOff.isEmpty()) {
            at++;
            plan(now);
        }
        return true;
    }

    private void plan(long now) {
        next = at < schedule.size() ? now + schedule.get(at).afterMillis() : SimulatedRun.NEVER;
    }

    private void strike(Timed fault, long now) {
        int index = fault.client() % clients.size();
        LockClient client = clients.get(index);
        FaultAction action = fault.action();
        if (action instanceof FaultAction.Expire expire) {
            expire("C" + index, client, expire.order());
        } else if (action instanceof FaultAction.ExpireOn expire) {
            expire("C" + index, client, expire.order());
        } else if (action instanceof FaultAction.BlackHole hole) {
            locks.cutOff(client);
            lasts(List.of(client), now + hole.forMillis());
        } else if (action instanceof FaultAction.Refuse refuse) {
            locks.disconnect(client);
            lasts(List.of(client), now + refuse.forMillis());
        } else if (action instanceof FaultAction.Stop stop) {
            clients.forEach(locks::disconnect);
            lasts(clients, now + stop.forMillis());
        } else if (isMoot(action)) {
            return;
        } else {
            locks.disconnect(client);
            locks.heal(client);
        }
        struck.add(fault);
    }

    /** Delays are none where answers come at once, and no follower can be cut off where there is one server. */
    private static boolean isMoot(FaultAction action) {
        return action instanceof FaultAction.Delay || action instanceof FaultAction.CutOff;
    }

    private void lasts(List<LockClient> whose, long until) {
        cutOff = whose;
        next = until;
    }

    private void expire(String name, LockClient client, ExpiryOrder order) {
        if (order == ExpiryOrder.CLIENT_FIRST) {
            history.note(name, "session expires: " + order);
            locks.expire(client, order);
            return;
        }
        long session = locks.session(client);
        history.sessionEnding(name, session, order.name());
        locks.expire(client, order);
        history.sessionEnded(name, session);
    }
}
