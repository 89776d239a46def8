// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/**
 * A fixed number of mutexes under one path, for very many keys: each key picks one of them. Two keys that pick the same
 * mutex exclude each other although they need not; more stripes make that rarer.
 *
 * <p>All clients must use the same number of stripes. The number is not checked: with different numbers a key picks
 * different mutexes, and the clients do not exclude each other.
 *
 * <p>Do not hold the mutex of one key while you acquire that of another: they may be the same mutex, and the caller
 * would wait for itself. A {@link MultiLock} of several keys refuses such a pair, since one path stands in it twice.
 */
public interface StripedMutex {
    /**
     * Returns the mutex for a key. The same key picks the same mutex on every client, whatever its version, machine or
     * platform. To this end {@link String#valueOf(Object) String.valueOf(key)} is hashed, not {@link Object#hashCode}.
     * So a key must have a {@code toString()} that is the same on every client, as strings, numbers, UUIDs and most
     * enums have. Arrays, and objects that inherit {@code toString()} from {@code Object}, have not.
     *
     * <p>Sends nothing and does not wait.
     *
     * @param key the key
     * @return its mutex
     */
    Mutex forKey(Object key);

    /**
     * Returns the number of mutexes.
     *
     * @return the number of mutexes, at least 1
     */
    int stripes();
}
