// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.threads;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * News that its owner tells once. All callers share one stage: one for each would stay registered here until the news,
 * which for most leases never comes.
 */
public final class Notice<T> {
    private final CompletableFuture<T> news = new CompletableFuture<>();
    private final CompletionStage<T> stage = news.minimalCompletionStage();

    public CompletionStage<T> stage() {
        return stage;
    }

    public void deliver(T told) {
        news.complete(told);
    }

    public void fail(Throwable why) {
        news.completeExceptionally(why);
    }
}
