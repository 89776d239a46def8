// SPDX-License-Identifier: Apache-2.0
package com.example.billing;

import io.latchkey.lock.LockClient;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.Lock;
import org.springframework.integration.support.locks.LockRegistry;

/** Spring Integration's locks: a mutex for each key, below one path. */
public final class LatchkeyLockRegistry implements LockRegistry<Lock> {
    private final LockClient locks;
    private final String parent;

    public LatchkeyLockRegistry(LockClient locks, String parent) {
        this.locks = locks;
        this.parent = parent;
    }

    @Override
    public Lock obtain(Object lockKey) {
        String key = URLEncoder.encode(lockKey.toString(), StandardCharsets.UTF_8); // it may contain a slash
        return locks.mutex(parent + "/key-" + key).asLock();
    }
}
