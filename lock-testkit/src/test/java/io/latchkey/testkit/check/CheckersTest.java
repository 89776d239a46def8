// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.testkit.history.Attempt;
import io.latchkey.testkit.history.History;
import io.latchkey.testkit.history.LockClaim;
import io.latchkey.testkit.history.Script;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Verdicts of the checkers over histories that {@link Script} reads; a text behind a colon is in the verdict. */
class CheckersTest {
    private static final long STEPS = 100_000;

    private static void assertSays(String expected, Verdict verdict) {
        String[] parts = expected.split(": ", 2);
        assertEquals(parts[0], verdict.getClass().getSimpleName(), verdict::toString);
        assertTrue(parts.length == 1 || verdict.toString().contains(parts[1]), verdict::toString);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    Obeyed | a#1 held 0-1-10=5; b#2 held 0.5-10.2-20=6; a#3 held 15-20.1-30=7
                    Obeyed | ''
                    Obeyed | a#1 held 0-1-10=5; b#2 held 2-10-20=6
                    Broken: a and b for 1.000 ms | a#1 held 0-1-10=5; b#2 held 2-9-20=6
                    Broken: a #1 token 5 | a#1 held 0-1-10=5; b#2 held 2-9-20=6
                    # behind a shorter hold
                    Broken | a#1 held 0-1-100=5; b#2 held 2-3-4=6; c#3 held 2-50-60=7
                    # of one client
                    Broken | a#1 held 0-1-10=5; a#2 held 2-3-5=6
                    # a lost hold counts until its last look, and is uncertain until the reported loss
                    Broken | a#1 asks 0 granted 1=5 valid 8 lost 20; b#2 held 2-7-30=6
                    Undecided | a#1 asks 0 granted 1=5 valid 8 lost 20; b#2 held 2-15-30=6
                    """)
    void mutex_isJudgedBySessionsAndByLooks(String expected, String history) {
        assertSays(expected, ExclusionChecker.mutex().whileSessionsLive(Script.of(history)));
        assertSays(expected, ExclusionChecker.mutex().byTheirOwnLooks(Script.of(history)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    # after and before the end of the session; another session of the client
                    Obeyed | a#1 asks 0 granted 1=5@77; a@77 ends 10-12; a#1 valid 25 lost 30; b#2 held 2-13-40=6
                    Broken | a#1 asks 0 granted 1=5@77; a@77 ends 10-12; a#1 valid 25 lost 30; b#2 held 2-9-40=6
                    Broken | a@76 ends 0-1; a#1 asks 2 granted 3=5@77 released 20; b#2 held 2-9-40=6
                    # granted to a session that has ended, and to an unknown one
                    Obeyed | a#1 asks 0; a@77 ends 1-2; b#2 held 0-3-20=6; a#1 granted 4=5@77 valid 5 lost 10
                    Undecided | a#1 asks 0; a@77 ends 1-2; b#2 held 0-3-20=6; a#1 granted 4=5 valid 5 lost 10
                    # the weaker rule does not see looks after an expiry by time
                    Obeyed | a#1 asks 0 granted 1=5@77; a@77 ends 10-30/PARTITION; a#1 valid 35 lost 36; b#2 held 2-31-40=6
                    # a reader
                    Obeyed | on /m:r; a#1 asks 0 granted 1=5@77; a@77 ends 10-12; a#1 valid 25 lost 30; on /m; b#2 held 2-13-40=6
                    """)
    void holdEnds_withItsSession(String expected, String history) {
        assertSays(expected, ExclusionChecker.readWrite().whileSessionsLive(Script.of(history)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    # no local clock can know of an end that the server forces
                    Inapplicable: ask whileSessionsLive | a#1 asks 0 granted 1=5@77; a@77 ends 10-12; a#1 valid 25 lost 30; b#2 held 2-13-40=6
                    Obeyed | a#1 asks 0 granted 1=5@77; a@77 ends 10-30/PARTITION; a#1 valid 20 lost 25; b#2 held 2-31-40=6
                    Broken | a#1 asks 0 granted 1=5@77; a@77 ends 10-30/PARTITION; a#1 valid 35 lost 36; b#2 held 2-31-40=6
                    # without an end
                    Undecided | a#1 asks 0 granted 1=5; b#2 held 2-1000-1001=6
                    """)
    void holdEnds_withItsLastLook(String expected, String history) {
        assertSays(expected, ExclusionChecker.mutex().byTheirOwnLooks(Script.of(history)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    Obeyed | on /rw:r; a#1 held 0-1-10=5; b#2 held 0-2-9=6; on /rw; c#3 held 0-10-20=7
                    Broken | on /rw:r; a#1 held 0-1-10=5; on /rw; b#2 held 0-9-20=6
                    Broken | on /rw; a#1 held 0-1-10=5; on /rw:r; b#2 held 0-9-20=6
                    Broken | on /rw; a#1 held 0-1-10=5; b#2 held 0-9-20=6
                    Broken: slow (shared) and writer for 10.000 ms | on /rw:r; gone#1 held 0-1-5=5; slow#2 held 0-2-30=6; on /rw; writer#3 held 0-20-40=7
                    # other paths and permits
                    Obeyed | on /rw; a#1 held 0-1-10=5; on /other:r; b#2 held 0-2-9=6; on /s:3of2; c#3 held 0-2-9=7; d#4 held 0-2-9=8
                    # multi-locks
                    Broken: /b held at once | on /a:r /b; a#1 held 0-1-10=5; on /b; b#2 held 0-9-20=6
                    Obeyed | on /a:r /b; a#1 held 0-1-10=5; on /a:r; b#2 held 0-9-20=6
                    Undecided | on /rw:r; a#1 asks 0 granted 1=5 valid 8 lost 20; on /rw; b#2 held 2-15-30=6
                    # downgrades
                    Obeyed | on /rw; a#1 held 0-1-5=5; on /rw:r; a#2 held 5-5-20=5; reader#3 held 0-7-9=7
                    Broken | on /rw; a#1 held 0-1-5=5; on /rw:r; a#2 held 5-5-20=5; on /rw; writer#4 held 0-10-11=6
                    """)
    void readersShareAndWritersExclude(String expected, String history) {
        assertSays(expected, ExclusionChecker.readWrite().whileSessionsLive(Script.of(history)));
        assertSays(expected, ExclusionChecker.readWrite().byTheirOwnLooks(Script.of(history)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    Obeyed | on /s:1of3; a#1 held 0-1-10=5; on /s:2of3; b#2 held 0-2-9=6; c#3 held 0-9-20=7; on /s:3of3; d#4 held 0-20-30=8
                    # each pair fits
                    Broken: a (1 of 3), b (1 of 3) and c (2 of 3) for 2.000 ms | on /s:1of3; a#1 held 0-1-10=5; b#2 held 0-2-10=6; on /s:2of3; c#3 held 0-8-20=7
                    Broken | on /s:1of3; a#1 held 0-1-10=5; on /s:3of3; b#2 held 0-2-9=6
                    # the largest capacity counts
                    Obeyed | on /s:3of3; a#1 held 0-1-10=5; on /s:1of4; b#2 held 0-2-9=6
                    Undecided | on /s:2of3; a#1 asks 0 granted 1=5 valid 8 lost 20; b#2 held 2-15-30=6
                    # semaphores are counted apart, and from other locks
                    Obeyed | on /s:3of3; a#1 held 0-1-10=5; on /t:3of3; b#2 held 0-2-9=6; on /s:r; c#3 held 0-2-9=7
                    Broken | on /m /s:2of3; a#1 held 0-1-10=5; on /s:2of3; b#2 held 0-9-20=6
                    """)
    void permitsInUse_areAtMostTheCapacity(String expected, String history) {
        assertSays(expected, ExclusionChecker.permits().whileSessionsLive(Script.of(history)));
        assertSays(expected, ExclusionChecker.permits().byTheirOwnLooks(Script.of(history)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    Obeyed | a#1 queued 0; b#2 queued 1; a#1 granted 2=5 released 3; b#2 granted 4=6 released 5
                    Broken: /m: b #2 token 6 was granted before a #1 token 5 | a#1 queued 0; b#2 queued 1 granted 2=6 released 3; a#1 granted 4=5 released 5
                    # requests at the same time
                    Obeyed | a#1 asks 0; b#2 queued 1; a#1 placed 1.2; b#2 granted 2=6 released 3; a#1 granted 4=5 released 5
                    # no placing is recorded
                    Inapplicable | a#1 held 0-1-10=5; b#2 held 0.5-11-20=6
                    Obeyed | a#1 held 0-1-10=5; b#2 held 11-12-20=6
                    # readers
                    Obeyed | on /m:r; a#1 queued 0; b#2 queued 1 granted 2=6; a#1 granted 3=5 released 4; b#2 released 4
                    Broken | on /m:r; first#1 queued 0 granted 1=5 released 20; on /m; writer#2 queued 2 granted 30=6; on /m:r; late#3 queued 5 granted 6=7 released 7
                    Obeyed | a#1 queued 0 granted 1=5; writer#2 queued 2; a#1 downgraded 5>3; a#3 released 8; on /m; writer#2 granted 10=6
                    # permits: enough for both, and not
                    Obeyed | on /m:2of3; a#1 queued 0; on /m:1of3; b#2 queued 1 granted 2=6; on /m:2of3; a#1 granted 3=5
                    Broken | on /m:2of3; holder#1 queued 0 granted 1=5 released 20; a#2 queued 2; on /m:1of3; b#3 queued 3 granted 4=7; on /m:2of3; a#2 granted 21=6
                    # given up, not granted, and not granted for the end of the session
                    Obeyed | a#1 queued 0; b#2 queued 1 granted 2=6; a#1 gaveUp 3
                    Broken | a#1 queued 0; b#2 queued 1 granted 2=6
                    Undecided | a#1 queued 0; b#2 queued 1 granted 2=6; a@77 ends 1.8-1.9
                    Obeyed | a#1 queued 0; a@77 ends 1-2; b#2 queued 1.2 granted 3=6; a#1 granted 4=5@77 lost 5
                    Broken | on /m /other; both#1 queued 0; on /other; b#2 queued 1 granted 2=6 released 3; on /m /other; both#1 granted 4=5
                    # of one that is never granted it is not known where it was placed
                    Inapplicable | a#1 asks 0; b#2 asks 1 granted 2=6 released 3; c#3 asks 4 granted 5=7
                    Obeyed | on /leader; a#1 asks 0; on /m; b#2 asks 1 granted 2=6 released 3; c#3 asks 4 granted 5=7
                    """)
    void firstComeIsFirstServed(String expected, String history) {
        assertSays(expected, FifoChecker.check(Script.of(history)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    Obeyed | a#1 held 0-1-100=5; b#2 held 2-110-200=6
                    Obeyed | a#1 held 0-1-500=5; b#2 asks 2/PT0.1S gaveUp 107
                    Broken: b #2 had 100.000 ms and ended 1.000 ms later | a#1 held 0-1-500=5; b#2 asks 2/PT0.1S gaveUp 108
                    Broken | a#1 asks 0/PT0.01S granted 16=5 released 17
                    Broken | a#1 held 0-1-500=5; b#2 asks 2/PT0S gaveUp 23
                    Broken: has not ended | b#2 asks 2/PT0.1S; a#1 held 0-1-500=5
                    Broken: b #2 token 6: could hold | a#1 held 0-1-10=5; b#2 asks 2 granted 33=6
                    # later arrivals do not hide a waiter that is not woken
                    Broken | a#1 held 0-1-10=5; b#2 asks 10; c#3 asks 15; d#4 asks 20; e#5 asks 25; f#6 asks 30; g#7 asks 35; h#8 asks 40; i#9 asks 45; a note 60
                    # a fault restarts the bound
                    Obeyed | a#1 held 0-1-10=5; b#2 asks 2; c@7 ends 20-25; b#2 granted 44=6 released 50
                    Undecided: b #2 still waits at the end of the record, while these may hold: a #1 | a#1 asks 0 granted 1=5; b#2 asks 2; a note 500
                    Broken | on /m:r; a#1 asks 0 granted 1=5; b#2 asks 2; a note 500
                    Undecided | on /m:r; a#1 asks 0 granted 1=5; on /m; b#2 asks 2; on /m:r; c#3 asks 3; a note 500
                    Broken | on /s:2of3; a#1 asks 0 granted 1=5; on /s:1of3; b#2 asks 2; a note 500
                    Undecided | on /s:2of3; a#1 asks 0 granted 1=5; on /s:1of3; b#2 asks 2; on /s:2of2; c#3 resized 0.1-0.2; a note 500
                    Undecided | on /a; a#1 asks 0 granted 1=5; on /a /b; both#2 asks 2; on /b; behind#3 asks 3; a note 500
                    Undecided | a#1 asks 0; a note 10
                    """)
    void attemptEnds_whenPromised(String expected, String history) {
        assertSays(expected, LivenessChecker.check(Script.of(history), Duration.ofMillis(5), Duration.ofMillis(20)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    Obeyed | a#1 asks 0 granted 1=5@77 valid 2 lost 10
                    Obeyed | a#1 asks 0 granted 1=5@77 valid 2 released 10
                    Broken | a#1 asks 0 granted 1=5@77 valid 2 lost 10 lost 11
                    Broken | a#1 asks 0 granted 1=5@77 valid 2 lost 10 valid 11
                    Broken | a#1 asks 0 granted 1=5@77 valid 2 lost 10 released 11
                    Obeyed | a#1 asks 0 granted 1=5@77 valid 2 lost 10.5 released 10
                    Broken | a#1 asks 0 lost 1 granted 2=5
                    Undecided | a#1 asks 0 granted 1=5@77 valid 2; a@77 ends 10-12
                    Obeyed | a#1 asks 0 granted 1=5@77 valid 2; a@77 ends 10-12; a#1 lost 20
                    Obeyed | a#1 asks 0 granted 1=5@77 valid 2; a@76 ends 10-12
                    """)
    void lossIsReportedOnce(String expected, String history) {
        assertSays(expected, LossChecker.check(Script.of(history)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    Obeyed | a#1 held 0-1-2=5; b#2 held 0-3-4=6
                    Broken | a#1 held 0-1-2=6; b#2 held 0-3-4=5
                    Broken | a#1 held 0-1-2=6; b#2 held 0-3-4=6
                    Obeyed | a#1 asks 0; a@77 ends 1-2; b#2 held 0-3-20=6; a#1 granted 4=5@77 lost 10
                    Undecided | b#2 held 0-3-20=6; a#1 asks 0 granted 4=5 lost 10
                    Obeyed | on /rw:r; a#1 held 0-1-10=6; b#2 held 0-3-4=5; on /rw; c#3 held 0-11-12=7
                    Broken | on /rw:r; a#1 held 0-1-2=6; on /rw; b#2 held 0-3-4=5
                    Broken | on /rw; a#1 held 0-1-2=6; on /rw:r; b#2 held 0-3-4=5
                    # a downgraded lease alone keeps its token
                    Obeyed | on /rw; a#1 held 0-1-2=6; on /rw:r; a#2 held 2-2-4=6
                    Broken | on /rw; a#1 held 0-1-2=6; on /rw:r; a#2 held 2-2-4=6; b#3 held 2-5-6=6
                    Obeyed | on /s:1of2; a#1 held 0-1-2=6; b#2 held 0-3-4=5
                    # without tokens
                    Obeyed | ''
                    Inapplicable: no grant has a token | a#1 held 0-1-2=0; b#2 held 0-3-4=0
                    Obeyed | a#1 held 0-1-2=6; on /view; b#2 held 0-3-4=0; c#3 held 0-5-6=0
                    Broken | a#1 held 0-1-2=6; b#2 held 0-3-4=0; c#3 held 0-5-6=7
                    """)
    void tokensGrow(String expected, String history) {
        assertSays(expected, TokenOrderChecker.check(Script.of(history)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    Obeyed | a#1 held 0-1-10=5; b#2 held 0.5-10.2-20=6; a#3 held 3-20.5-30=7
                    Obeyed | ''
                    Broken: no order explains that #2 acquires /m | a#1 held 0-1-10=5; b#2 held 2-9-20=6
                    # granted during the release
                    Obeyed | a#1 held 0-1-10=5; b#2 held 2-10.5-20=6
                    # refusals: of a free lock, of one that is held, and of one that another may have had
                    Broken | a#1 held 0-1-10=5; b#2 asks 12/PT0S gaveUp 13
                    Obeyed | a#1 held 0-1-10=5; b#2 asks 5/PT0S gaveUp 6
                    Obeyed | waits#3 asks 11.5; a#1 held 0-1-10=5; b#2 asks 12/PT0S gaveUp 13
                    # a release without an end, a loss, and a grant to a session that has ended
                    Obeyed | a#1 asks 0 granted 1=5 releasing 5; b#2 held 2-100-110=6
                    Undecided | a#1 asks 0 granted 1=5 valid 8 lost 20; b#2 held 2-15-30=6
                    Broken | a#1 asks 0 granted 1=5 valid 8 lost 20; b#2 held 2-7-30=6
                    Obeyed | a#1 asks 0; a@77 ends 1-2; b#2 held 0-3-20=6; a#1 granted 4=5@77 valid 5 lost 10
                    # only a view may be locked again
                    Broken | a/t#1 held 0-1-10=0; a/t#2 held 2-3-5=0
                    # readers, writers, downgrades
                    Obeyed | on /m:r; a#1 held 0-1-10=5; b#2 held 0-2-9=6
                    Broken | on /m:r; a#1 held 0-1-10=5; on /m; b#2 held 0-9-20=6
                    Obeyed | a#1 asks 0 granted 1=0 downgraded 5>2; a#2 released 20; reader#3 held 3-7-9=7
                    Broken | a#1 asks 0 granted 1=0 downgraded 5>2; a#2 released 20; on /m; writer#4 held 4-10-11=6
                    Broken | a#1 asks 0 granted 1=0 downgraded 5>2; a#2 released 20; reader#3 held 2-4-9=7
                    # permits, and shrinking
                    Obeyed | on /m:1of3; a#1 held 0-1-10=5; on /m:2of3; b#2 held 0-2-10=6
                    Broken | on /m:1of3; a#1 held 0-1-10=5; on /m:2of3; b#2 held 0-2-10=6; on /m:1of3; c#3 held 0-3-10=7
                    Obeyed | on /m:1of2; a#1 held 0-1-20=5; b#2 held 0-2-20=6; on /m:1of1; c#3 resized 5-6
                    Broken | on /m:1of2; a#1 held 0-1-20=5; b#2 held 7-8-20=6; on /m:1of1; c#3 resized 5-6
                    Obeyed | on /m:1of2; a#1 held 0-1-20=5; b#2 held 4-8-20=6; on /m:1of1; c#3 resized 5-6
                    # multi-locks take all members at once, and a refusal needs one that is held
                    Obeyed | on /a /m:2of3; both#1 held 0-1-10=5; on /m:1of3; permit#2 held 0-2-9=6; on /a; a#3 held 0-11.5-12=7
                    Broken | on /a /m:2of3; both#1 held 0-1-10=5; on /m:1of3; permit#2 held 0-2-9=6; more#4 held 0-3-9=8
                    Obeyed | on /a; a#1 held 0-1-10=5; on /a /b; both#2 asks 5/PT0S gaveUp 6
                    Broken | on /a; a#1 held 0-1-10=5; on /a /b; both#2 asks 5/PT0S gaveUp 6; both#3 asks 15/PT0S gaveUp 16
                    # the permits may be had before the shrink and the mutex after it
                    Undecided | on /a; a#1 held 0-1-10=5; on /a /m:2of2; both#2 held 2-11-20=6; on /m:1of1; c#3 resized 5-6
                    Broken | on /a /m:2of2; both#1 held 7-8-20=5; on /m:1of1; c#2 resized 5-6
                    """)
    void operationsHaveAnOrder(String expected, String history) {
        assertSays(expected, LinearizabilityChecker.check(Script.of(history), STEPS));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    Obeyed | a/t#1 held 0-1-10=0; a/t#2 held 2-3-5=0
                    Broken | a/t#1 held 0-1-10=0; a/u#2 held 2-3-5=0
                    # the inner release admits no waiter
                    Broken | a/t#1 held 0-1-10=0; a/t#2 held 2-3-5=0; a/u#3 held 4-7-8=0
                    """)
    void view_mayBeLockedAgainOnlyByItsHolder(String expected, String history) {
        assertSays(expected, LinearizabilityChecker.ofViews(Script.of(history), STEPS));
    }

    @Test
    void verdictIsUndecided_whenTheSearchTakesTooLong() {
        assertSays("Undecided", LinearizabilityChecker.check(Script.of("a#1 held 0-1-2=1; a#2 held 3-4-5=2"), 1));
    }

    @Test
    void assertionsFail_unlessTheRuleIsObeyed() {
        ExclusionChecker checker = ExclusionChecker.mutex();
        Verdict broken = checker.whileSessionsLive(Script.of("a#1 held 0-1-10=5; b#2 held 2-9-20=6"));
        assertEquals(2, broken.grants());
        assertThrows(AssertionError.class, broken::assertObeyed);
        assertThrows(AssertionError.class, broken::assertNotBroken);
        Verdict open = checker.byTheirOwnLooks(Script.of("a#1 asks 0 granted 1=5; b#2 held 2-1000-1001=6"));
        assertThrows(AssertionError.class, open::assertObeyed);
        assertDoesNotThrow(open::assertNotBroken);
        Verdict about = checker.byTheirOwnLooks(
                Script.of("a#1 asks 0 granted 1=5@77; a@77 ends 10-12; a#1 valid 25 lost 30; b#2 held 2-13-40=6"));
        assertThrows(AssertionError.class, about::assertNotBroken);
    }

    @Test
    void lossFoundByARelease_isReportedOnce() {
        History history = new History();
        Attempt attempt = history.attempt("a", "/m");
        attempt.granted(5);
        attempt.releasing();
        attempt.lost("SESSION_EXPIRED");
        attempt.released(ReleaseOutcome.LOST);
        LossChecker.check(history).assertObeyed();
    }

    @Test
    void claimsOfNothingAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> LockClaim.permits("/s", 0, 3));
        assertThrows(IllegalArgumentException.class, () -> LockClaim.permits("/s", 1, 0));
        assertThrows(IllegalArgumentException.class, () -> new History().attempt("a", new LockClaim[0]));
    }
}
