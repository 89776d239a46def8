// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.demo.Options.Mode;
import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.zk.ZkLockClient;
import java.util.function.Function;
import org.apache.zookeeper.KeeperException;

/** Where a scenario is played. */
record Stage(Servers servers, Site site, Mode mode, Screen screen) {
    /** Looks at data. */
    interface Look<T> {
        T look() throws KeeperException, InterruptedException;
    }

    /** Whether the clients take locks. */
    boolean isLocked() {
        return mode == Mode.LOCKED;
    }

    /** Says what the clients do under their locks. */
    void announce(String turns) {
        screen.line(turns + (isLocked() ? " Sessions are killed." : " WITHOUT LOCKS."));
    }

    /**
     * Checks under the lock as well: once this client holds it, no former holder can write any more.
     *
     * @param lock a lock that excludes all writers
     */
    <T> T audit(Function<LockClient, Acquirable> lock, Look<T> data) throws KeeperException, InterruptedException {
        try (LockClient auditor = ZkLockClient.builder()
                        .connectString(servers.fixture().connectString())
                        .basePath(site.root())
                        .build();
                Lease lease = lock.apply(auditor).acquire()) {
            T seen = data.look();
            lease.ensureValid();
            return seen;
        }
    }
}
