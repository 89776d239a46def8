// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.locks;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.MultiLock;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.Semaphore;
import io.latchkey.lock.SessionStatus;
import io.latchkey.lock.StripedMutex;
import io.latchkey.lock.admin.Diagnosis;
import io.latchkey.lock.admin.LockListing;
import io.latchkey.zk.internal.admin.Diagnostics;
import io.latchkey.zk.internal.admin.LockTree;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.client.LocalHandOff;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.threads.CallerWait;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;

/**
 * The locks of one engine, and the end of it. {@code ZkLockClient} has one over ZooKeeper; the test kit has one over
 * its simulation.
 */
public final class EngineLockClient implements LockClient {
    private final Engine engine;
    private final String basePath;
    private final ThreadHolds holds = new ThreadHolds();
    /** Ends the threads of this client. */
    private final Runnable threadsEnd;

    private final Optional<LocalHandOff> turns;
    /** The bytes of a packet that a member of a multi-lock takes besides its path. */
    private final int memberBytes;

    /**
     * @param engine a started engine, or one that is about to start; closing the client closes it
     * @param basePath the path that all paths of locks are below; empty for the root
     * @param threadsEnd runs when the engine is closed
     * @param turns the local turns of its waiters for a lock, if they are enabled
     * @param memberBytes the bytes of a packet that a member of a multi-lock takes besides its path
     */
    public EngineLockClient(
            Engine engine, String basePath, Runnable threadsEnd, Optional<LocalHandOff> turns, int memberBytes) {
        this.engine = engine;
        this.basePath = basePath;
        this.threadsEnd = threadsEnd;
        this.turns = turns;
        this.memberBytes = memberBytes;
    }

    /** Creates the locks of an engine whose threads are not its own, without a base path. */
    public EngineLockClient(Engine engine, Optional<LocalHandOff> turns) {
        this(engine, "", () -> {}, turns, 0);
    }

    @Override
    public Mutex mutex(String path) {
        return mutexAt(at(path));
    }

    private Mutex mutexAt(LockPath path) {
        return new ZkMutex(engine, List.of(new LockTarget(Recipe.MUTEX, path)), holds, turns);
    }

    @Override
    public ReadWriteLock readWriteLock(String path) {
        return new ZkReadWriteLock(engine, new LockTarget(Recipe.WRITE, at(path)), holds, turns);
    }

    @Override
    public Semaphore semaphore(String path, int permits) {
        if (permits <= 0) {
            throw new IllegalArgumentException("permits must be positive, not " + permits);
        }
        List<LockTarget> one = List.of(new LockTarget(Recipe.semaphore(permits, 1), at(path)));
        onlyInOwnLayout("semaphore");
        return new ZkSemaphore(engine, one, permits, turns);
    }

    @Override
    public MultiLock multiLock(Acquirable... members) {
        onlyInOwnLayout("multi-lock");
        return ZkMultiLock.of(engine, memberBytes, members);
    }

    @Override
    public StripedMutex stripedMutex(String path, int stripes) {
        if (stripes <= 0) {
            throw new IllegalArgumentException("stripes must be positive, not " + stripes);
        }
        LockPath lock = at(path);
        return new ZkStripedMutex(stripes, stripe -> mutexAt(lock.below(Integer.toString(stripe))));
    }

    private void onlyInOwnLayout(String what) {
        if (engine.context().naming().isShared()) {
            throw new UnsupportedOperationException(
                    "There is no " + what + " in this client's layout, which it shares with"
                            + " another library. Nothing was sent. Create a client with Layout.LATCHKEY"
                            + " for it, and use another path, or this one once no client of the other library uses it.");
        }
    }

    private LockPath at(String path) {
        String shown = LockPaths.check(path);
        return new LockPath(basePath.isEmpty() ? shown : basePath + shown, shown);
    }

    @Override
    public Diagnosis diagnose() {
        return new Diagnostics(engine, basePath).diagnose();
    }

    @Override
    public LockListing listLocks(String root) throws InterruptedException {
        return listed(root, LockTree::below);
    }

    @Override
    public CompletableFuture<LockListing> listLocksAsync(String root) {
        return engine.queries().promise(List.of(tree().below(rootNode(root))), found -> found.get(0));
    }

    @Override
    public LockListing listLocksAt(String path) throws InterruptedException {
        return listed(path, LockTree::at);
    }

    private LockTree tree() {
        return new LockTree(engine, basePath, LockPaths::checkFound);
    }

    private String rootNode(String root) {
        String node = basePath + LockPaths.checkRoot(root);
        return node.isEmpty() ? "/" : node;
    }

    private LockListing listed(String root, BiFunction<LockTree, String, CompletableFuture<LockListing>> search)
            throws InterruptedException {
        String node = rootNode(root);
        engine.context().checkMayWait("list the locks of", this);
        if (Thread.interrupted()) {
            throw new InterruptedException("interrupted before listing the locks below " + root);
        }
        CompletableFuture<LockListing> listing = search.apply(tree(), node);
        try {
            CallerWait.await(listing);
            return Errors.valueOf(listing);
        } finally {
            listing.cancel(false);
        }
    }

    @Override
    public SessionStatus session() {
        return engine.context().events().view();
    }

    @Override
    public void close() {
        engine.close();
        threadsEnd.run();
    }

    @Override
    public void close(Duration grace) {
        Objects.requireNonNull(grace, "grace");
        if (grace.isNegative()) {
            throw new IllegalArgumentException("grace is negative: " + grace + "; zero closes at once");
        }
        engine.close(grace);
        engine.onceClosed(threadsEnd);
    }

    /** Returns the name by which users know the client. */
    @Override
    public String toString() {
        return "ZkLockClient[" + session() + "]";
    }
}
