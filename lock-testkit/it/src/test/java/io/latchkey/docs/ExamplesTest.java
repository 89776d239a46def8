// SPDX-License-Identifier: Apache-2.0
package io.latchkey.docs;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * What the pages show of Java stands, line by line but for the indentation, in a source that is compiled and that a
 * test runs.
 */
class ExamplesTest {
    private static final Pattern JAVA = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    private static final Pattern KOTLIN = Pattern.compile("```kotlin\n(.*?)```", Pattern.DOTALL);
    private static final Pattern FUN = Pattern.compile("fun (?:<\\w+> )?(?:\\w+\\.)?(\\w+)\\(");
    private static final Pattern XML = Pattern.compile("```xml\n(.*?)```", Pattern.DOTALL);
    private static final Pattern OURS = Pattern.compile(
            "<groupId>io\\.latchkey</groupId>\\s*<artifactId>[\\w-]+</artifactId>\\s*<version>([^<]+)</version>");
    private static final Pattern OURS_FOR_GRADLE = Pattern.compile("'io\\.latchkey:[\\w-]+:([^']+)'");
    private static final Pattern SUREFIRE =
            Pattern.compile("<artifactId>maven-surefire-plugin</artifactId>\\s*<version>([^<]+)</version>");
    private static final Pattern RUNS = Pattern.compile("\\w*(Test|IT|Properties)\\.java");
    private static final String SAMPLE = "lock-testkit/src/sample";

    /** One file, as its lines without indentation. */
    private record Source(Path file, List<String> lines) {
        static Source of(Path file) {
            return new Source(file, stripped(Docs.read(file)));
        }

        boolean shows(String block) {
            return Collections.indexOfSubList(lines, stripped(block.stripTrailing())) >= 0;
        }

        String className() {
            return file.getFileName().toString().replace(".java", "");
        }

        boolean runs() {
            return RUNS.matcher(file.getFileName().toString()).matches();
        }
    }

    @Test
    void everyJavaBlockOfEveryPageIsCompiledAndRun() {
        List<Source> sources = Stream.of("src/test/java", "src/sample")
                .flatMap(folder -> Docs.ofModules(folder, ".java").stream())
                .map(Source::of)
                .toList();
        List<String> unfounded = new ArrayList<>();
        int blocks = 0;
        for (Path page : Docs.pages()) {
            for (String block : blocks(JAVA, page)) {
                blocks++;
                boolean founded = sources.stream()
                        .anyMatch(source -> source.shows(block) && (source.runs() || isUsed(source, sources)));
                if (!founded) {
                    unfounded.add(Docs.name(page) + ":\n" + block);
                }
            }
        }
        assertTrue(blocks >= 10, "only " + blocks + " examples");
        assertEquals(List.of(), unfounded, "in no source that a test runs");
    }

    @Test
    void everyKotlinBlockIsCompiledAndRunByTheSample() {
        List<Source> sources = Docs.files(Docs.root().resolve(SAMPLE), ".kt").stream()
                .map(Source::of)
                .toList();
        List<String> blocks = Docs.pages().stream()
                .flatMap(page -> blocks(KOTLIN, page).stream())
                .toList();
        String tests = sources.stream()
                .filter(source -> source.file().toString().endsWith("Test.kt"))
                .flatMap(source -> source.lines().stream())
                .collect(Collectors.joining("\n"));
        assertFalse(blocks.isEmpty());
        assertAll(blocks.stream().map(block -> () -> {
            assertTrue(sources.stream().anyMatch(source -> source.shows(block)), "in no source:\n" + block);
            FUN.matcher(block)
                    .results()
                    .forEach(function -> assertTrue(
                            tests.contains(function.group(1) + "(") || tests.contains("." + function.group(1) + " {"),
                            function.group(1) + " is in no test"));
        }));
    }

    @Test
    void mavenSettingsOnTheTestKitsPage_areThoseOfTheSample() {
        List<Source> poms = Docs.files(Docs.root().resolve(SAMPLE), "pom.xml").stream()
                .map(Source::of)
                .toList();
        List<String> blocks = blocks(XML, Docs.root().resolve("docs/testkit.md"));
        assertEquals(2, blocks.size());
        assertEquals(
                List.of(),
                blocks.stream()
                        .filter(block -> poms.stream().noneMatch(pom -> pom.shows(block)))
                        .toList());
    }

    @Test
    void ourVersionOnThePagesIsThatOfTheBuild() {
        String build = OURS.matcher(Docs.read(Docs.root().resolve("pom.xml")))
                .results()
                .findFirst()
                .orElseThrow()
                .group(1);
        List<String> shown = Docs.pages().stream()
                .flatMap(page -> blocks(XML, page).stream())
                .flatMap(block -> OURS.matcher(block).results())
                .map(version -> version.group(1))
                .filter(version -> !version.startsWith("${"))
                .toList();
        assertTrue(shown.size() >= 2, "README and first page name it, not only " + shown);
        assertEquals(Set.of(build), Set.copyOf(shown));
        List<String> forGradle = Docs.pages().stream()
                .flatMap(page -> OURS_FOR_GRADLE.matcher(Docs.read(page)).results())
                .map(version -> version.group(1))
                .toList();
        assertTrue(forGradle.size() >= 2, "README and first page name it, not only " + forGradle);
        assertEquals(Set.of(build), Set.copyOf(forGradle));
    }

    @Test
    void sampleForGradleHasTheVersionsOfItsPom() {
        String folder = SAMPLE + "/order-service/";
        String pom = Docs.read(Docs.root().resolve(folder + "pom.xml"));
        String gradle = Docs.read(Docs.root().resolve(folder + "build.gradle"));
        String latchkey = only("<latchkey\\.version>([^<]+)<", pom);
        String junit = only("<junit\\.version>5\\.([^<]+)<", pom);
        String nop = only("<artifactId>slf4j-nop</artifactId>\\s*<version>([^<]+)<", pom);
        assertEquals(latchkey, only("def latchkey = '([^']+)'", gradle));
        assertEquals(junit, only("def junit = '5\\.([^']+)'", gradle));
        assertEquals(junit, only("def junitPlatform = '1\\.([^']+)'", gradle));
        assertEquals(nop, only("'org\\.slf4j:slf4j-nop:([^']+)'", gradle));
    }

    private static String only(String pattern, String text) {
        Matcher found = Pattern.compile(pattern).matcher(text);
        assertTrue(found.find(), pattern);
        return found.group(1);
    }

    @Test
    void surefireOnThePagesIsThatOfTheBuild() {
        List<String> shown = Docs.pages().stream()
                .flatMap(page -> blocks(XML, page).stream())
                .flatMap(block -> SUREFIRE.matcher(block).results())
                .map(version -> version.group(1))
                .toList();
        assertEquals(1, shown.size(), "the test kit's page names it");
        Matcher build = SUREFIRE.matcher(Docs.read(Docs.root().resolve("pom.xml")));
        assertTrue(build.find());
        assertEquals(Set.of(build.group(1)), Set.copyOf(shown));
    }

    /** Whether a test mentions its class. */
    private static boolean isUsed(Source source, List<Source> sources) {
        Pattern name = Pattern.compile("\\b" + source.className() + "\\b");
        return sources.stream().filter(Source::runs).anyMatch(test -> test.lines().stream()
                .anyMatch(name.asPredicate()));
    }

    private static List<String> blocks(Pattern pattern, Path page) {
        return pattern.matcher(Docs.read(page))
                .results()
                .map(block -> block.group(1))
                .toList();
    }

    private static List<String> stripped(String text) {
        return text.lines().map(String::strip).toList();
    }
}
