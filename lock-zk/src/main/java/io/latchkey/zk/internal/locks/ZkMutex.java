// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.locks;

import io.latchkey.lock.Lease;
import io.latchkey.lock.Mutex;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.client.LocalHandOff;
import io.latchkey.zk.internal.recipe.LockTarget;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Lock;

final class ZkMutex extends ZkAcquirable implements Mutex {
    private final ThreadHolds holds;

    ZkMutex(Engine engine, List<LockTarget> only, ThreadHolds holds, Optional<LocalHandOff> turns) {
        super(engine, only, turns);
        this.holds = holds;
    }

    @Override
    public Mutex labelled(String label) {
        return new ZkMutex(engine(), withLabel(label), holds, turns());
    }

    @Override
    public Mutex heldAtMost(Duration limit) {
        return new ZkMutex(engine(), withLimit(limit), holds, turns());
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
