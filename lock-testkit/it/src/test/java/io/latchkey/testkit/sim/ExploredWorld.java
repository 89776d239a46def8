// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A world whose states can be told apart, see {@link ExhaustiveSearch}. */
final class ExploredWorld {
    private final World world;
    private final List<Fingerprint> inputs = new ArrayList<>(4);
    private final int[] candidates = new int[64];
    private int count;
    private final int atOnce;

    private int holdersBefore;
    private int holders;

    ExploredWorld(WorldSpec spec, ExhaustiveSearch.Grain grain, Coverage coverage) {
        this.atOnce = grain == ExhaustiveSearch.Grain.COARSE ? Move.ALL_AT_ONCE : 0;
        world = new World(spec, coverage, null);
        for (int i = 0; i < spec.clients(); i++) {
            inputs.add(new Fingerprint());
        }
    }

    void take(int step) {
        int client = clientOf(step);
        SimulatedStore.Message message =
                Move.move(step) == Move.TAKE_MESSAGE ? store(client).peekMessage() : null;
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
                store(first).lastZxid
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
            reconnects |= !client.store().isUp();
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
            print.add(world.servers().indexOf(store(i).server()));
            print.add(store(i), zxids);
            for (Server server : world.servers()) {
                print.addStuck(store(i), server);
            }
        }
        return List.of(print.high(), print.low());
    }

    void finish() {
        world.finish();
    }

    private SimulatedStore store(int client) {
        return world.clients().get(client).store();
    }

    // ---- what can happen

    /** Every step but the passing of time. No fault begins where nothing else can happen. */
    int[] possible() {
        count = 0;
        int servers = world.servers().size();
        int clients = world.clients().size();
        for (int i = 0; i < servers; i++) {
            add(Move.APPLY.of(i));
        }
        for (int i = 0; i < clients; i++) {
            add(Move.TAKE_MESSAGE.of(i));
            add(Move.TAKE_REQUEST.of(i, atOnce));
            add(Move.TAKE_GHOST.of(i));
            for (int server = 0; server < servers; server++) {
                add(Move.CONNECT.of(i, server));
            }
            add(Move.FIRE.of(i));
        }
        for (int i = 0; i < world.workers().size(); i++) {
            add(Move.BEGIN.of(i));
            add(Move.RELEASE.of(i));
        }
        boolean mayFail = count > 0;
        for (int i = 0; i < clients; i++) {
            if (mayFail || store(i).losing) {
                add(Move.BREAK.of(i));
                add(Move.LOSE_ANSWERS.of(i));
                add(Move.END_SESSION.of(i));
            }
        }
        if (mayFail && world.faultsLeft() > 0) {
            int nodes = Nodes.ephemerals(world.leader().tree()).size();
            for (int i = 0; i < nodes; i++) {
                add(Move.DELETE.of(i));
            }
        }
        return Arrays.copyOf(candidates, count);
    }

    private void add(int step) {
        if (world.mayTake(step)) {
            candidates[count++] = step;
        }
    }

    /**
     * Returns the index of a step that can be taken before all others, see {@link ExhaustiveSearch}; -1 if no step can.
     */
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
        SimulatedStore store = client.store();
        if (store.seeksConnection() || client.hasDue()) {
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
