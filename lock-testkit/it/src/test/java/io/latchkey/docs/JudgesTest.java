// SPDX-License-Identifier: Apache-2.0
package io.latchkey.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The judges of mutants (docs/mutation.md) exist: PIT says nothing about a name that stands for no class. */
class JudgesTest {
    private static final Pattern JUDGES =
            Pattern.compile("(?:\\.simulated>|\\.served>|<argument>|mutation\\.judges=)(io\\.[\\w.,*]+Test)");

    @Test
    void eachNameStandsForATest() {
        List<String> tests = Docs.ofModules("src/test/java", ".java").stream()
                .map(file -> Docs.name(file).replace('/', '.'))
                .toList();
        List<String> names = Stream.of("lock-testkit/it/pom.xml", ".ci/run")
                .flatMap(file ->
                        JUDGES.matcher(Docs.read(Docs.root().resolve(file))).results())
                .flatMap(found -> Stream.of(found.group(1).split(",")))
                .toList();
        assertTrue(names.size() > 50, () -> "only " + names);
        assertEquals(
                List.of(),
                names.stream()
                        .filter(name -> {
                            String file = Pattern.quote("." + name + ".java").replace("*", "\\E[\\w.]*\\Q");
                            Pattern whole = Pattern.compile(".*" + file);
                            return tests.stream().noneMatch(whole.asMatchPredicate());
                        })
                        .toList());
    }
}
