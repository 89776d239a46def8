// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.locks;

import com.google.common.hash.Hashing;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.StripedMutex;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.function.IntFunction;

/**
 * The stripes: mutexes named by their number below one path. A key's text chooses one, the same on every client.
 */
final class ZkStripedMutex implements StripedMutex {
    private final int stripes;
    private final IntFunction<Mutex> mutexes;

    ZkStripedMutex(int stripes, IntFunction<Mutex> mutexes) {
        this.stripes = stripes;
        this.mutexes = mutexes;
    }

    @Override
    public Mutex forKey(Object key) {
        Objects.requireNonNull(key, "key");
        int hash = Hashing.murmur3_32_fixed()
                .hashString(String.valueOf(key), StandardCharsets.UTF_8)
                .asInt();
        return mutexes.apply(Math.floorMod(hash, stripes));
    }

    @Override
    public int stripes() {
        return stripes;
    }
}
