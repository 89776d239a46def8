// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Contender;
import io.latchkey.lock.Semaphore;
import io.latchkey.zk.internal.admin.SemaphoreCapacity;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;

final class ZkSemaphore extends ZkAcquirable implements Semaphore {
    private final Engine engine;
    private final String path;
    private final int declared;
    private final SemaphoreCapacity capacity;

    ZkSemaphore(Engine engine, String path, int declared) {
        this(engine, new LockTarget(Recipe.semaphore(declared, 1), path), declared);
    }

    private ZkSemaphore(Engine engine, LockTarget one, int declared) {
        super(engine, one);
        this.engine = engine;
        this.path = one.path();
        this.declared = declared;
        this.capacity = new SemaphoreCapacity(
                engine, path, Recipe.semaphore(declared, 1).purpose());
    }

    @Override
    public Acquirable permits(int n) {
        if (n <= 0) {
            throw new IllegalArgumentException("permits must be positive, not " + n);
        }
        LockTarget several = new LockTarget(Recipe.semaphore(declared, n), path);
        return new ZkAcquirable(engine, several.labelled(asked().get(0).label()));
    }

    @Override
    public Semaphore labelled(String label) {
        return new ZkSemaphore(engine, withLabel(label).get(0), declared);
    }

    @Override
    public int capacity() {
        return capacity.get();
    }

    @Override
    public int availablePermits() {
        int now = capacity.get();
        int held = queue().stream()
                .filter(contender -> contender.state() == Contender.State.HOLDING)
                .mapToInt(Contender::permits)
                .sum();
        return Math.max(0, now - held);
    }

    @Override
    public void resize(int newCapacity) {
        if (newCapacity <= 0) {
            throw new IllegalArgumentException("the capacity must be positive, not " + newCapacity);
        }
        capacity.set(newCapacity);
    }

    @Override
    public String toString() {
        return "semaphore of " + PathData.permits(declared) + " "
                + engine.context().displayPath(path);
    }
}
