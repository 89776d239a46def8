// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.Arrays;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/** What a client that is played {@link Alone} can do next, and what it does at once. */
final class Options {
    private static final int MOST_STEPS = 16;

    private final Client client;
    private final Server server;
    private final Leader leader;
    private final BooleanSupplier isGone;
    private final Set<Reduction> reductions;
    private final int[] candidates = new int[MOST_STEPS];

    /** @param isGone whether the client has all that it wanted, and nothing is left of it */
    Options(Client client, Server server, BooleanSupplier isGone, Set<Reduction> reductions) {
        this.client = client;
        this.server = server;
        this.leader = server.leader();
        this.isGone = isGone;
        this.reductions = reductions;
    }

    /** What it can do without a fault, and without that its server applies something. */
    int[] steps() {
        SimulatedPort port = client.port();
        int n = 0;
        if (port.hasMessage()) {
            candidates[n++] = Move.TAKE_MESSAGE.of(0);
        }
        if (port.hasRequest() && !port.nextIsWrite()) {
            candidates[n++] = Move.TAKE_REQUEST.of(0);
        }
        if (port.seeksConnection()) {
            candidates[n++] = Move.CONNECT.of(0, 0);
        }
        for (int i = 0; i < client.workers().size(); i++) {
            if (client.workers().get(i).mayBegin()) {
                candidates[n++] = Move.BEGIN.of(i);
            } else if (client.workers().get(i).mayRelease()) {
                candidates[n++] = Move.RELEASE.of(i);
            }
        }
        if (client.time().hasDue()) {
            candidates[n++] = Move.FIRE.of(0);
        }
        n = addWrites(n);
        return Arrays.copyOf(candidates, n);
    }

    /** Whether nothing of these happens by itself. */
    static boolean areOfWorkers(int[] steps) {
        for (int step : steps) {
            if (Move.move(step) != Move.BEGIN && Move.move(step) != Move.RELEASE) {
                return false;
            }
        }
        return true;
    }

    /** What it can do that may concern the leader. */
    int[] writing() {
        return Arrays.copyOf(candidates, addWrites(0));
    }

    private int addWrites(int from) {
        SimulatedPort port = client.port();
        int n = from;
        if (port.hasRequest() && port.nextIsWrite()) {
            candidates[n++] = Move.TAKE_REQUEST.of(0);
        }
        if (port.hasGhost()) {
            candidates[n++] = Move.TAKE_GHOST.of(0);
        }
        return n;
    }

    /**
     * What may be broken of it, but for the end of its session. Where messages are there to be taken it is no use: what
     * is there comes in any case, and nothing that comes of it can be told from what comes when they are taken first.
     */
    int[] faultsOfTheConnection() {
        SimulatedPort port = client.port();
        boolean isTold = port.hasMessage() && reductions.contains(Reduction.MESSAGES_AT_ONCE);
        if (!port.isUp() || isTold || isGone.getAsBoolean()) {
            return new int[0];
        }
        return port.isLosing() ? new int[] {Move.BREAK.of(0)} : new int[] {Move.BREAK.of(0), Move.LOSE_ANSWERS.of(0)};
    }

    /** Whether a step that it could make may concern the leader, other than by the end of its session. */
    boolean writes() {
        SimulatedPort port = client.port();
        return (port.hasRequest() && port.nextIsWrite()) || port.hasGhost();
    }

    // ---- what its server applies

    /** Whether it sees how far its server is. */
    boolean looks() {
        return looks(client.port());
    }

    private static boolean looks(SimulatedPort port) {
        return port.seeksConnection() || (port.hasRequest() && !port.nextIsWrite());
    }

    /** Whether it has asked for something that its server has not answered. */
    boolean awaits() {
        return client.port().awaitsAnswer();
    }

    /** Whether its server has yet to apply the end of its session. */
    boolean ends() {
        long session = client.port().session();
        return session != 0 && unapplied().anyMatch(txn -> txn.ended() == session);
    }

    /** Whether it has yet to apply the end of one that had no node. */
    boolean isBehind() {
        return unapplied().anyMatch(txn -> txn.ended() != 0 && txn.changes().isEmpty());
    }

    private Stream<Tree.Txn> unapplied() {
        return leader.log().subList((int) server.tree().zxid(), leader.log().size()).stream();
    }

    /** Whether a server that was to apply something goes on with the next, since nothing has come of it. */
    static boolean goesOnApplying(Client client, Server server, int step, int told, Set<Reduction> reductions) {
        return Move.move(step) == Move.APPLY
                && reductions.contains(Reduction.UNSEEN_TRANSACTIONS)
                && server.lags()
                && client.port().messages() == told
                && !looks(client.port());
    }

    // ---- what happens at once

    /** What the client does before whatever else could happen; -1 if nothing. */
    static int atOnce(Client client, int index, Set<Reduction> reductions) {
        SimulatedPort port = client.port();
        if (reductions.contains(Reduction.MESSAGES_AT_ONCE) && isEager(client)) {
            return Move.TAKE_MESSAGE.of(index);
        }
        boolean lost = reductions.contains(Reduction.LOST_ANYWAY) && port.isLosing();
        return lost && port.hasRequest() && !port.nextIsWrite() ? Move.TAKE_REQUEST.of(index) : -1;
    }

    /**
     * Whether its next message is taken before whatever else could happen.
     *
     * <p>What the servers do, and what is broken, commutes with that: the messages that are there come in any case, in
     * the same order, and what the client then asks for stands behind what it has asked for before. If its connection
     * breaks before it takes them, what it asks for then is lost; taken before, the same is asked for and may be lost
     * as well, and fails with the same answer. If it comes to hold by that, then it does so no later, and holds at
     * least as long. Only what it does by itself may depend on what it was told: its workers, its timers, and its
     * search for a server.
     */
    static boolean isEager(Client client) {
        SimulatedPort port = client.port();
        if (!port.hasMessage() || port.seeksConnection() || client.time().hasDue()) {
            return false;
        }
        for (Worker worker : client.workers()) {
            if (worker.mayBegin() || worker.mayRelease()) {
                return false;
            }
        }
        return true;
    }
}
