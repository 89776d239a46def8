// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.history.Attempt;
import io.latchkey.testkit.history.History;
import io.latchkey.testkit.history.LockClaim;
import io.latchkey.testkit.history.Script;
import org.junit.jupiter.api.Test;

class ReadWriteExclusionCheckerTest {
    private static final LockClaim ALONE = LockClaim.exclusive("/rw");
    private static final LockClaim SHARED = LockClaim.shared("/rw");

    private static Verdict live(Script script) {
        return ExclusionChecker.readWrite().whileSessionsLive(script.events());
    }

    private static void assertSays(Class<? extends Verdict> expected, Script script) {
        Verdict live = live(script);
        assertInstanceOf(expected, live, live::toString);
        Verdict looks = ExclusionChecker.readWrite().byTheirOwnLooks(script.events());
        assertInstanceOf(expected, looks, looks::toString);
    }

    @Test
    void readersMayHoldBesideReaders() {
        assertSays(
                Verdict.Obeyed.class,
                new Script()
                        .claiming(SHARED)
                        .held(0, 1, 10, "a", 1, 5)
                        .held(0, 2, 9, "b", 2, 6)
                        .claiming(ALONE)
                        .held(0, 10, 20, "c", 3, 7));
    }

    @Test
    void writerBesideAReader_isFound() {
        assertSays(
                Verdict.Broken.class,
                new Script()
                        .claiming(SHARED)
                        .held(0, 1, 10, "a", 1, 5)
                        .claiming(ALONE)
                        .held(0, 9, 20, "b", 2, 6));
        assertSays(
                Verdict.Broken.class,
                new Script()
                        .claiming(ALONE)
                        .held(0, 1, 10, "a", 1, 5)
                        .claiming(SHARED)
                        .held(0, 9, 20, "b", 2, 6));
    }

    @Test
    void twoWritersAtOnceAreFound() {
        assertSays(
                Verdict.Broken.class,
                new Script().claiming(ALONE).held(0, 1, 10, "a", 1, 5).held(0, 9, 20, "b", 2, 6));
    }

    @Test
    void writerAmongManyReaders_isFoundWithItsNeighbours() {
        Script script = new Script()
                .claiming(SHARED)
                .held(0, 1, 5, "gone", 1, 5)
                .held(0, 2, 30, "slow", 2, 6)
                .claiming(ALONE)
                .held(0, 20, 40, "writer", 3, 7);
        assertSays(Verdict.Broken.class, script);
        String text = live(script).toString();
        assertTrue(text.contains("slow (shared) and writer for 10.000 ms"), text);
    }

    @Test
    void otherPathsAndPermitsAreIgnored() {
        assertSays(
                Verdict.Obeyed.class,
                new Script()
                        .claiming(ALONE)
                        .held(0, 1, 10, "a", 1, 5)
                        .claiming(LockClaim.shared("/other"))
                        .held(0, 2, 9, "b", 2, 6)
                        .claiming(LockClaim.permits("/s", 3, 2))
                        .held(0, 2, 9, "c", 3, 7)
                        .held(0, 2, 9, "d", 4, 8));
    }

    @Test
    void multiLockCounts_onEveryMember() {
        Script both = new Script()
                .claiming(LockClaim.shared("/a"), LockClaim.exclusive("/b"))
                .held(0, 1, 10, "a", 1, 5)
                .claiming(LockClaim.exclusive("/b"))
                .held(0, 9, 20, "b", 2, 6);
        assertSays(Verdict.Broken.class, both);
        assertTrue(live(both).toString().contains("/b held at once"), () -> live(both)
                .toString());
        assertSays(
                Verdict.Obeyed.class,
                new Script()
                        .claiming(LockClaim.shared("/a"), LockClaim.exclusive("/b"))
                        .held(0, 1, 10, "a", 1, 5)
                        .claiming(LockClaim.shared("/a"))
                        .held(0, 9, 20, "b", 2, 6));
    }

    @Test
    void lostReaderIsUncertain_afterItsLastLook() {
        assertSays(
                Verdict.Undecided.class,
                new Script()
                        .claiming(SHARED)
                        .requested(0, "a", 1)
                        .granted(1, "a", 1, 5)
                        .valid(8, "a", 1)
                        .lost(20, "a", 1)
                        .claiming(ALONE)
                        .held(2, 15, 30, "b", 2, 6));
    }

    @Test
    void readerDoesNotCount_afterTheEndOfItsSession() {
        assertInstanceOf(
                Verdict.Obeyed.class,
                live(new Script()
                        .claiming(SHARED)
                        .requested(0, "a", 1)
                        .granted(1, "a", 1, 5, 77)
                        .sessionEnds(10, 12, "a", 77, ExpiryOrder.SERVER_FIRST)
                        .valid(25, "a", 1)
                        .lost(30, "a", 1)
                        .claiming(ALONE)
                        .held(2, 13, 40, "b", 2, 6)));
    }

    // ---- downgrades

    private static History downgraded() {
        History history = new History();
        Attempt write = history.attempt("a", ALONE);
        write.granted(5);
        Attempt read = write.downgraded(write.beforeLook());
        Attempt reader = history.attempt("b", SHARED);
        reader.granted(7);
        reader.valid(reader.beforeLook());
        read.valid(read.beforeLook());
        return history;
    }

    @Test
    void downgradedHoldCountsAsAReader() {
        History history = downgraded();
        ExclusionChecker.readWrite().whileSessionsLive(history).assertObeyed();
        TokenOrderChecker.check(history).assertObeyed();
    }

    @Test
    void writerGrantedDuringADowngrade_isFound() {
        Script downgraded = new Script()
                .claiming(ALONE)
                .held(0, 1, 5, "a", 1, 5)
                .claiming(SHARED)
                .held(5, 5, 20, "a", 2, 5)
                .held(0, 7, 9, "reader", 3, 7);
        assertSays(Verdict.Obeyed.class, downgraded);
        assertSays(Verdict.Broken.class, downgraded.claiming(ALONE).held(0, 10, 11, "writer", 4, 6));
    }
}
