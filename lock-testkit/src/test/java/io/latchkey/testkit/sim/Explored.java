// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A world whose states can be told apart, see {@link Exhaustive}. */
final class Explored {
    private final World world;
    private final List<Fingerprint> inputs = new ArrayList<>(4);
    private final int[] candidates = new int[64];
    private final int atOnce;

    private int holdersBefore;
    private int holders;

    Explored(WorldSpec spec, Exhaustive.Grain grain, Reached reached) {
        this.atOnce = grain == Exhaustive.Grain.COARSE ? Move.ALL_AT_ONCE : 0;
        world = new World(spec, reached, null);
        for (int i = 0; i < spec.clients(); i++) {
            inputs.add(new Fingerprint());
        }
    }

    void take(int step) {
        int client = clientOf(step);
        SimulatedPort.Message message =
                Move.move(step) == Move.TAKE_MESSAGE ? port(client).peekMessage() : null;
        if (message != null) {
            inputs.get(client).addContent(message.content());
        }
        holdersBefore = holders;
        if (!world.take(step)) {
            throw new IllegalStateException("not possible: " + Move.move(step));
        }
        holders = countHolders();
        if (client >= 0) {
            Fingerprint told = inputs.get(client);
            told.add(step);
            told.add(world.time().nanos());
        }
    }

    /** Returns the client whose input the step is; -1 if no client can notice it. */
    private int clientOf(int step) {
        int first = Move.first(step);
        return switch (Move.move(step)) {
            case TAKE_MESSAGE, FIRE -> first;
            case BEGIN, RELEASE ->
                world.clients().indexOf(world.workers().get(first).client());
            // A server that has seen less than the client refuses, and what was asked fails by that.
            case CONNECT ->
                port(first).lastZxid
                                > world.servers().get(Move.second(step)).tree().zxid()
                        ? first
                        : -1;
            default -> -1;
        };
    }

    private int countHolders() {
        int count = 0;
        for (Worker worker : world.workers()) {
            count += worker.lease() == null ? 0 : 1;
        }
        return count;
    }

    /** Whether the last step was a grant. */
    boolean somebodyCameToHold() {
        return holders > holdersBefore;
    }

    /** Returns the fingerprint, which distinguishes states. */
    List<Long> state() {
        Fingerprint print = new Fingerprint();
        boolean reconnects = world.faultsLeft() > 0;
        for (Client client : world.clients()) {
            reconnects |= !client.port().isUp();
        }
        Fingerprint.Zxids zxids = reconnects ? Fingerprint.Zxids.COUNT : Fingerprint.Zxids.DO_NOT_COUNT;
        print.add(world.faultsLeft());
        print.add(world.time().nanos());
        Leader leader = world.leader();
        print.add(leader.tree(), zxids);
        print.addAll(leader.sessions().ids(), (session, each) -> each.add(session));
        for (Server server : world.servers()) {
            print.add(server.tree(), zxids);
            for (int i = (int) server.tree().zxid(); i < leader.log().size(); i++) {
                print.add(leader.log().get(i));
            }
        }
        for (int i = 0; i < inputs.size(); i++) {
            print.add(inputs.get(i).high());
            print.add(inputs.get(i).low());
            print.add(world.servers().indexOf(port(i).server()));
            print.add(port(i), zxids);
            for (Server server : world.servers()) {
                print.addStuck(port(i), server);
            }
        }
        return List.of(print.high(), print.low());
    }

    void finish() {
        world.finish();
    }

    private SimulatedPort port(int client) {
        return world.clients().get(client).port();
    }

    // ---- what can happen

    /** Every step but the passing of time. */
    int[] possible() {
        int count = 0;
        for (int i = 0; i < world.servers().size(); i++) {
            if (world.servers().get(i).lags()) {
                candidates[count++] = Move.APPLY.of(i);
            }
        }
        for (int i = 0; i < world.clients().size(); i++) {
            count = addOf(i, count);
        }
        for (int i = 0; i < world.workers().size(); i++) {
            Worker worker = world.workers().get(i);
            if (worker.mayBegin()) {
                candidates[count++] = Move.BEGIN.of(i);
            } else if (worker.mayRelease()) {
                candidates[count++] = Move.RELEASE.of(i);
            }
        }
        count = addFaults(count);
        return Arrays.copyOf(candidates, count);
    }

    private int addOf(int client, int from) {
        int count = from;
        SimulatedPort port = port(client);
        if (port.hasMessage()) {
            candidates[count++] = Move.TAKE_MESSAGE.of(client);
        }
        if (port.hasRequest()) {
            candidates[count++] = Move.TAKE_REQUEST.of(client, atOnce);
        }
        if (!port.ghosts.isEmpty()) {
            candidates[count++] = Move.TAKE_GHOST.of(client);
        }
        if (port.seeksConnection()) {
            for (int server = 0; server < world.servers().size(); server++) {
                candidates[count++] = Move.CONNECT.of(client, server);
            }
        }
        if (world.clients().get(client).hasDue()) {
            candidates[count++] = Move.FIRE.of(client);
        }
        return count;
    }

    private int addFaults(int from) {
        int count = from;
        for (int i = 0; i < world.clients().size(); i++) {
            boolean goesOn = port(i).losing;
            boolean begins = world.faultsLeft() > 0 && from > 0;
            if (port(i).isUp() && (goesOn || begins)) {
                candidates[count++] = Move.BREAK.of(i);
            }
            if (port(i).isUp() && begins && !goesOn) {
                candidates[count++] = Move.LOSE_ANSWERS.of(i);
            }
            if (world.leader().hasSession(port(i).session()) && (goesOn || begins)) {
                candidates[count++] = Move.END_SESSION.of(i);
            }
        }
        if (world.faultsLeft() == 0 || from == 0) {
            return count;
        }
        for (int i = 0; i < Nodes.ephemerals(world.leader().tree()).size(); i++) {
            candidates[count++] = Move.DELETE.of(i);
        }
        return count;
    }

    /** Returns the index of a step that can be taken before all others, see {@link Exhaustive}; -1 if no step can. */
    int atOnce(int[] possible) {
        for (int i = 0; i < possible.length; i++) {
            if (Move.move(possible[i]) == Move.TAKE_MESSAGE && isAlone(Move.first(possible[i]))) {
                return i;
            }
        }
        return -1;
    }

    private boolean isAlone(int index) {
        Client client = world.clients().get(index);
        SimulatedPort port = client.port();
        if (port.seeksConnection() || client.hasDue()) {
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
