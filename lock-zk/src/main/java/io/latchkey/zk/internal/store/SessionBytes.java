// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import com.google.common.collect.MapMaker;
import java.util.concurrent.ConcurrentMap;
import org.apache.zookeeper.ZooKeeper;

/**
 * The sum over the ephemeral nodes that this process may have in one ZooKeeper session: the bytes of their paths in the
 * transaction by which the servers end the session. The clients of one borrowed handle share it. Thread-safe.
 */
final class SessionBytes {
    /** The bytes that say how long a path is. */
    private static final int LENGTH = Integer.BYTES;
    /** The sessions of borrowed handles, which no client owns: several may have one. A handle has one session. */
    private static final ConcurrentMap<ZooKeeper, SessionBytes> BORROWED =
            new MapMaker().weakKeys().makeMap();

    private int chroot;
    private boolean chrootKnown;
    private long nodes;
    /** The bytes of the paths without the chroot. */
    private long paths;

    private SessionBytes(int chroot, boolean chrootKnown) {
        this.chroot = chroot;
        this.chrootKnown = chrootKnown;
    }

    /** Returns the sum of a new session, of a handle with this many bytes of chroot. */
    static SessionBytes ofNewSession(int chroot) {
        return new SessionBytes(chroot, true);
    }

    /** Returns the sum of the session of a borrowed handle, the same for all clients of this process. */
    static SessionBytes ofBorrowed(ZooKeeper handle) {
        return BORROWED.computeIfAbsent(handle, first -> new SessionBytes(SessionNodes.UNKNOWN_CHROOT, false));
    }

    /** Returns the part of the sum of a path of this many bytes. */
    synchronized long of(int pathBytes) {
        return (long) chroot + pathBytes + LENGTH;
    }

    synchronized long sum() {
        return paths + nodes * (chroot + LENGTH);
    }

    synchronized boolean chrootKnown() {
        return chrootKnown;
    }

    /** Takes the length of the chroot, as an answer has shown it. */
    synchronized void chrootIs(int bytes) {
        chroot = bytes;
        chrootKnown = true;
    }

    /**
     * Adds nodes unless the sum would be more than {@code most} then.
     *
     * @param pathBytes the bytes of their paths together
     * @param leaving the part of the sum that the same transaction deletes
     */
    synchronized boolean add(int added, long pathBytes, long leaving, long most) {
        long now = sum() + pathBytes + (long) added * (chroot + LENGTH) - leaving;
        if (added > 0 && now > most) {
            return false;
        }
        change(added, pathBytes);
        return true;
    }

    synchronized void change(int more, long pathBytes) {
        nodes += more;
        paths += pathBytes;
    }
}
