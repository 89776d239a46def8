package io.latchkey.zk;

import io.latchkey.lock.Mutex;
import io.latchkey.zk.recipe.Recipe;
import io.latchkey.zk.session.Engine;
import io.latchkey.zk.session.Member;
import java.util.concurrent.locks.Lock;

final class ZkMutex extends ZkAcquirable implements Mutex {
    private final ThreadHolds holds;

    ZkMutex(Engine engine, String path, ThreadHolds holds) {
        super(engine, new Member(Recipe.MUTEX, path));
        this.holds = holds;
    }

    @Override
    public Lock asLock() {
        return new LockView(this, holds, ThreadHolds.Side.WRITE);
    }
}
