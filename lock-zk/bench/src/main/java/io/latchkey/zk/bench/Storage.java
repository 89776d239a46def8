// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** The number of servers, and the storage of their logs. */
enum Storage {
    /** One server that writes to memory. */
    TMPFS(1),
    /** One server that forces every transaction onto the disk. */
    DISK(1),
    /** Three servers that write to memory. */
    ENSEMBLE(3);

    private static final Path MEMORY = Path.of("/dev/shm");

    final int servers;

    Storage(int servers) {
        this.servers = servers;
    }

    /** Returns the parent of the servers' folders; {@code disk} is a folder on disk. */
    Path root(Path disk) {
        if (this == DISK) {
            return disk;
        }
        if (!Files.isDirectory(MEMORY)) {
            throw new IllegalStateException("no folder in memory for the servers to write to: " + MEMORY);
        }
        return MEMORY;
    }

    String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
