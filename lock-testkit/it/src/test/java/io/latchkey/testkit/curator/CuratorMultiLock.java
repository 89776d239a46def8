// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.curator;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.admin.Contender;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;

/** {@link InterProcessMultiLock}. */
final class CuratorMultiLock extends CuratorAcquirable implements OtherLibrary.LibraryMultiLock {
    private final List<Acquirable> members;

    private CuratorMultiLock(CuratorLockClient client, List<Acquirable> members) {
        super(client, ((CuratorAcquirable) members.get(0)).path());
        this.members = members;
    }

    static CuratorMultiLock of(CuratorLockClient client, Acquirable... members) {
        if (members.length == 0 || !Stream.of(members).allMatch(member -> isMember(client, member))) {
            throw new IllegalArgumentException("members: " + List.of(members));
        }
        return new CuratorMultiLock(client, List.of(members));
    }

    private static boolean isMember(CuratorLockClient client, Acquirable member) {
        return member instanceof CuratorAcquirable known
                && known.client() == client
                && !(member instanceof CuratorMultiLock);
    }

    @Override
    InterProcessLock lock() {
        return new InterProcessMultiLock(members.stream()
                .map(member -> ((CuratorAcquirable) member).lock())
                .toList());
    }

    @Override
    public List<Acquirable> members() {
        return members;
    }

    @Override
    public List<Contender> queue() throws InterruptedException {
        List<Contender> all = new ArrayList<>();
        for (Acquirable member : members) {
            all.addAll(member.queue());
        }
        return List.copyOf(all);
    }
}
