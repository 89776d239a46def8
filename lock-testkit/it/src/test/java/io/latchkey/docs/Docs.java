// SPDX-License-Identifier: Apache-2.0
package io.latchkey.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The documentation as files. Some of it is drawn from the code: whole files, and parts of pages between the comments
 * {@code <!-- drawn: NAME -->} and {@code <!-- end -->}. {@link #COMMAND} draws these again.
 */
public final class Docs {
    static final String COMMAND =
            "mvn test -Dtest='AcquisitionPageTest,FiguresTest,HandOverPageTest,QueuesPageTest' -Dlatchkey.docs.renew=true";

    /** The tests of the rows of docs/failures.md. */
    static final Path TESTS_OF_FAILURES =
            root().resolve("lock-testkit/it/src/test/resources/io/latchkey/docs/failures.md");

    private static final boolean RENEW = Boolean.getBoolean("latchkey.docs.renew");

    private static final Pattern MODULE = Pattern.compile("<module>(.*)</module>");

    private Docs() {}

    /** The top of the repository: here or above. */
    public static Path root() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("lock-testkit"))) {
            folder = folder.getParent();
        }
        return folder;
    }

    /** The folders of Maven's modules. */
    static List<Path> modules() {
        return MODULE.matcher(read(root().resolve("pom.xml")))
                .results()
                .map(module -> root().resolve(module.group(1)))
                .toList();
    }

    /** The files of all modules below a folder such as {@code src/main/java} whose names end so. */
    static List<Path> ofModules(String folder, String ending) {
        return modules().stream()
                .flatMap(module -> files(module.resolve(folder), ending).stream())
                .toList();
    }

    /** All pages: those at the top of the repository, the starter's, and all below {@code docs}. */
    static List<Path> pages() {
        return Stream.concat(
                        Stream.of(
                                        "README.md",
                                        "CHANGELOG.md",
                                        "lock-zk/spring-boot-starter/README.md",
                                        "lock-zk/spring-boot-starter/properties.md")
                                .map(page -> root().resolve(page)),
                        files(root().resolve("docs"), ".md").stream())
                .toList();
    }

    /** The files below a folder whose names end so, in order; none if there is no such folder. */
    static List<Path> files(Path folder, String ending) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(file -> file.toString().endsWith(ending)).sorted().toList();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** A file as a reader would name it. */
    static String name(Path file) {
        return root().relativize(file).toString();
    }

    /** That the part of a page between its comments is what the code says, or it is made so. */
    static void assertDrawn(String page, String part, String content) {
        String begin = "<!-- drawn: " + part + " -->\n";
        Path path = root().resolve(page);
        String text = read(path);
        int from = text.indexOf(begin) + begin.length();
        int to = text.indexOf("<!-- end -->", from);
        assertTrue(from >= begin.length() && to >= from, page + " has no place for " + part);
        if (RENEW) {
            text = text.substring(0, from) + content + text.substring(to);
            write(path, text);
            to = from + content.length();
        }
        assertEquals(
                content, text.substring(from, to), part + " in " + page + " is not current; to renew it: " + COMMAND);
    }

    private static void write(Path file, String content) {
        try {
            Files.createDirectories(file.getParent());
            Files.writeString(file, content);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
