// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.history.LockClaim;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Random small histories, of which every order is tried one by one; and long ones. */
class WingGongSearchTest {
    private static final long MOST_STEPS = 1_000_000;
    private static final List<LockClaim> MUTEX = List.of(LockClaim.exclusive("/m"));
    private static final List<LockClaim> READ = List.of(LockClaim.shared("/m"));

    static Stream<Arguments> models() {
        return Stream.of(
                Arguments.of(new LocksModel(Map.of()), List.of(MUTEX)),
                Arguments.of(new ReentrantMutexModel(), List.of(MUTEX)),
                Arguments.of(new LocksModel(Map.of()), List.of(MUTEX, READ, READ)),
                Arguments.of(new LocksModel(Map.of("/s", 4)), List.of(permits(3), permits(1), permits(2))),
                Arguments.of(
                        new LocksModel(Map.of("/s", 4)),
                        List.of(
                                List.of(
                                        LockClaim.exclusive("/a"),
                                        LockClaim.shared("/b"),
                                        LockClaim.permits("/s", 2, 4)),
                                List.of(LockClaim.exclusive("/a")),
                                List.of(LockClaim.shared("/b")),
                                List.of(LockClaim.exclusive("/b"), LockClaim.permits("/s", 1, 4)),
                                permits(1))));
    }

    private static List<LockClaim> permits(int number) {
        return List.of(LockClaim.permits("/s", number, 4));
    }

    @ParameterizedTest
    @MethodSource("models")
    void saysOfSmallHistoriesWhatTryingEveryOrderSays(SequentialModel<?> model, List<List<LockClaim>> choices) {
        Random random = new Random(1);
        int[] found = new int[2];
        for (int round = 0; round < 3000; round++) {
            List<Operation> some = history(random, choices);
            boolean expected = anyOrder(model, some);
            Outcome outcome = WingGongSearch.run(model, some, MOST_STEPS);
            assertEquals(expected, outcome instanceof Outcome.Found, () -> some + " " + outcome);
            found[expected ? 1 : 0]++;
        }
        assertTrue(found[0] > 50 && found[1] > 50, "both kinds were tried: " + found[0] + ", " + found[1]);
    }

    /** Three holds, the second of which may be of the first one's holder, and maybe a refusal. */
    private static List<Operation> history(Random random, List<List<LockClaim>> choices) {
        List<Operation> some = new ArrayList<>();
        for (int hold = 0; hold < 3; hold++) {
            long asked = random.nextInt(16);
            long granted = asked + random.nextInt(6);
            long releasing = granted + random.nextInt(6);
            boolean open = random.nextInt(6) == 0;
            List<LockClaim> claims = choices.get(random.nextInt(choices.size()));
            String holder = "h" + (hold == 1 ? random.nextInt(2) : hold);
            some.add(new Operation(new Action.Acquire(holder, claims), hold, asked, granted));
            some.add(new Operation(
                    new Action.Release(holder, claims),
                    hold,
                    releasing,
                    open ? Operation.OPEN : releasing + random.nextInt(4)));
        }
        if (random.nextInt(3) == 0) {
            long asked = random.nextInt(20);
            List<LockClaim> claims = choices.get(random.nextInt(choices.size()));
            some.add(new Operation(new Action.Refuse(claims), 3, asked, asked + random.nextInt(6)));
        }
        return some;
    }

    private static <S> boolean anyOrder(SequentialModel<S> model, List<Operation> some) {
        return anyOrder(model, model.initial(), some);
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

    @Test
    void oneHoldTooMany_isFoundInALongHistory() {
        List<Operation> operations = new ArrayList<>();
        for (int hold = 0; hold < 1000; hold++) {
            hold(operations, "h" + hold % 7, hold, hold * 10L);
        }
        assertInstanceOf(Outcome.Found.class, WingGongSearch.run(new LocksModel(Map.of()), operations, MOST_STEPS));
        hold(operations, "thief", 1000, 5004);
        assertInstanceOf(
                Outcome.Impossible.class, WingGongSearch.run(new LocksModel(Map.of()), operations, MOST_STEPS));
    }

    private static void hold(List<Operation> operations, String holder, long attempt, long from) {
        operations.add(new Operation(new Action.Acquire(holder, MUTEX), attempt, from, from + 2));
        operations.add(new Operation(new Action.Release(holder, MUTEX), attempt, from + 7, from + 8));
    }
}
