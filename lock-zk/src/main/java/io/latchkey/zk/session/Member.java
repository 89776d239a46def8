package io.latchkey.zk.session;

import io.latchkey.zk.recipe.Recipe;

/**
 * What a request asks for at one path.
 *
 * @param recipe how it shares the path
 * @param path the path's node, as the ZooKeeper handle sees it
 */
public record Member(Recipe recipe, String path) {}
