// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import io.latchkey.zk.internal.threads.CallerWait;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** The pause before a client sends a request again that the server has throttled. */
public final class Throttling {
    public static final Duration PAUSE = Duration.ofMillis(100);

    private Throttling() {}

    public static void pause() throws InterruptedException {
        boolean unused = CallerWait.await(new CompletableFuture<>(), PAUSE);
    }
}
