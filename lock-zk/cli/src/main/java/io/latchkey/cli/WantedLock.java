// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.LockClient;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that select the lock of a command: by default a mutex. */
final class WantedLock {
    @Option(
            names = "--semaphore",
            paramLabel = "N",
            description = "One permit of a semaphore of N permits: at most N commands at a time.")
    private @Nullable Integer permits;

    @Option(names = "--read", description = "The read side of a read-write lock: beside other readers.")
    private boolean read;

    @Option(names = "--write", description = "The write side of a read-write lock: alone.")
    private boolean write;

    /** Checks the options before connecting. */
    void check() {
        if (permits != null && permits < 1) {
            throw new IllegalArgumentException("--semaphore takes 1 permit or more, not " + permits + ".");
        }
    }

    boolean isExclusive() {
        return !read && permits == null;
    }

    /** Sends nothing. */
    Acquirable of(LockClient client, String path) {
        if (read) {
            return client.readWriteLock(path).readLock();
        } else if (write) {
            return client.readWriteLock(path).writeLock();
        } else if (permits != null) {
            return client.semaphore(path, permits);
        }
        return client.mutex(path);
    }
}
