// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

/**
 * The path of a lock as the ZooKeeper handle sees it, whose children are the requests. It is a type of its own so that
 * it is not confused with the path of a request's node, with a node's name, or with the path as the user wrote it.
 *
 * @param node the path's node, below the handle's chroot
 * @param shown the path as the user names it, below the client's base path
 */
public record LockPath(String node, String shown) {
    public LockPath {
        if (!node.startsWith("/")) {
            throw new IllegalArgumentException("not a path: " + node);
        }
    }

    /** A path of a client without a base path. */
    public LockPath(String node) {
        this(node, node);
    }

    /** Returns the name of any node: the text behind the last slash of its path. */
    public static String nameOf(String node) {
        return node.substring(node.lastIndexOf('/') + 1);
    }

    /** Returns the node of a child that may be no request. */
    public String child(String name) {
        return node + '/' + name;
    }

    /** Returns the node of a request of this path. */
    public String child(NodeName name) {
        return child(name.text());
    }

    /** Returns the path of a lock below this one, for locks of several paths. */
    public LockPath below(String name) {
        return new LockPath(child(name), shown + '/' + name);
    }

    @Override
    public String toString() {
        return node;
    }
}
