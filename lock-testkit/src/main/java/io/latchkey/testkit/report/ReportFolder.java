// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Where the pages of broken histories go. */
final class ReportFolder {
    private static final String PROPERTY = "latchkey.histories";
    private static final String NAME = "latchkey-histories";
    private static final int MOST = 200;

    private ReportFolder() {}

    /**
     * What the property says, or else the build's folder where there is one, or else the folder for temporary files.
     */
    private static Path path() {
        String chosen = System.getProperty(PROPERTY, "");
        if (!chosen.isEmpty()) {
            return Path.of(chosen);
        }
        return Stream.of("target", "build")
                .map(Path::of)
                .filter(Files::isDirectory)
                .findFirst()
                .orElseGet(() -> Path.of(System.getProperty("java.io.tmpdir")))
                .resolve(NAME);
    }

    /** Writes the page and says where, in a line; or why not: a verdict must not get lost over a full disk. */
    static String announce(String rule, String page) {
        try {
            return announce(path(), rule, page);
        } catch (InvalidPathException e) {
            return "no page written: " + e;
        }
    }

    static String announce(Path folder, String rule, String page) {
        try {
            Files.createDirectories(folder);
            makeRoom(folder);
            String name = rule.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-");
            Path file = Files.createTempFile(folder, name + "-", ".html");
            Files.writeString(file, page);
            return "page: " + file.toAbsolutePath();
        } catch (IOException | UncheckedIOException e) {
            return "no page written: " + e;
        }
    }

    /** Deletes the oldest pages, so that a property that fails in every try does not fill the disk. */
    private static void makeRoom(Path folder) throws IOException {
        List<Path> oldestFirst;
        try (Stream<Path> files = Files.list(folder)) {
            oldestFirst = files.filter(file -> file.toString().endsWith(".html"))
                    .sorted(Comparator.comparingLong(file -> file.toFile().lastModified()))
                    .toList();
        }
        for (Path file : oldestFirst.subList(0, Math.max(0, oldestFirst.size() - MOST + 1))) {
            Files.deleteIfExists(file);
        }
    }
}
