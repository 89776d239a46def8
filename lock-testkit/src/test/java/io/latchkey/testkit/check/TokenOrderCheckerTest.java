// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.history.LockClaim;
import io.latchkey.testkit.history.Script;
import org.junit.jupiter.api.Test;

class TokenOrderCheckerTest {
    private static Verdict check(Script script) {
        return TokenOrderChecker.check(script.events());
    }

    @Test
    void growingTokensObeyTheRule() {
        assertInstanceOf(
                Verdict.Obeyed.class,
                check(new Script().held(0, 1, 2, "a", 1, 5).held(0, 3, 4, "b", 2, 6)));
    }

    @Test
    void lowerTokenLater_breaksTheRule() {
        assertInstanceOf(
                Verdict.Broken.class,
                check(new Script().held(0, 1, 2, "a", 1, 6).held(0, 3, 4, "b", 2, 5)));
    }

    @Test
    void equalTokens_breakTheRule() {
        assertInstanceOf(
                Verdict.Broken.class,
                check(new Script().held(0, 1, 2, "a", 1, 6).held(0, 3, 4, "b", 2, 6)));
    }

    @Test
    void grantToAnEndedSession_isIgnored() {
        assertInstanceOf(
                Verdict.Obeyed.class,
                check(new Script()
                        .requested(0, "a", 1)
                        .sessionEnds(1, 2, "a", 77, ExpiryOrder.SERVER_FIRST)
                        .held(0, 3, 20, "b", 2, 6)
                        .granted(4, "a", 1, 5, 77)
                        .lost(10, "a", 1)));
    }

    @Test
    void lostGrantOfAnUnknownSession_isUndecided() {
        assertInstanceOf(
                Verdict.Undecided.class,
                check(new Script()
                        .held(0, 3, 20, "b", 2, 6)
                        .requested(0, "a", 1)
                        .granted(4, "a", 1, 5)
                        .lost(10, "a", 1)));
    }

    @Test
    void readersAmongThemselvesHaveNoOrder() {
        assertInstanceOf(
                Verdict.Obeyed.class,
                check(new Script()
                        .claiming(LockClaim.shared("/rw"))
                        .held(0, 1, 10, "a", 1, 6)
                        .held(0, 3, 4, "b", 2, 5)
                        .claiming(LockClaim.exclusive("/rw"))
                        .held(0, 11, 12, "c", 3, 7)));
    }

    @Test
    void writerBelowAnEarlierReader_breaksTheRule() {
        assertInstanceOf(
                Verdict.Broken.class,
                check(new Script()
                        .claiming(LockClaim.shared("/rw"))
                        .held(0, 1, 2, "a", 1, 6)
                        .claiming(LockClaim.exclusive("/rw"))
                        .held(0, 3, 4, "b", 2, 5)));
    }

    @Test
    void readerBelowAnEarlierWriter_breaksTheRule() {
        assertInstanceOf(
                Verdict.Broken.class,
                check(new Script()
                        .claiming(LockClaim.exclusive("/rw"))
                        .held(0, 1, 2, "a", 1, 6)
                        .claiming(LockClaim.shared("/rw"))
                        .held(0, 3, 4, "b", 2, 5)));
    }

    @Test
    void downgradedLease_keepsItsTokenAlone() {
        Script downgraded = new Script()
                .claiming(LockClaim.exclusive("/rw"))
                .held(0, 1, 2, "a", 1, 6)
                .claiming(LockClaim.shared("/rw"))
                .held(2, 2, 4, "a", 2, 6);
        assertInstanceOf(Verdict.Obeyed.class, check(downgraded));
        assertInstanceOf(
                Verdict.Broken.class,
                check(downgraded.claiming(LockClaim.shared("/rw")).held(2, 5, 6, "b", 3, 6)));
    }

    @Test
    void permitsHaveNoOrder() {
        assertInstanceOf(
                Verdict.Obeyed.class,
                check(new Script()
                        .claiming(LockClaim.permits("/s", 1, 2))
                        .held(0, 1, 2, "a", 1, 6)
                        .held(0, 3, 4, "b", 2, 5)));
    }
}
