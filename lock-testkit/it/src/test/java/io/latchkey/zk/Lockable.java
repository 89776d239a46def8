// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.LockClient;
import java.util.List;

/** Every way to acquire, for tests that ask the same of all: the lock, what shuts it out, where its nodes are. */
enum Lockable {
    MUTEX,
    READ,
    WRITE,
    PERMIT,
    PERMITS,
    MULTI;

    Acquirable of(LockClient client) {
        return switch (this) {
            case MUTEX -> client.mutex("/m");
            case READ -> client.readWriteLock("/rw").readLock();
            case WRITE -> client.readWriteLock("/rw").writeLock();
            case PERMIT -> client.semaphore("/s", 2);
            case PERMITS -> client.semaphore("/s", 2).permits(2);
            case MULTI -> client.multiLock(MUTEX.of(client), WRITE.of(client), PERMITS.of(client));
        };
    }

    /** Something that this waits for while it is held, and that waits for this, on each of its paths. */
    Acquirable blocker(LockClient client) {
        return switch (this) {
            case MUTEX -> MUTEX.of(client);
            case READ -> WRITE.of(client);
            case WRITE -> READ.of(client);
            case PERMIT -> PERMITS.of(client);
            case PERMITS -> PERMIT.of(client);
            case MULTI -> client.multiLock(MUTEX.of(client), READ.of(client), PERMIT.of(client));
        };
    }

    List<String> paths() {
        return switch (this) {
            case MUTEX -> List.of("/m");
            case READ, WRITE -> List.of("/rw");
            case PERMIT, PERMITS -> List.of("/s");
            case MULTI -> List.of("/m", "/rw", "/s");
        };
    }
}
