// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.locks;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Semaphore;
import io.latchkey.lock.admin.Contender;
import io.latchkey.zk.internal.admin.SemaphoreCapacity;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.client.LocalHandOff;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

final class ZkSemaphore extends ZkAcquirable implements Semaphore {
    private final int declared;
    private final SemaphoreCapacity capacity;

    ZkSemaphore(Engine engine, List<LockTarget> one, int declared, Optional<LocalHandOff> turns) {
        super(engine, one, turns);
        this.declared = declared;
        this.capacity = new SemaphoreCapacity(
                engine, path(), Recipe.semaphore(declared, 1).purpose());
    }

    @Override
    public Acquirable permits(int n) {
        if (n <= 0) {
            throw new IllegalArgumentException("permits must be positive, not " + n);
        }
        return new ZkAcquirable(engine(), List.of(asked().get(0).as(Recipe.semaphore(declared, n))), turns());
    }

    @Override
    public Semaphore labelled(String label) {
        return new ZkSemaphore(engine(), withLabel(label), declared, turns());
    }

    @Override
    public Semaphore heldAtMost(Duration limit) {
        return new ZkSemaphore(engine(), withLimit(limit), declared, turns());
    }

    @Override
    public int capacity() throws InterruptedException {
        return capacity.get();
    }

    @Override
    public int availablePermits() throws InterruptedException {
        int now = capacity.get();
        int held = queue().stream()
                .filter(contender -> contender.state() == Contender.State.HOLDING)
                .mapToInt(Contender::permits)
                .sum();
        return Math.max(0, now - held);
    }

    @Override
    public void resize(int newCapacity) throws InterruptedException {
        capacity.set(checked(newCapacity));
    }

    @Override
    @SuppressWarnings("NullAway") // a future of nothing
    public CompletableFuture<Void> resizeAsync(int newCapacity) {
        return engine().queries().promise(List.of(capacity.setLater(checked(newCapacity))), changed -> null);
    }

    private static int checked(int newCapacity) {
        if (newCapacity <= 0) {
            throw new IllegalArgumentException("the capacity must be positive, not " + newCapacity);
        }
        return newCapacity;
    }

    @Override
    public String toString() {
        return "semaphore of " + PathData.permits(declared) + " " + path().shown();
    }
}
