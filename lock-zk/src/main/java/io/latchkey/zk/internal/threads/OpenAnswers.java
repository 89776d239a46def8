// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.threads;

import io.latchkey.lock.LockException;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The answers of an engine that are not complete yet. They are known apart from the engine's state, which says nothing
 * any more once a step has failed.
 */
public final class OpenAnswers {
    private final Set<Answer<?>> open = ConcurrentHashMap.newKeySet();
    private volatile @Nullable Supplier<LockException> failure;

    /** Creates an answer that is open. */
    public <T extends @Nullable Object> Answer<T> next() {
        Answer<T> answer = new Answer<>(this);
        answer.open();
        return answer;
    }

    /** Either this look at the failure, or the walk over the set, sees the other one's write. */
    void add(Answer<?> answer) {
        open.add(answer);
        Supplier<LockException> why = failure;
        if (why != null) {
            answer.engineFailed(why.get());
        }
    }

    void remove(Answer<?> answer) {
        open.remove(answer);
    }

    /** Completes all answers that are open, and from now on each one that is opened. */
    public void failAll(Supplier<LockException> why) {
        failure = why;
        for (Answer<?> answer : open) {
            try {
                answer.engineFailed(why.get());
            } catch (Throwable again) {
                // The others must not wait for it.
                answer.completeExceptionally(again);
            }
        }
    }

    /**
     * The result of a call, which a step of the engine completes. Should an unexpected error end the engine before, it
     * completes as well: see {@link #failAll}.
     */
    public static class Answer<T extends @Nullable Object> extends CompletableFuture<T> {
        private final OpenAnswers open;

        /** Creates an answer, which {@link #open} adds to {@code open}. */
        public Answer(OpenAnswers open) {
            this.open = open;
        }

        /** Notes that the answer is open from now on. Called once, before the task that is to complete it. */
        public final void open() {
            open.add(this);
        }

        /** Completes the answer, as the engine has failed. */
        protected void engineFailed(LockException why) {
            completeExceptionally(why);
        }

        @Override
        public boolean complete(T value) {
            open.remove(this);
            return super.complete(value);
        }

        @Override
        public boolean completeExceptionally(Throwable why) {
            open.remove(this);
            return super.completeExceptionally(why);
        }

        @Override
        public boolean cancel(boolean mayInterruptIfRunning) {
            open.remove(this);
            return super.cancel(mayInterruptIfRunning);
        }
    }
}
