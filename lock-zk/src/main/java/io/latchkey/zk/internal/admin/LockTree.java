// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.admin;

import io.latchkey.lock.LockException;
import io.latchkey.lock.admin.LockListing;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.queue.LockPath;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * A search for the locks in ZooKeeper's tree, with their queues: of all layouts for people, or those with waiters for
 * the diagnosis of deadlocks. Paths that cannot be read, or that it does not reach, are named with the reason, and what
 * it has read remains valid.
 */
public final class LockTree {
    private final Engine engine;
    private final String basePath;
    private final Consumer<String> check;

    /**
     * @param basePath the base path of the client; empty if it has none
     * @param check throws a {@link LockException} for a path that cannot name a lock
     */
    public LockTree(Engine engine, String basePath, Consumer<String> check) {
        this.engine = engine;
        this.basePath = basePath;
        this.check = check;
    }

    /** Returns the locks at and below the node. */
    public CompletableFuture<LockListing> below(String node) {
        return list(node, true);
    }

    /** Returns the locks at the node: none, one, or several if incompatible requests are mixed there. */
    public CompletableFuture<LockListing> at(String node) {
        return list(node, false);
    }

    private CompletableFuture<LockListing> list(String node, boolean deep) {
        return engine.queries().askLater((session, then) -> new LockSearch<LockListing>(
                        engine, basePath, check, session, LockSearch.Aim.LISTING, deep, then, LockSearch::listing)
                .begin(List.of(node), engine.context().sessionTimeout()));
    }

    /** Returns the queues with waiters at and below these nodes that are read within the limit, in this order. */
    CompletableFuture<LockSearch.ContendedQueues> contendedBelow(Collection<String> nodes, Duration limit) {
        return contended(nodes, true, limit);
    }

    /** Returns the queues with waiters at these paths that are read within the limit. */
    CompletableFuture<LockSearch.ContendedQueues> contendedAt(Collection<LockPath> paths, Duration limit) {
        return contended(paths.stream().map(LockPath::node).toList(), false, limit);
    }

    private CompletableFuture<LockSearch.ContendedQueues> contended(
            Collection<String> nodes, boolean deep, Duration limit) {
        return engine.queries().askLater((session, then) -> new LockSearch<LockSearch.ContendedQueues>(
                        engine, basePath, check, session, LockSearch.Aim.DIAGNOSIS, deep, then, LockSearch::contended)
                .begin(nodes, limit));
    }
}
