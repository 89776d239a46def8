// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/**
 * A folder of the server's own under the system's temporary one, deleted with all it contains at close, or when the
 * process ends in order without that.
 */
final class TempFolder implements AutoCloseable {
    private static final int ROUNDS_AT_EXIT = 3;

    private final Path path;
    private final Thread atExit = new Thread(this::deleteAtExit, "latchkey-delete-files");

    TempFolder(String prefix) {
        try {
            path = Files.createTempDirectory(prefix);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot make a temporary folder for the server", e);
        }
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    Path path() {
        return path;
    }

    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException exiting) {
            return; // the process ends: the hook is at it
        }
        try {
            delete();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot delete " + path, e);
        }
    }

    private void delete() throws IOException {
        if (Files.exists(path)) {
            Files.walkFileTree(path, new DeletingVisitor());
        }
    }

    /** A server may still be writing: new files are deleted in another round, or left behind. */
    private void deleteAtExit() {
        boolean deleted = false;
        for (int round = 0; round < ROUNDS_AT_EXIT && !deleted; round++) {
            deleted = tryToDelete();
        }
    }

    private boolean tryToDelete() {
        try {
            delete();
            return true;
        } catch (IOException stillWriting) {
            return false;
        }
    }

    private static final class DeletingVisitor extends SimpleFileVisitor<Path> {
        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
            Files.deleteIfExists(file);
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
            if (e instanceof NoSuchFileException) {
                return FileVisitResult.CONTINUE;
            }
            throw e;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException e) throws IOException {
            if (e != null) {
                throw e;
            }
            Files.deleteIfExists(folder);
            return FileVisitResult.CONTINUE;
        }
    }
}
