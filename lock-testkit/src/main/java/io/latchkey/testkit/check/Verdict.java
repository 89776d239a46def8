// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import io.latchkey.testkit.report.HtmlReport;
import io.latchkey.testkit.report.Timeline.Evidence;
import java.util.List;
import java.util.stream.Collectors;

/** What a checker says about a history. Tests mostly {@link #assertNotBroken} or {@link #assertObeyed}. */
public sealed interface Verdict {

    /** {@return the rule that was checked, in a few words} */
    String rule();

    /** {@return how many grants were looked at; 0 can mean that nothing was recorded} */
    int grants();

    /**
     * The history obeys the rule.
     *
     * @param rule the rule that was checked, in a few words
     * @param grants the number of grants that were checked
     */
    record Obeyed(String rule, int grants) implements Verdict {
        @Override
        public String toString() {
            return rule + ": obeyed by " + counted(grants, "grant");
        }
    }

    /**
     * The history breaks the rule for certain.
     *
     * @param rule the rule that was checked, in a few words
     * @param grants the number of grants that were checked
     * @param findings what breaks it, each with a timeline
     * @param evidence what the findings rest on
     */
    record Broken(String rule, int grants, List<String> findings, Evidence evidence) implements Verdict {
        @Override
        public String toString() {
            return rule + ": BROKEN " + times(findings.size()) + " in " + counted(grants, "grant") + "\n"
                    + text(evidence, findings);
        }
    }

    /**
     * The history does not determine whether the rule is broken.
     *
     * @param rule the rule that was checked, in a few words
     * @param grants the number of grants that were checked
     * @param findings what may break it, and what is missing
     * @param evidence what the findings rest on
     */
    record Undecided(String rule, int grants, List<String> findings, Evidence evidence) implements Verdict {
        @Override
        public String toString() {
            return rule + ": cannot be decided in " + counted(findings.size(), "place") + "\n"
                    + text(evidence, findings);
        }
    }

    /**
     * The rule says nothing about this history: it is about other faults, or about something that was not recorded. To
     * ask for it is a mistake in the test.
     *
     * @param rule what was to be checked, in a few words
     * @param reason why it cannot be, and what can
     */
    record Inapplicable(String rule, String reason) implements Verdict {
        @Override
        public int grants() {
            return 0;
        }

        @Override
        public String toString() {
            return rule + ": does not apply to this history\n" + reason;
        }
    }

    /**
     * The same verdict, whose report tells right behind the rule how to see it again.
     *
     * @param context such as a seed and the command that replays it
     * @return the verdict with it; this one if the rule is obeyed or does not apply
     */
    default Verdict in(String context) {
        if (this instanceof Broken broken) {
            return new Broken(broken.rule, broken.grants, broken.findings, broken.evidence.in(context));
        } else if (this instanceof Undecided undecided) {
            return new Undecided(undecided.rule, undecided.grants, undecided.findings, undecided.evidence.in(context));
        }
        return this;
    }

    /**
     * Returns if the rule is obeyed. If it is not, there is a page of the history afterwards, as {@link HtmlReport}
     * writes it, and the error names it.
     *
     * <p>Use this where the faults are known to leave nothing open, as in a test of a few steps.
     *
     * @throws AssertionError if it is broken, the history does not tell, or the rule does not apply to it
     */
    default void assertObeyed() {
        if (!(this instanceof Obeyed)) {
            throw new AssertionError(report().announced());
        }
    }

    /**
     * Returns unless the rule is broken for certain. If it is, there is a page of the history afterwards, as
     * {@link HtmlReport} writes it, and the error names it.
     *
     * <p>Use this where random faults may leave something open: an {@link Undecided} history passes. {@link #grants}
     * returns whether anything was checked.
     *
     * @throws AssertionError if it is broken, or the rule does not apply to the history
     */
    default void assertNotBroken() {
        if (this instanceof Broken || this instanceof Inapplicable) {
            throw new AssertionError(report().announced());
        }
    }

    /**
     * {@return the page of the history, which is not written yet} The verdict of a rule that was obeyed,
     * or does not apply, has kept no history: see {@link HtmlReport#of(io.latchkey.testkit.history.History)}.
     */
    default HtmlReport report() {
        Evidence evidence = this instanceof Broken broken
                ? broken.evidence
                : this instanceof Undecided undecided ? undecided.evidence : Evidence.NONE;
        return HtmlReport.of(rule(), toString(), evidence);
    }

    private static String times(int number) {
        return number == 1 ? "once" : number + " times";
    }

    private static String counted(int number, String what) {
        return number + " " + what + (number == 1 ? "" : "s");
    }

    private static String text(Evidence evidence, List<String> findings) {
        int shown = 5;
        String context = evidence.context().isEmpty() ? "" : evidence.context() + "\n";
        String more = findings.size() > shown ? "\n... and " + (findings.size() - shown) + " more" : "";
        return context + findings.stream().limit(shown).collect(Collectors.joining("\n")) + more;
    }

    /**
     * {@return the verdict of a custom checker: broken, undecided or obeyed, in this precedence} It has no page of
     * the history.
     *
     * @param rule the rule that was checked, in a few words
     * @param grants the number of grants that were checked
     * @param broken what breaks the rule for certain
     * @param open what may break it, and what is missing
     */
    static Verdict of(String rule, int grants, List<String> broken, List<String> open) {
        if (!broken.isEmpty()) {
            return new Broken(rule, grants, List.copyOf(broken), Evidence.NONE);
        }
        return open.isEmpty()
                ? new Obeyed(rule, grants)
                : new Undecided(rule, grants, List.copyOf(open), Evidence.NONE);
    }
}
