// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.locks;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Semaphore;
import io.latchkey.lock.admin.Contender;
import io.latchkey.zk.internal.admin.QueueInspector;
import io.latchkey.zk.internal.client.CuratorSemaphoreRequest;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.Naming;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.AcquireFuture;
import io.latchkey.zk.internal.request.WaitPolicy;
import io.latchkey.zk.internal.threads.StackRoom;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A semaphore in the way of Curator's {@code InterProcessSemaphoreV2}: the holder of the mutex at {@code locks} may
 * create a node under {@code leases}, and waits there for a permit. One permit at a time.
 */
final class ZkCuratorSemaphore extends ZkAcquirable implements Semaphore {
    private static final String LOCKS = "locks";
    private static final String LEASES = Naming.CURATOR_LEASES;

    private final LockTarget turn;
    private final LockTarget permit;
    private final int declared;
    private final LockPath path;

    ZkCuratorSemaphore(Engine engine, LockPath path, int declared) {
        this(
                engine,
                path,
                declared,
                new LockTarget(Recipe.MUTEX, path.below(LOCKS), path),
                new LockTarget(Recipe.gatedPermit(declared), path.below(LEASES), path));
    }

    private ZkCuratorSemaphore(Engine engine, LockPath path, int declared, LockTarget turn, LockTarget permit) {
        super(engine, permit, Optional.empty());
        this.turn = turn;
        this.permit = permit;
        this.declared = declared;
        this.path = path;
    }

    @Override
    public Semaphore labelled(String label) {
        return new ZkCuratorSemaphore(
                engine(), path, declared, turn.labelled(label), withLabel(label).get(0));
    }

    @Override
    public Semaphore heldAtMost(Duration limit) {
        return new ZkCuratorSemaphore(
                engine(), path, declared, turn, withLimit(limit).get(0));
    }

    @Override
    AcquireFuture start(WaitPolicy waitPolicy) {
        StackRoom.check();
        return CuratorSemaphoreRequest.acquire(engine(), turn, permit, waitPolicy);
    }

    @Override
    public List<Contender> queue() throws InterruptedException {
        return QueueInspector.gated(super.queue(), inspector(turn).read());
    }

    @Override
    CompletableFuture<List<Contender>> queueLater() {
        return super.queueLater().thenCombine(inspector(turn).readLater(), QueueInspector::gated);
    }

    @Override
    public Acquirable permits(int n) {
        if (n <= 0) {
            throw new IllegalArgumentException("permits must be positive, not " + n);
        }
        if (n > 1) {
            throw new UnsupportedOperationException(
                    "Curator's semaphore grants permits one at a time: two clients that each"
                            + " want several could wait for each other. Nothing was sent. Acquire one permit, or use"
                            + " Layout.LATCHKEY at another path.");
        }
        return this;
    }

    /** Returns the declared number, which each client knows only of itself. */
    @Override
    public int capacity() {
        return declared;
    }

    @Override
    public int availablePermits() throws InterruptedException {
        long held = super.queue().stream()
                .filter(contender -> contender.state() == Contender.State.HOLDING)
                .count();
        return (int) Math.max(0, declared - held);
    }

    @Override
    public void resize(int newCapacity) {
        throw cannotBeResized(newCapacity);
    }

    @Override
    public CompletableFuture<Void> resizeAsync(int newCapacity) {
        throw cannotBeResized(newCapacity);
    }

    private static UnsupportedOperationException cannotBeResized(int newCapacity) {
        if (newCapacity <= 0) {
            throw new IllegalArgumentException("the capacity must be positive, not " + newCapacity);
        }
        return new UnsupportedOperationException(
                "A semaphore of Curator cannot be resized: each client declares its number of"
                        + " permits. Nothing was sent. Let all clients declare another number, or use Layout.LATCHKEY at another"
                        + " path.");
    }

    @Override
    public String toString() {
        return "Curator's semaphore of " + PathData.permits(declared) + " "
                + engine().context().displayPath(path);
    }
}
