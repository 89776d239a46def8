// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.testkit.check.BrokenLock.Flaw;
import io.latchkey.testkit.history.Attempt;
import io.latchkey.testkit.history.History;
import io.latchkey.testkit.history.LockClaim;
import io.latchkey.testkit.history.Script;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each checker of histories catches the lock that breaks its rule, and none accuses the lock that breaks none. */
@Timeout(60)
class BrokenLockTest {
    private static final Duration SERVED = Duration.ofSeconds(2);
    private static final LockClaim CLAIM = LockClaim.exclusive("/broken");

    /**
     * Three requests are made one after the other, and released in the order of their grants; a fourth tries without
     * waiting.
     */
    private static History played(Flaw flaw) {
        History history = new History();
        BrokenLock lock = new BrokenLock(flaw);
        List<CompletableFuture<Lease>> asked = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            asked.add(queued(history, lock, "C" + i));
        }
        for (int turn = 0; turn < 3; turn++) {
            Optional<CompletableFuture<Lease>> granted =
                    asked.stream().filter(CompletableFuture::isDone).findFirst();
            asked.removeIf(one -> granted.isPresent() && granted.get() == one);
            granted.map(CompletableFuture::join).ifPresent(lease -> {
                lease.isValid();
                lease.close();
            });
        }
        if (flaw == Flaw.FORGETS_RELEASES) {
            LockSupport.parkNanos(SERVED.multipliedBy(2).toNanos());
        } else {
            recorded(history, lock, "C3").ifPresent(Lease::close);
        }
        return history;
    }

    private static Optional<Lease> recorded(History history, Acquirable lock, String client) {
        try {
            return history.recorded(client, lock, CLAIM).tryAcquire();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static CompletableFuture<Lease> queued(History history, BrokenLock lock, String client) {
        Attempt attempt = history.attempt(client, CLAIM);
        CompletableFuture<Lease> asked = lock.acquireAsync();
        attempt.placed();
        return asked.thenApply(lease -> Script.granted(attempt, lease));
    }

    private static List<String> broken(Flaw flaw) {
        History history = played(flaw);
        List<Function<History, Verdict>> checkers = List.of(
                ExclusionChecker.mutex()::whileSessionsLive,
                FifoChecker::check,
                TokenOrderChecker::check,
                LossChecker::check,
                checked -> LivenessChecker.check(checked, SERVED, SERVED),
                LinearizabilityChecker::check);
        return checkers.stream()
                .map(checker -> checker.apply(history))
                .filter(Verdict.Broken.class::isInstance)
                .map(Verdict::rule)
                .toList();
    }

    @Test
    void flawlessLockPasses() {
        assertEquals(List.of(), broken(Flaw.NONE));
    }

    @Test
    void overlappingGrantsAreFound() {
        assertEquals(List.of("mutual exclusion while sessions live", "one thing at a time"), broken(Flaw.GRANTS_TWICE));
    }

    @Test
    void grantOutOfOrderIsFound() {
        assertEquals(List.of("first come, first served"), broken(Flaw.LAST_COME_FIRST));
    }

    @Test
    void forgottenReleaseIsFound() {
        assertEquals(List.of("every attempt ends when promised"), broken(Flaw.FORGETS_RELEASES));
    }

    @Test
    void unjustifiedRefusalIsFound() {
        assertEquals(List.of("one thing at a time"), broken(Flaw.REFUSES));
    }

    @Test
    void fallingTokensAreFound() {
        assertEquals(List.of("tokens grow with grants to live sessions"), broken(Flaw.TOKENS_FALL));
    }
}
