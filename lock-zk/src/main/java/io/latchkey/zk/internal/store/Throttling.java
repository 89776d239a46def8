// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** The pause of a caller's thread before it sends a request again that the server has throttled. */
public final class Throttling {
    public static final long PAUSE_MILLIS = 100;

    private Throttling() {}

    public static void pause() throws InterruptedException {
        try {
            var unused = new CompletableFuture<>()
                    .completeOnTimeout(false, PAUSE_MILLIS, TimeUnit.MILLISECONDS)
                    .get();
        } catch (ExecutionException cannotFail) {
            throw new IllegalStateException(cannotFail);
        }
    }
}
