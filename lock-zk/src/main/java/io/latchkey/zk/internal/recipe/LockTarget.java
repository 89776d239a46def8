// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.recipe;

/**
 * The lock that a request asks for at one path.
 *
 * @param recipe the way of sharing the path
 * @param path the path's node, as the ZooKeeper handle sees it
 * @param lock the node of the lock that the path belongs to; another than the path only for locks of several paths
 * @param label the label of the request; empty for that of its client
 */
public record LockTarget(Recipe recipe, String path, String lock, String label) {
    public LockTarget(Recipe recipe, String path, String lock) {
        this(recipe, path, lock, "");
    }

    public LockTarget(Recipe recipe, String path) {
        this(recipe, path, path);
    }

    public LockTarget labelled(String text) {
        return new LockTarget(recipe, path, lock, text);
    }
}
