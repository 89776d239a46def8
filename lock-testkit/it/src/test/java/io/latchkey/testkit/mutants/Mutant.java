// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.util.ArrayList;
import java.util.List;

/**
 * A seeded bug.
 *
 * @param name the defect, in words
 * @param edits the changes to the shipped sources; empty for the control
 * @param tests if the general judges do not catch it, a test with a server that does, {@code TestClass#method}
 */
record Mutant(String name, List<Edit> edits, List<String> tests) {
    /** The unchanged locks: a killer that catches this one is itself wrong. */
    static final Mutant NONE = new Mutant("none", List.of(), List.of());

    /**
     * One change of one file.
     *
     * @param file the file below {@code io/latchkey/zk}, without {@code .java}
     * @param text the original text, which occurs once
     * @param instead its replacement
     */
    record Edit(String file, String text, String instead) {
        /**
         * Returns the changed source. Fails unless the text occurs exactly once, so that each mutant is kept up to
         * date.
         */
        String apply(String source) {
            int at = source.indexOf(text);
            if (at < 0 || source.indexOf(text, at + 1) >= 0) {
                throw new AssertionError("must occur once in " + file + ", but is there "
                        + (at < 0 ? "not at all" : "more than once") + ": " + text);
            }
            return source.substring(0, at) + instead + source.substring(at + text.length());
        }
    }

    static Mutant of(String name, String file, String text, String instead) {
        return new Mutant(name, List.of(new Edit(file, text, instead)), List.of());
    }

    Mutant and(String file, String text, String instead) {
        List<Edit> more = new ArrayList<>(edits);
        more.add(new Edit(file, text, instead));
        return new Mutant(name, List.copyOf(more), tests);
    }

    Mutant caughtBy(String... others) {
        return new Mutant(name, edits, List.of(others));
    }
}
