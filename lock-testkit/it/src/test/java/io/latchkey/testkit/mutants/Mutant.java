// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * A seeded bug.
 *
 * @param name the defect, in words
 * @param edits the changes of the shipped sources
 * @param test a test that finds it, {@code TestClass#method}; empty if random schedules do
 */
record Mutant(String name, List<Edit> edits, String test) {
    /**
     * One change of one file.
     *
     * @param file the file below {@code io/latchkey/zk}, without {@code .java}
     * @param text the original text, which occurs once
     * @param instead its replacement
     */
    record Edit(String file, String text, String instead) {
        /** Fails unless the text occurs exactly once, so that each bug is kept up to date. */
        private String apply(String source) {
            int at = source.indexOf(text);
            if (at < 0 || source.indexOf(text, at + 1) >= 0) {
                throw new AssertionError("must occur once in " + file + ", but is there "
                        + (at < 0 ? "not at all" : "more than once") + ": " + text);
            }
            return source.substring(0, at) + instead + source.substring(at + text.length());
        }
    }

    static Mutant of(String name, String file, String text, String instead) {
        return new Mutant(name, List.of(new Edit(file, text, instead)), "");
    }

    Mutant and(String file, String text, String instead) {
        return new Mutant(
                name,
                Stream.concat(edits.stream(), Stream.of(new Edit(file, text, instead)))
                        .toList(),
                test);
    }

    Mutant foundBy(String other) {
        return new Mutant(name, edits, other);
    }

    /** The changed sources, by their files. */
    Map<String, String> changed(UnaryOperator<String> sources) {
        Map<String, String> files = new LinkedHashMap<>();
        for (Edit edit : edits) {
            files.put(edit.file(), edit.apply(files.computeIfAbsent(edit.file(), sources)));
        }
        return files;
    }
}
