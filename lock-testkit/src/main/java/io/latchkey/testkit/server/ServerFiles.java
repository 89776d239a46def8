// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import java.io.IOException;
import java.nio.file.Path;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;

/**
 * A server's log and snapshots. They are written but not forced onto the disk at every transaction: written data
 * survives every fault that a test injects into servers of that process, and the disk would be the slowest part of
 * every test.
 */
final class ServerFiles {
    private static final String FORCE_SYNC = "zookeeper.forceSync";

    private ServerFiles() {}

    /** A maker of something that opens a log. */
    interface Opening<T> {
        T open() throws IOException;
    }

    static FileTxnSnapLog in(Path folder) throws IOException {
        return unforced(() -> new FileTxnSnapLog(folder.toFile(), folder.toFile()));
    }

    /**
     * ZooKeeper's log reads the property when it is made. The class's monitor keeps servers that start at once apart.
     */
    static synchronized <T> T unforced(Opening<T> opening) throws IOException {
        String before = System.getProperty(FORCE_SYNC);
        System.setProperty(FORCE_SYNC, "no");
        try {
            return opening.open();
        } finally {
            if (before == null) {
                System.clearProperty(FORCE_SYNC);
            } else {
                System.setProperty(FORCE_SYNC, before);
            }
        }
    }
}
