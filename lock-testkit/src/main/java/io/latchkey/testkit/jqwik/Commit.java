// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.jqwik;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** The commit that the work tree was last at, if this is a git work tree; changes on top of it are not seen. */
final class Commit {
    private static final String REFERENCE = "ref: ";

    private Commit() {}

    static Optional<String> ofTheWorkTree() {
        return of(Path.of("").toAbsolutePath());
    }

    /** The commit of the work tree around this folder. */
    static Optional<String> of(Path folder) {
        return Stream.iterate(folder, each -> each != null, Path::getParent)
                .map(each -> each.resolve(".git"))
                .filter(Files::isDirectory)
                .findFirst()
                .flatMap(Commit::head);
    }

    private static Optional<String> head(Path git) {
        try {
            String head = Files.readString(git.resolve("HEAD")).strip();
            if (!head.startsWith(REFERENCE)) {
                return Optional.of(head);
            }
            String branch = head.substring(REFERENCE.length());
            Path loose = git.resolve(branch);
            return Files.exists(loose)
                    ? Optional.of(Files.readString(loose).strip())
                    : packed(git.resolve("packed-refs"), branch);
        } catch (IOException unreadable) {
            return Optional.empty();
        }
    }

    private static Optional<String> packed(Path references, String branch) throws IOException {
        try (Stream<String> lines = Files.lines(references)) {
            return lines.filter(line -> line.endsWith(" " + branch))
                    .map(line -> line.substring(0, line.indexOf(' ')))
                    .findFirst();
        }
    }
}
