// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.locks;

import io.latchkey.lock.Acquirable;
import io.latchkey.zk.internal.client.Engine;

/** The engine of a client, which users do not see. */
public final class EngineOf {
    private EngineOf() {}

    /** Returns the engine of the client that {@code lock} is of. */
    public static Engine lock(Acquirable lock) {
        return ((ZkAcquirable) lock).engine();
    }
}
