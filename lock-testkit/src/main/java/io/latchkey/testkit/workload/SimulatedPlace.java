// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.workload;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.LockClient;
import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.history.LockClaim;
import io.latchkey.testkit.workload.FaultSchedule.Action;
import io.latchkey.testkit.workload.FaultSchedule.TimedAction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** A simulation: one thread executes all actors, and time advances only when no actor can take a step. */
final class SimulatedPlace implements Place {
    /** The step of time when all actors wait for locks. */
    private static final int LOOK_EVERY_MILLIS = 500;

    private static final int BLOCKED_AFTER_MILLIS = 60_000;

    private final Play play;
    private final SimulatedLocks locks;
    private final List<LockClient> clients;
    private List<LockClient> cutOff = List.of();
    private long millis;

    SimulatedPlace(Play play, SimulatedLocks locks, int clients) {
        this.play = play;
        this.locks = locks;
        this.clients = IntStream.range(0, clients)
                .mapToObj(number -> locks.client(name(number)))
                .toList();
    }

    @Override
    public LockClient client(int number) {
        return clients.get(number);
    }

    @Override
    public String name(int client) {
        return "C" + client;
    }

    @Override
    public Acquirable recorded(int client, Acquirable lock, LockClaim... claims) {
        return play.history().recorded(locks, name(client), lock, claims);
    }

    @Override
    public boolean mayWait() {
        return false;
    }

    @Override
    public boolean isCutOff(int client) {
        return cutOff.contains(client(client));
    }

    @Override
    public long millis() {
        return millis;
    }

    @Override
    public void settle() {
        locks.advance(Duration.ZERO);
    }

    @Override
    public List<TimedAction> play(List<ActorRun> actors, FaultSchedule schedule) throws InterruptedException {
        FaultSteps faults = new FaultSteps(schedule, this::strike, this::millis);
        List<Steps> all = new ArrayList<>(List.of(faults));
        all.addAll(actors);
        Steps.takeAll(all, this::millis, (next, idle) -> pass(Math.min(LOOK_EVERY_MILLIS, next - millis), idle));
        for (long end = millis; !play.requests().isEmpty(); ) {
            pass(LOOK_EVERY_MILLIS, millis - end);
        }
        return faults.struck();
    }

    private void pass(long span, long idle) {
        if (idle > BLOCKED_AFTER_MILLIS) {
            throw new AssertionError("blocked for " + BLOCKED_AFTER_MILLIS / 1000 + " s; there are " + play.requests());
        }
        locks.advance(Duration.ofMillis(span));
        millis += span;
    }

    private void strike(TimedAction fault, FaultSteps under) {
        int number = fault.client() % clients.size();
        LockClient client = client(number);
        Action action = fault.action();
        if (action instanceof Action.Expire expire) {
            expire(number, expire.order());
        } else if (action instanceof Action.ExpireOn expire) {
            expire(number, expire.order());
        } else if (action instanceof Action.BlackHole hole) {
            locks.cutOff(client);
            lasts(hole.forMillis(), List.of(client), under);
        } else if (action instanceof Action.Refuse refuse) {
            locks.disconnect(client);
            lasts(refuse.forMillis(), List.of(client), under);
        } else if (action instanceof Action.Stop stop) {
            clients.forEach(locks::disconnect);
            lasts(stop.forMillis(), clients, under);
        } else if (isMoot(action)) {
            return;
        } else {
            locks.disconnect(client);
            locks.heal(client);
        }
        under.struck(fault);
    }

    /** Delays are none where answers come at once, and no follower can be cut off where there is one server. */
    private static boolean isMoot(Action action) {
        return action instanceof Action.Delay || action instanceof Action.CutOff;
    }

    private void lasts(int forMillis, List<LockClient> whose, FaultSteps under) {
        cutOff = whose;
        under.lasts(forMillis, () -> {
            cutOff = List.of();
            whose.forEach(locks::heal);
        });
    }

    private void expire(int number, ExpiryOrder order) {
        LockClient client = client(number);
        if (order == ExpiryOrder.CLIENT_FIRST) {
            play.history().note(name(number), "session expires: " + order);
            locks.expire(client, order);
            return;
        }
        long session = locks.session(client);
        play.history().sessionEnding(name(number), session, order.name());
        locks.expire(client, order);
        play.history().sessionEnded(name(number), session);
    }
}
