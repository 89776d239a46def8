// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.history.LockClaim;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Histories that are made from an execution in which one thing happened at a time, each operation stretched at random
 * to both sides of its moment, so that they have an order for certain; and the same with one thing changed such that
 * they have none.
 */
class WingGongSearchTest {
    private static final long MOST_STEPS = 1_000_000;
    /** Far more than an operation is stretched. */
    private static final long APART = 1_000_000;

    /** Plays clients one action at a time, and notes when each was. */
    private static final class Play<S> {
        private final SequentialModel<S> model;
        private final List<List<LockClaim>> choices;
        private final Random random;
        private final int clients;
        private final List<Operation> operations = new ArrayList<>();
        private final Map<String, Action.Acquire> held = new TreeMap<>();
        private final Map<Integer, Long> freeFrom = new TreeMap<>();
        private S state;
        private long now = 1000;
        private long attempts;

        Play(SequentialModel<S> model, List<List<LockClaim>> choices, int clients, long seed) {
            this.model = model;
            this.choices = choices;
            this.clients = clients;
            this.random = new Random(seed);
            this.state = model.initial();
        }

        /** One client does the next thing that the model allows it, if any. */
        void step(int client) {
            String holder = "c" + client;
            Action.Acquire has = held.get(holder);
            Action action;
            if (has != null) {
                action = new Action.Release(holder, has.claims());
            } else {
                List<LockClaim> claims = choices.get(random.nextInt(choices.size()));
                action = new Action.Acquire(holder, claims);
                if (model.after(state, action).isEmpty()) {
                    action = random.nextInt(4) == 0 ? new Action.Refuse(claims) : action;
                }
            }
            Optional<S> after = model.after(state, action);
            if (after.isEmpty()) {
                return;
            }
            state = after.get();
            now += 1 + random.nextInt(100);
            long call = Math.max(freeFrom.getOrDefault(client, 0L), now - random.nextInt(2000));
            long end = now + random.nextInt(2000);
            now = Math.max(now, call);
            freeFrom.put(client, end);
            operations.add(new Operation(action, ++attempts, call, Math.max(end, now)));
            now = Math.max(now, call);
            if (action instanceof Action.Acquire acquire) {
                held.put(holder, acquire);
            } else if (action instanceof Action.Release) {
                held.remove(holder);
            }
        }

        List<Operation> run(int steps) {
            while (operations.size() < steps) {
                step(random.nextInt(clients));
            }
            return operations;
        }

        /** A hold begins that conflicts with the current holders. */
        List<Operation> runWithOneTooMany(int steps) {
            run(steps / 2);
            List<LockClaim> claims = choices.get(0);
            while (model.after(state, new Action.Acquire("thief", claims)).isPresent()) {
                run(operations.size() + 1);
            }
            now += APART;
            operations.add(new Operation(new Action.Acquire("thief", claims), ++attempts, now, now + 1));
            now += APART;
            freeFrom.replaceAll((client, time) -> now);
            run(steps);
            Collections.shuffle(operations, random);
            return operations;
        }
    }

    private static final List<List<LockClaim>> ALONE = List.of(List.of(LockClaim.exclusive("/m")));
    private static final List<List<LockClaim>> READ_WRITE = List.of(
            List.of(LockClaim.exclusive("/m")), List.of(LockClaim.shared("/m")), List.of(LockClaim.shared("/m")));
    private static final List<List<LockClaim>> PERMITS = List.of(
            List.of(LockClaim.permits("/s", 3, 4)),
            List.of(LockClaim.permits("/s", 1, 4)),
            List.of(LockClaim.permits("/s", 2, 4)));
    private static final List<List<LockClaim>> SEVERAL = List.of(
            List.of(LockClaim.exclusive("/a"), LockClaim.shared("/b"), LockClaim.permits("/s", 2, 4)),
            List.of(LockClaim.exclusive("/a")),
            List.of(LockClaim.shared("/b")),
            List.of(LockClaim.exclusive("/b"), LockClaim.permits("/s", 1, 4)),
            List.of(LockClaim.permits("/s", 1, 4)));

    @TestFactory
    List<DynamicTest> madeHistoriesHaveAnOrderAndSpoiltOnesNone() {
        return List.of(
                made("mutex", new MutexModel(), ALONE),
                made("re-entrant mutex", new ReentrantMutexModel(), ALONE),
                made("read-write lock", new ReadWriteModel(), READ_WRITE),
                made("semaphore", new SemaphoreModel(4), PERMITS),
                made("several", new MultiLockModel(Map.of("/s", 4)), SEVERAL));
    }

