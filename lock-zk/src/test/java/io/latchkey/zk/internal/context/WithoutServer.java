// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.context;

import io.latchkey.zk.internal.queue.Owner;
import io.latchkey.zk.internal.validity.VirtualClock;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;

/** Clients of tests that never have a server. */
public final class WithoutServer {
    private WithoutServer() {}

    /** Returns the configuration of one with this session timeout, and with a margin if one is given. */
    public static ClientConfig config(Duration sessionTimeout, Optional<Duration> margin) {
        return new ClientConfig(
                new ClientConfig.Source.Own(listener -> {
                    throw new IOException("no server here");
                }),
                sessionTimeout,
                margin,
                new Owner("host", 1, ""),
                () -> 1,
                new VirtualClock(),
                Runnable::run,
                path -> path);
    }

    /** Returns the same with a session timeout of 10 s. */
    public static ClientConfig config() {
        return config(Duration.ofSeconds(10), Optional.empty());
    }
}
