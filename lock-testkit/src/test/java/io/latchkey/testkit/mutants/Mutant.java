// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.util.ArrayList;
import java.util.List;

/**
 * A seeded bug.
 *
 * @param name what it does wrong, in words
 * @param edits what it changes in the shipped sources; nothing for the control
 * @param tests of those that need a server, one that catches it, {@code TestClass#method}; none if the general judges
 *     do
 */
record Mutant(String name, List<Edit> edits, List<String> tests) {
    /** The locks as they are: whatever catches this one is wrong itself. */
    static final Mutant NONE = new Mutant("none", List.of(), List.of());

    /**
     * One change of one file.
     *
     * @param file the file below {@code io/latchkey/zk}, without {@code .java}
     * @param text what stands there, once
     * @param instead what stands there instead
     */
    record Edit(String file, String text, String instead) {
        /**
         * The changed source; fails when the text is not there just once, so that no mutant outlives what it changes.
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
