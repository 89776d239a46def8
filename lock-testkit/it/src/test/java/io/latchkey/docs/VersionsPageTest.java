// SPDX-License-Identifier: Apache-2.0
package io.latchkey.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * docs/compatibility.md names the versions that the build has, those of old servers and of the sample projects
 * included.
 */
class VersionsPageTest {
    private static final String VERSION = "(\\d+\\.\\d+(?:\\.\\d+)?(?:\\.Final)?)";

    /** File, and what stands around a version in it; the first group is the version. */
    private static final Map<String, List<String>> NAMED = Map.of(
            "pom.xml", List.of("<(?:zookeeper|kerby|curator|micrometer|junit|jqwik|netty)\\.version>" + VERSION),
            "lock-zk/bench/pom.xml", List.of("<(?:redisson|jetcd|netty)\\.version>" + VERSION),
            "lock-testkit/it/pom.xml", List.of("<artifactId>zookeeper</artifactId>\\s*<version>" + VERSION),
            "lock-testkit/src/sample/spring-billing/pom.xml",
                    List.of(
                            "<shedlock\\.version>" + VERSION,
                            "<artifactId>spring-boot-starter-parent</artifactId>\\s*<version>" + VERSION),
            "lock-testkit/src/sample/neighbours/pinned/pom.xml",
                    List.of(
                            "<(?:curator|zookeeper|slf4j)\\.version>" + VERSION,
                            "<guava\\.version>" + VERSION,
                            "<artifactId>netty-bom</artifactId>\\s*<version>" + VERSION),
            "lock-testkit/src/sample/neighbours/oldest/pom.xml", List.of("<zookeeper\\.version>" + VERSION),
            "lock-testkit/src/sample/neighbours/boot-first/pom.xml",
                    List.of(
                            "<netty\\.version>" + VERSION,
                            "<artifactId>spring-boot-starter-parent</artifactId>\\s*<version>" + VERSION),
            "lock-testkit/src/sample/kotlin-shipping/pom.xml", List.of("<(?:kotlin|coroutines)\\.version>" + VERSION),
            ".ci/sample",
                    List.of("set -- " + VERSION + ":", "set -- [\\d.]+:" + VERSION, "set -- \\S+ \\S+?:" + VERSION));

    @Test
    void versionsOfTheBuildAreOnThePage() {
        List<String> cells = Pattern.compile("[|,]")
                .splitAsStream(Docs.read(Docs.root().resolve("docs/compatibility.md")))
                .map(String::strip)
                .toList();
        List<String> found = NAMED.entrySet().stream()
                .flatMap(file -> versions(Docs.read(Docs.root().resolve(file.getKey())), file.getValue()))
                .distinct()
                .toList();
        assertTrue(found.size() >= 15, () -> "only " + found);
        assertEquals(
                List.of(),
                found.stream().filter(version -> !cells.contains(version)).toList(),
                "not on the page");
    }

    private static Stream<String> versions(String text, List<String> patterns) {
        return patterns.stream()
                .flatMap(pattern -> Pattern.compile(pattern).matcher(text).results())
                .map(version -> version.group(1));
    }
}
