// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/**
 * A fixed number of mutexes under one path, for a very large number of keys: each key maps to one mutex. Two keys with
 * the same mutex exclude each other unnecessarily; more stripes make that less frequent.
 *
 * <p>All clients must use the same number of stripes. The number is not checked: with different numbers a key maps to
 * different mutexes, and the clients do not exclude each other.
 *
 * <p>Do not hold the mutex of one key while acquiring that of another: they may be the same mutex, and the caller would
 * wait for itself. A {@link MultiLock} of several keys refuses such a pair, because two members have the same path.
 */
public interface StripedMutex {
    /**
     * Returns the mutex for a key. A key has the same mutex on every client, whatever its version, machine or platform:
     * the library hashes the text {@link String#valueOf(Object) String.valueOf(key)} by itself and does not use {@link
     * Object#hashCode}. So the {@code toString()} of a key must be the same on every client, as with strings, numbers,
     * UUIDs and most enums. Arrays, and objects that inherit {@code toString()} from {@code Object}, are not suitable.
     *
     * <p>Sends nothing and does not wait.
     *
     * @param key the key
     * @return the mutex for the key
     */
    Mutex forKey(Object key);

    /**
     * Returns the number of mutexes.
     *
     * @return the number of mutexes, at least 1
     */
    int stripes();
}
