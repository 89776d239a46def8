// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.lock.Lease;
import io.latchkey.lock.Mutex;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.client.LocalHandOff;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.WaitPolicy;
import io.latchkey.zk.internal.request.ZkLease;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;

final class ZkMutex extends ZkAcquirable implements Mutex {
    private final ThreadHolds holds;
    private final Optional<LocalHandOff> turns;

    ZkMutex(Engine engine, String path, ThreadHolds holds, Optional<LocalHandOff> turns) {
        this(engine, new LockTarget(Recipe.MUTEX, path), holds, turns);
    }

    private ZkMutex(Engine engine, LockTarget target, ThreadHolds holds, Optional<LocalHandOff> turns) {
        super(engine, target);
        this.holds = holds;
        this.turns = turns;
    }

    @Override
    CompletableFuture<Optional<ZkLease>> start(WaitPolicy waitPolicy) {
        return turns.isPresent() ? turns.get().acquire(asked().get(0), waitPolicy) : super.start(waitPolicy);
    }

    @Override
    public Mutex labelled(String label) {
        return new ZkMutex(engine(), withLabel(label).get(0), holds, turns);
    }

    @Override
    public Optional<Lease> leaseOfView() {
        return holds.mine(holdKey()).map(ThreadHolds.Hold::lease);
    }

    @Override
    public Lock asLock() {
        return new LockView(this, holds, ThreadHolds.Side.WRITE);
    }
}
