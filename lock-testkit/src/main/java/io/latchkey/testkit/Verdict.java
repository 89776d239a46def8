package io.latchkey.testkit;

import java.util.List;
import java.util.stream.Collectors;

/** What a checker says about a history. */
public sealed interface Verdict {

    /** The rule that was checked. */
    String rule();

    /** How many grants were looked at. */
    int grants();

    /**
     * The history obeys the rule.
     *
     * @param rule the rule
     * @param grants how many grants were looked at
     */
    record Obeyed(String rule, int grants) implements Verdict {
        @Override
        public String toString() {
            return rule + ": obeyed by " + grants + " grants";
        }
    }

    /**
     * The history breaks the rule for certain.
     *
     * @param rule the rule
     * @param grants how many grants were looked at
     * @param findings what breaks it, each with a timeline
     */
    record Broken(String rule, int grants, List<String> findings) implements Verdict {
        /** Takes the findings as they are now. */
        public Broken {
            findings = List.copyOf(findings);
        }

        @Override
        public String toString() {
            return rule + ": BROKEN " + findings.size() + " times in " + grants + " grants\n" + text(findings);
        }
    }

    /**
     * The history does not tell whether the rule is broken: what was recorded leaves both open.
     *
     * @param rule the rule
     * @param grants how many grants were looked at
     * @param findings what may break it, and what is missing
     */
    record Undecided(String rule, int grants, List<String> findings) implements Verdict {
        /** Takes the findings as they are now. */
        public Undecided {
            findings = List.copyOf(findings);
        }

        @Override
        public String toString() {
            return rule + ": cannot be decided in " + findings.size() + " places\n" + text(findings);
        }
    }

    /**
     * Returns if the rule is obeyed.
     *
     * @throws AssertionError if it is broken or the history does not tell
     */
    default void assertObeyed() {
        if (!(this instanceof Obeyed)) {
            throw new AssertionError(toString());
        }
    }

    /**
     * Returns unless the rule is broken for certain.
     *
     * @throws AssertionError if it is
     */
    default void assertNotBroken() {
        if (this instanceof Broken) {
            throw new AssertionError(toString());
        }
    }

    private static String text(List<String> findings) {
        int shown = 5;
        String more = findings.size() > shown ? "\n... and " + (findings.size() - shown) + " more" : "";
        return findings.stream().limit(shown).collect(Collectors.joining("\n")) + more;
    }

    /** The verdict that follows from what was found. */
    static Verdict of(String rule, int grants, List<String> broken, List<String> open) {
        if (!broken.isEmpty()) {
            return new Broken(rule, grants, broken);
        }
        return open.isEmpty() ? new Obeyed(rule, grants) : new Undecided(rule, grants, open);
    }
}
