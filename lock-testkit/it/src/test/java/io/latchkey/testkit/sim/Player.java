// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Draws one schedule from one number, and plays it while it draws. Swarm: every schedule has a taste of its own for the
 * kinds of steps.
 */
final class Player {
    /** The highest weight of a kind of step is two to this, less one. */
    private static final int WEIGHTS = 6;

    private static final int CALM_AT_MOST = 3;

    private final SplittableRandom random;
    private final World world;
    private final int[] weights = new int[Move.values().length];
    private int[] candidates = new int[64];
    private int[] upTo = new int[64];
    private int count;
    private int total;
    private int[] taken = new int[128];
    private int length;
    /** The number of session timeouts for which a lease is held before the first fault. */
    private int toHoldFor;

    Player(Mix mix, SplittableRandom random, World world) {
        this.random = random;
        this.world = world;
        for (int i = 0; i < weights.length; i++) {
            // No number is drawn for it in mixes without closes: their seeds stay what they were.
            boolean isPossible = i != Move.CLOSE.index() || world.closesLeft() > 0;
            weights[i] = isPossible ? 1 << random.nextInt(WEIGHTS) : 0;
        }
        // Time passes in few schedules at the pace of everything else, and some never see it pass before their end.
        leaveOutSometimes(Move.CALM, Move.REAP, Move.DELETE, Move.RESIZE, Move.SILENCE, Move.STAND_STILL, Move.CANCEL);
        if (world.spec().ends().byDecree()) {
            leaveOutSometimes(Move.PASS_TIME);
        }
        if (world.spec().ends() == WorldSpec.Ends.BY_FORCE) {
            weights[Move.STAND_STILL.index()] = 0;
        }
        weights[Move.CALM.index()] = Math.min(weights[Move.CALM.index()], CALM_AT_MOST);
        mix.setWeights(random, weights);
        toHoldFor = mix.heldFor(random);
    }

    private void leaveOutSometimes(Move... moves) {
        for (Move move : moves) {
            if (random.nextBoolean()) {
                weights[move.index()] = 0;
            }
        }
    }

    /** Plays at most so many steps. */
    void play(int steps) {
        for (int i = 0; i < steps && !world.isDone(); i++) {
            int step;
            if (toHoldFor > 0 && somebodyHolds()) {
                step = Move.AGE.of(toHoldFor);
                toHoldFor = 0;
            } else {
                collect();
                if (total == 0) {
                    return;
                }
                step = draw();
            }
            if (length == taken.length) {
                taken = Arrays.copyOf(taken, length * 2);
            }
            taken[length++] = step;
            if (!world.take(step)) {
                length--;
            }
        }
    }

    private boolean somebodyHolds() {
        for (Worker worker : world.workers()) {
            if (worker.mayRelease()) {
                return true;
            }
        }
        return false;
    }

    /** The steps that were made, the last one even if it broke something. */
    int[] taken() {
        return Arrays.copyOf(taken, length);
    }

    private int draw() {
        int at = random.nextInt(total);
        int i = 0;
        while (upTo[i] <= at) {
            i++;
        }
        return candidates[i];
    }

    private void add(Move move, int first) {
        add(move, first, 0);
    }

    private void add(Move move, int first, int second) {
        int weight = weights[move.index()];
        if (weight == 0) {
            return;
        }
        if (count == candidates.length) {
            candidates = Arrays.copyOf(candidates, count * 2);
            upTo = Arrays.copyOf(upTo, count * 2);
        }
        total += weight;
        candidates[count] = move.of(first, second);
        upTo[count++] = total;
    }

    private void collect() {
        count = 0;
        total = 0;
        int servers = world.servers().size();
        for (int i = 0; i < servers; i++) {
            if (world.servers().get(i).lags()) {
                add(Move.APPLY, i);
            }
        }
        boolean faults = world.faultsLeft() > 0 && toHoldFor == 0;
        for (int i = 0; i < world.clients().size(); i++) {
            collect(i, faults);
        }
        for (int i = 0; i < world.workers().size(); i++) {
            collect(world.workers().get(i), i);
        }
        if (world.time().hasNext()) {
            add(Move.PASS_TIME, 0);
        }
        add(Move.CALM, 0);
        add(Move.REAP, 0);
        if (faults) {
            add(Move.DELETE, length & 0xff);
            add(Move.RESIZE, length & 0xff, (length >> 2) & 0xff);
        }
    }

    private void collect(int client, boolean faults) {
        SimulatedStore store = world.clients().get(client).store();
        if (store.hasRequest()) {
            add(Move.TAKE_REQUEST, client);
        }
        if (store.hasMessage()) {
            add(Move.TAKE_MESSAGE, client);
        }
        if (!store.ghosts.isEmpty()) {
            add(Move.TAKE_GHOST, client);
        }
        if (store.seeksConnection()) {
            add(Move.CONNECT, client, random.nextInt(world.servers().size()));
        }
        if (store.losing) {
            add(Move.BREAK, client);
            add(Move.END_SESSION, client);
        }
        if (store.silent) {
            add(Move.HEAL, client);
        }
        boolean still = world.clients().get(client).isStill();
        if (world.closesLeft() > 0 && !still) {
            add(Move.CLOSE, client, random.nextInt(Client.GRACES.size()));
        }
        if (still) {
            add(Move.GO_ON, client);
        }
        if (faults) {
            if (store.isUp()) {
                add(Move.CUT, client);
                add(Move.BREAK, client);
                add(Move.LOSE_ANSWERS, client);
                add(Move.SILENCE, client);
            }
            if (!still) {
                add(Move.STAND_STILL, client);
            }
            add(Move.END_SESSION, client);
        }
    }

    private void collect(Worker worker, int index) {
        if (worker.mayBegin()) {
            add(Move.BEGIN, index);
        } else if (worker.mayRelease()) {
            add(Move.RELEASE, index);
            if (worker.mayDowngrade()) {
                add(Move.DOWNGRADE, index);
            }
        } else if (worker.mayCancel() && world.cancelsLeft() > 0) {
            add(Move.CANCEL, index);
        }
    }
}
