// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import com.google.common.base.Utf8;
import io.latchkey.lock.Acquirable;
import io.latchkey.lock.MultiLock;
import io.latchkey.zk.session.Engine;
import io.latchkey.zk.session.Member;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

final class ZkMultiLock extends ZkAcquirable implements MultiLock {
    /** What fits a packet twice over: a release names every node two times. */
    private static final int MOST_BYTES = 250_000;
    /** What a node adds to its path: name, owner, ACL. */
    private static final int NODE_BYTES = 150;

    private final List<Acquirable> members;

    private ZkMultiLock(Engine engine, List<Acquirable> members, List<Member> asked) {
        super(engine, asked);
        this.members = members;
    }

    /**
     * @throws IllegalArgumentException if these cannot be acquired together
     */
    static ZkMultiLock of(Engine engine, Acquirable... members) {
        Objects.requireNonNull(members, "members");
        if (members.length == 0) {
            throw new IllegalArgumentException("a multi-lock needs at least one member");
        }
        Set<String> paths = new HashSet<>();
        List<Member> asked = new ArrayList<>(members.length);
        int bytes = 0;
        for (Acquirable member : members) {
            Objects.requireNonNull(member, "member");
            if (!(member instanceof ZkAcquirable own) || own.engine() != engine) {
                throw new IllegalArgumentException("not a lock of this client: " + member);
            }
            if (member instanceof MultiLock) {
                throw new IllegalArgumentException(
                        "a multi-lock cannot be a member of another; give its members: " + member);
            }
            if (!paths.add(own.path())) {
                throw new IllegalArgumentException("two members at one path: " + member);
            }
            asked.addAll(own.asked());
            bytes += Utf8.encodedLength(own.path()) + NODE_BYTES;
            if (bytes > MOST_BYTES) {
                throw new IllegalArgumentException(
                        "too many members, or too long paths, for one transaction of ZooKeeper:" + " it takes "
                                + (asked.size() - 1) + " of these " + members.length);
            }
        }
        return new ZkMultiLock(engine, List.of(members), asked);
    }

    @Override
    public List<Acquirable> members() {
        return members;
    }
}
