// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import com.google.common.hash.Hashing;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.StripedMutex;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;

/** Stripes are mutexes named by their number below one path; a key's text chooses one, on every client the same. */
final class ZkStripedMutex implements StripedMutex {
    private final List<Mutex> mutexes;

    ZkStripedMutex(List<Mutex> mutexes) {
        this.mutexes = mutexes;
    }

    @Override
    public Mutex forKey(Object key) {
        Objects.requireNonNull(key, "key");
        int hash = Hashing.murmur3_32_fixed()
                .hashString(String.valueOf(key), StandardCharsets.UTF_8)
                .asInt();
        return mutexes.get(Math.floorMod(hash, mutexes.size()));
    }

    @Override
    public int stripes() {
        return mutexes.size();
    }
}