    private static <S> DynamicTest made(String name, SequentialModel<S> model, List<List<LockClaim>> choices) {
        return DynamicTest.dynamicTest(name, () -> {
            for (long seed = 0; seed < 60; seed++) {
                long which = seed;
                List<Operation> good = new Play<>(model, choices, 4, seed).run(60);
                Outcome outcome = WingGongSearch.run(model, good, MOST_STEPS);
                Outcome.Found found =
                        assertInstanceOf(Outcome.Found.class, outcome, () -> "seed " + which + ": " + outcome);
                assertIsExecution(model, found.order());
                List<Operation> spoilt = new Play<>(model, choices, 4, seed).runWithOneTooMany(40);
                Outcome none = WingGongSearch.run(model, spoilt, MOST_STEPS);
                assertInstanceOf(Outcome.Impossible.class, none, () -> "seed " + which + ": " + none);
            }
        });
    }

    /** The order that was found is one in the model, and in time. */
    private static <S> void assertIsExecution(SequentialModel<S> model, List<Operation> order) {
        S state = model.initial();
        long earliest = 0;
        for (Operation operation : order) {
            state = model.after(state, operation.action()).orElseThrow();
            earliest = Math.max(earliest, operation.call());
            assertTrue(earliest <= operation.end(), operation::toString);
        }
    }

    /** Every order of a few operations, tried one by one. */
    @Test
    void saysOfSmallHistoriesWhatTryingEveryOrderSays() {
        Random random = new Random(1);
        int[] found = new int[2];
        for (int round = 0; round < 3000; round++) {
            List<Operation> some = new ArrayList<>();
            for (int holder = 0; holder < 3; holder++) {
                long asked = random.nextInt(10);
                long granted = asked + random.nextInt(6);
                long releasing = granted + random.nextInt(6);
                boolean open = random.nextInt(4) == 0;
                List<LockClaim> claims =
                        List.of(random.nextInt(2) == 0 ? LockClaim.shared("/m") : LockClaim.exclusive("/m"));
                some.add(new Operation(new Action.Acquire("h" + holder, claims), holder, asked, granted));
                some.add(new Operation(
                        new Action.Release("h" + holder, claims),
                        holder,
                        releasing,
                        open ? Operation.OPEN : releasing + random.nextInt(4)));
            }
            boolean expected = anyOrder(new ReadWriteModel(), new ReadWriteModel().initial(), some);
            Outcome outcome = WingGongSearch.run(new ReadWriteModel(), some, MOST_STEPS);
            assertEquals(expected, outcome instanceof Outcome.Found, () -> some + " " + outcome);
            found[expected ? 1 : 0]++;
        }
        assertTrue(found[0] > 100 && found[1] > 100, "both kinds were tried: " + found[0] + ", " + found[1]);
    }

    private static <S> boolean anyOrder(SequentialModel<S> model, S state, List<Operation> left) {
        if (left.stream().allMatch(Operation::isOpen)) {
            return true;
        }
        long firstEnd = left.stream().mapToLong(Operation::end).min().orElseThrow();
        for (Operation next : left) {
            Optional<S> after = next.call() > firstEnd ? Optional.empty() : model.after(state, next.action());
            if (after.isPresent()) {
                List<Operation> rest = new ArrayList<>(left);
                rest.remove(next);
                if (anyOrder(model, after.get(), rest)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Ten clients, a thousand holds each, on one path: how long that takes is printed. */
    @Test
    void tenThousandHoldsOnOnePathAreSearchedInSeconds() {
        report("mutex", new MutexModel(), ALONE);
        report("read-write lock", new ReadWriteModel(), READ_WRITE);
        report("semaphore", new SemaphoreModel(4), PERMITS);
    }

    private static <S> void report(String name, SequentialModel<S> model, List<List<LockClaim>> choices) {
        List<Operation> operations = new Play<>(model, choices, 10, 7).run(20_000);
        long start = System.nanoTime();
        Outcome outcome = WingGongSearch.run(model, operations, MOST_STEPS);
        System.out.printf(
                "%s: %d operations of 10 clients in %d steps, %d ms%n",
                name, operations.size(), outcome.steps(), (System.nanoTime() - start) / 1_000_000);
        assertInstanceOf(Outcome.Found.class, outcome, outcome::toString);
    }
}
