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

    static FileTxnSnapLog in(Path folder) throws IOException {
        return unforced(() -> new FileTxnSnapLog(folder.toFile(), folder.toFile()));
    }

    /** ZooKeeper's log reads the property when it is made. */
    static <T> T unforced(SystemProperties.Factory<T> opening) throws IOException {
        return SystemProperties.during(FORCE_SYNC, "no", opening);
    }
}
