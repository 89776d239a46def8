// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.curator;

import java.util.concurrent.locks.Lock;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

/** {@link InterProcessMutex}. */
final class CuratorMutex extends CuratorAcquirable implements OtherLibrary.OneHolder {
    CuratorMutex(CuratorLockClient client, String path) {
        super(client, path);
    }

    @Override
    InterProcessLock lock() {
        return new InterProcessMutex(client().framework(), path());
    }

    @Override
    public Lock asLock() {
        return client().mutexView(path());
    }
}
