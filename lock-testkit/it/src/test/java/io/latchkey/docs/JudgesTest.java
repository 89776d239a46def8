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
            Pattern.compile("<latchkey\\.mutation\\.(?:simulated|served)>([^<]+)<|<argument>(io\\.[\\w.,]+Test)<");

    @Test
    void eachNameStandsForATest() {
        List<String> tests = Docs.ofModules("src/test/java", ".java").stream()
                .map(file -> Docs.name(file).replace('/', '.'))
                .toList();
        List<String> names = JUDGES.matcher(Docs.read(Docs.root().resolve("lock-testkit/it/pom.xml")))
                .results()
                .map(found -> found.group(1) == null ? found.group(2) : found.group(1))
                .flatMap(list -> Stream.of(list.split(",")))
                .toList();
        assertTrue(names.size() > 50, () -> "only " + names);
        assertEquals(
                List.of(),
                names.stream()
                        .filter(name -> {
                            String file = Pattern.quote("." + name + ".java").replace("*", "\\E\\w*\\Q");
                            Pattern whole = Pattern.compile(".*" + file);
                            return tests.stream().noneMatch(whole.asMatchPredicate());
                        })
                        .toList());
    }
}
