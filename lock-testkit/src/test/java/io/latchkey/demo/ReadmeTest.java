package io.latchkey.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.EmbeddedZooKeeper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class ReadmeTest {
    private static final Pattern JAVA_IN_README = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    private static final Pattern MARKED = Pattern.compile("// begin\n(.*?)\n *// end", Pattern.DOTALL);
    private static final Path SOURCES = Path.of("lock-testkit/src/test/java/io/latchkey/demo");

    @Test
    void showsExactlyTheSourcesThatAreCompiledHere() throws IOException {
        Path root = root();
        List<String> compiled = new ArrayList<>();
        for (String source : List.of("ReadmeExample.java", "ReadmeKitExampleTest.java")) {
            compiled.addAll(blocks(MARKED, root.resolve(SOURCES).resolve(source)));
        }
        assertEquals(compiled, blocks(JAVA_IN_README, root.resolve("README.md")));
    }

    @Test
    void theExampleWorks() throws InterruptedException {
        List<String> written = new ArrayList<>();
        ReadmeExample.Store store = new ReadmeExample.Store() {
            @Override
            public String read(int order) {
                return "order " + order;
            }

            @Override
            public void write(int order, String text, long token) {
                assertTrue(token > 0);
                written.add(text);
            }
        };
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            new ReadmeExample(store).ship(server.connectString());
        }
        assertEquals(List.of("order 42, shipped"), written);
    }

    private static List<String> blocks(Pattern pattern, Path file) throws IOException {
        return pattern.matcher(Files.readString(file))
                .results()
                .map((MatchResult block) -> block.group(1).stripIndent().strip())
                .toList();
    }

    /** Where the README is: here or above. */
    private static Path root() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("lock-testkit"))) {
            folder = folder.getParent();
        }
        return folder;
    }
}
