// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.workload;

import io.latchkey.lock.LockClient;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.history.History;
import io.latchkey.testkit.history.LockClaim;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.testkit.workload.FaultSchedule.Timed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A running scenario in a simulation. One thread executes all actors, in order, and time advances only when no actor
 * can take a step.
 */
final class SimulatedRun {
    /** Of an actor or a fault that does nothing by itself. */
    static final long NEVER = Long.MAX_VALUE;

    /** The step of time when all actors wait for locks. */
    private static final int LOOK_EVERY_MILLIS = 500;

    private static final int BLOCKED_AFTER_MILLIS = 60_000;

    private final SimulatedLocks locks;
    private final String base;
    private final List<SimulatedActor> actors = new ArrayList<>();
    private final SimulatedFaults faults;
    private long millis;

    SimulatedRun(Scenario scenario, SimulatedLocks locks, History history, String base) {
        this.locks = locks;
        this.base = base;
        List<LockClient> clients = new ArrayList<>();
        for (int i = 0; i < scenario.workload().clients(); i++) {
            clients.add(locks.client("C" + i));
        }
        faults = new SimulatedFaults(scenario.faults().faults(), locks, clients, history);
        for (Workload.Actor actor : scenario.workload().actors()) {
            LockClient client = clients.get(actor.client());
            actors.add(new SimulatedActor(
                    actor,
                    client,
                    lock -> history.recorded(
                            locks,
                            "C" + actor.client(),
                            lock.of(client, base),
                            lock.claims(base).toArray(LockClaim[]::new)),
                    () -> faults.isCutOff(client),
                    base));
        }
    }

    /** Plays it to its end; returns which faults struck. */
    List<Timed> run() {
        long moved = 0;
        while (!isOver()) {
            if (step()) {
                moved = millis;
            } else if (millis - moved > BLOCKED_AFTER_MILLIS) {
                throw new AssertionError("blocked for " + BLOCKED_AFTER_MILLIS / 1000 + " s; there are " + requests());
            } else {
                pass(Math.min(LOOK_EVERY_MILLIS, next() - millis));
            }
        }
        while (!requests().isEmpty()) {
            if (millis - moved > BLOCKED_AFTER_MILLIS) {
                throw new AssertionError("never true: " + Play.nothingLeft(base) + ", but " + requests());
            }
            pass(LOOK_EVERY_MILLIS);
        }
        return faults.struck();
    }

    private boolean isOver() {
        return faults.isOver() && actors.stream().allMatch(SimulatedActor::isDone);
    }

    /** Lets each actor take one step; returns whether any did. Immediate consequences have occurred on return. */
    private boolean step() {
        boolean moved = faults.step(millis);
        for (SimulatedActor actor : actors) {
            locks.advance(Duration.ZERO);
            moved |= actor.step(millis);
        }
        return moved;
    }

    private long next() {
        long next = faults.next();
        for (SimulatedActor actor : actors) {
            next = Math.min(next, actor.next());
        }
        return next;
    }

    private void pass(long span) {
        locks.advance(Duration.ofMillis(span));
        millis += span;
    }

    private List<ServerNode> requests() {
        return locks.nodesUnder(base).stream().filter(ServerNode::isEphemeral).toList();
    }
}
