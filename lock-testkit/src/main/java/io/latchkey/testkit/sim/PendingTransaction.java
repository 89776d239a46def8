// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.testkit.sim.Tree.Effect;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore.Lifetime;
import io.latchkey.zk.internal.store.ZnodeStore.Write;
import java.util.ArrayList;
import java.util.List;

/** A transaction under construction: it sees its own changes. */
final class PendingTransaction {
    private static final byte[] EMPTY = new byte[0];
    private static final int ANY_VERSION = -1;
    /** The minimum number of digits in a sequence number that ZooKeeper appends. */
    private static final int DIGITS = 10;

    private final Tree tree;
    private final List<Effect> changes = new ArrayList<>(4);
    private final List<String> created = new ArrayList<>(2);

    PendingTransaction(Tree tree) {
        this.tree = tree;
    }

    List<Effect> changes() {
        return changes;
    }

    /** Returns the names of the nodes that it creates. */
    List<String> created() {
        return created;
    }

    Status add(long session, Write write) {
        if (write instanceof Write.CreatePath create) {
            return create(
                    create.path(), EMPTY, create.lifetime() == Lifetime.FOR_EVER ? Tree.NO_OWNER : Tree.CONTAINER);
        } else if (write instanceof Write.CreateNode create) {
            return create(create.path(), create.data(), session);
        } else if (write instanceof Write.CreateRequest create) {
            String parent = Tree.parent(create.path());
            if (!has(parent)) {
                return Status.NO_NODE;
            }
            return create(create.path() + digits(nextSequence(parent)), create.data(), session);
        } else if (write instanceof Write.Mark mark) {
            return set(mark.path(), EMPTY, ANY_VERSION);
        } else if (write instanceof Write.SetData set) {
            return set(set.path(), set.data(), set.version());
        } else if (write instanceof Write.Delete delete) {
            return delete(delete.path());
        } else if (write instanceof Write.Check check) {
            return has(check.path()) ? Status.OK : Status.NO_NODE;
        }
        throw new IllegalArgumentException("unknown write " + write);
    }

    private Status create(String path, byte[] data, long owner) {
        Effect.Created node = Effect.Created.of(path, data, owner);
        if (!has(node.parent())) {
            return Status.NO_NODE;
        }
        Tree.Node parent = tree.find(node.parent());
        if (parent != null && parent.isEphemeral()) {
            return Status.NO_CHILDREN;
        }
        if (has(path)) {
            return Status.NODE_EXISTS;
        }
        changes.add(node);
        created.add(node.name());
        return Status.OK;
    }

    private Status set(String path, byte[] data, int version) {
        if (!has(path)) {
            return Status.NO_NODE;
        }
        if (version != ANY_VERSION && version != version(path)) {
            return Status.BAD_VERSION;
        }
        changes.add(new Effect.DataSet(path, data));
        return Status.OK;
    }

    private Status delete(String path) {
        if (!has(path)) {
            return Status.NO_NODE;
        }
        if (hasChildren(path)) {
            return Status.NOT_EMPTY;
        }
        changes.add(Effect.Deleted.of(path));
        return Status.OK;
    }

    private boolean has(String path) {
        for (int i = changes.size() - 1; i >= 0; i--) {
            Effect change = changes.get(i);
            if (!(change instanceof Effect.DataSet) && change.path().equals(path)) {
                return change instanceof Effect.Created;
            }
        }
        return tree.has(path);
    }

    private int version(String path) {
        Tree.Node before = tree.find(path);
        int version = before == null ? 0 : before.version;
        for (Effect change : changes) {
            if (change.path().equals(path)) {
                version = change instanceof Effect.DataSet ? version + 1 : 0;
            }
        }
        return version;
    }

    private boolean hasChildren(String path) {
        Tree.Node before = tree.find(path);
        int children = before == null ? 0 : before.children().size();
        for (Effect change : changes) {
            if (change instanceof Effect.Created done && done.parent().equals(path)) {
                children++;
            } else if (change instanceof Effect.Deleted done && done.parent().equals(path)) {
                children--;
            }
        }
        return children > 0;
    }

    private int nextSequence(String parent) {
        Tree.Node before = tree.find(parent);
        int next = before == null ? 0 : before.creates;
        for (Effect change : changes) {
            if (change instanceof Effect.Created done && done.parent().equals(parent)) {
                next++;
            }
        }
        return next;
    }

    private static String digits(int number) {
        String digits = Long.toString(Math.abs((long) number));
        return (number < 0 ? "-" : "") + "0".repeat(DIGITS - digits.length()) + digits;
    }
}
