// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.session;

import io.latchkey.zk.recipe.Recipe;

/**
 * What a request asks for at one path.
 *
 * @param recipe how it shares the path
 * @param path the path's node, as the ZooKeeper handle sees it
 * @param lock the node of the lock that it belongs to, which is the same but for locks of several paths
 */
public record Member(Recipe recipe, String path, String lock) {
    public Member(Recipe recipe, String path) {
        this(recipe, path, path);
    }
}
