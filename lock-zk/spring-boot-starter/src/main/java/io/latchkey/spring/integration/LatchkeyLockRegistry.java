// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.integration;

import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockOwnershipLostException;
import io.latchkey.lock.Mutex;
import io.latchkey.spring.LockKeys;
import java.util.Objects;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.LockRegistry;

/**
 * Spring Integration's locks: a mutex for each key, at {@code PATH/key-KEY}. The key is the text of the object. Locks are
 * owned by their thread and re-entrant, as {@link Mutex#asLock} describes; nothing is cached.
 *
 * <p>A lock with a time to live ends after it, by {@link Mutex#heldAtMost}: {@code unlock()} then throws a
 * {@link LockOwnershipLostException}. Without one, a holder that is alive keeps the lock; a dead one, until its session
 * ends. Nothing has to be renewed.
 */
public final class LatchkeyLockRegistry implements LockRegistry<DistributedLock> {
    private final LockClient client;
    private final String path;

    /**
     * Makes a registry.
     *
     * @param client the client, which the registry does not close
     * @param path the path above the locks
     */
    public LatchkeyLockRegistry(LockClient client, String path) {
        this.client = Objects.requireNonNull(client, "client");
        this.path = Objects.requireNonNull(path, "path");
        var unused = client.mutex(LockKeys.path(path, "key")); // a bad path fails here
    }

    /** Returns the lock of a key. All locks of one key in one client are the same. */
    @Override
    public DistributedLock obtain(Object lockKey) {
        return new MutexLock(client.mutex(LockKeys.path(path, lockKey.toString())));
    }
}
