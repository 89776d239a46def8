// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.lock.Mutex;
import io.latchkey.zk.recipe.Recipe;
import io.latchkey.zk.session.Engine;
import io.latchkey.zk.session.LocalTurns;
import io.latchkey.zk.session.Member;
import io.latchkey.zk.session.Patience;
import io.latchkey.zk.session.ZkLease;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;

final class ZkMutex extends ZkAcquirable implements Mutex {
    private final ThreadHolds holds;
    private final Optional<LocalTurns> turns;

    ZkMutex(Engine engine, String path, ThreadHolds holds, Optional<LocalTurns> turns) {
        super(engine, new Member(Recipe.MUTEX, path));
        this.holds = holds;
        this.turns = turns;
    }

    @Override
    CompletableFuture<Optional<ZkLease>> start(Patience patience) {
        return turns.isPresent() ? turns.get().acquire(path(), patience) : super.start(patience);
    }

    @Override
    public Lock asLock() {
        return new LockView(this, holds, ThreadHolds.Side.WRITE);
    }
}
