// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.locks;

import com.google.common.base.Utf8;
import io.latchkey.lock.Acquirable;
import io.latchkey.lock.MultiLock;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.recipe.LockTarget;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

final class ZkMultiLock extends ZkAcquirable implements MultiLock {
    /** The bytes for members in a packet of ZooKeeper, which has 1,048,575 by default. */
    private static final int MOST_BYTES = 1_000_000;
    /**
     * The longest transaction is that of the first contact. It creates each member's path, writes the path's data, and
     * creates the node: three times the path, twice the ACL, and the owner.
     */
    private static final int WRITES = 3;
    /**
     * The bytes of each write besides, and of its result in the response: lengths, numbers, flags; or a Stat of 68
     * bytes.
     */
    private static final int WRITE_BYTES = 100;
    /** The maximum length of the path's data, and of the node's name with its number. */
    private static final int NAME_BYTES = 100;

    private final List<Acquirable> members;
    private final int extra;

    private ZkMultiLock(Engine engine, List<Acquirable> members, List<LockTarget> asked, int extra) {
        super(engine, asked, Optional.empty()); // each request has nodes of its own
        this.members = members;
        this.extra = extra;
    }

    /**
     * @param extra the bytes of a packet that a member takes besides its path: its owner, ACLs, and the chroot of the
     *     handle
     * @throws IllegalArgumentException if these members cannot be acquired together
     */
    static ZkMultiLock of(Engine engine, int extra, Acquirable... members) {
        Objects.requireNonNull(members, "members");
        if (members.length == 0) {
            throw new IllegalArgumentException("a multi-lock needs at least one member");
        }
        Set<LockPath> paths = new HashSet<>();
        List<LockTarget> asked = new ArrayList<>(members.length);
        int bytes = 0;
        for (Acquirable member : members) {
            Objects.requireNonNull(member, "member");
            if (!(member instanceof ZkAcquirable own) || own.engine() != engine) {
                throw new IllegalArgumentException("not a lock of this client: " + member
                        + ". A multi-lock is one transaction, so all members come from one client. Nothing was sent.");
            }
            if (member instanceof MultiLock) {
                throw new IllegalArgumentException(
                        "a multi-lock cannot be a member of another; give its members: " + member);
            }
            if (!paths.add(own.path())) {
                throw new IllegalArgumentException("two members at one path: " + member);
            }
            asked.addAll(own.asked());
            bytes += WRITES * (Utf8.encodedLength(own.path().node()) + WRITE_BYTES)
                    + NAME_BYTES
                    + extra
                    + Utf8.encodedLength(own.asked().get(0).label());
            if (bytes > MOST_BYTES) {
                throw new IllegalArgumentException(
                        "too many members, or too long paths, for one transaction of ZooKeeper: it takes "
                                + (asked.size() - 1) + " of these " + members.length);
            }
        }
        return new ZkMultiLock(engine, List.of(members), asked, extra);
    }

    /** Checks the size again, since the label of each member takes room in the transaction. */
    @Override
    public MultiLock labelled(String label) {
        return of(
                engine(),
                extra,
                members.stream().map(member -> member.labelled(label)).toArray(Acquirable[]::new));
    }

    @Override
    public MultiLock heldAtMost(Duration limit) {
        return of(
                engine(),
                extra,
                members.stream().map(member -> member.heldAtMost(limit)).toArray(Acquirable[]::new));
    }

    @Override
    public List<Acquirable> members() {
        return members;
    }
}
