// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.threads;

import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * A thread as a key. Its class may be a user's and override {@code getId}, {@code equals} or {@code hashCode}. A thread
 * that has ended is not kept by it.
 */
public final class ThreadIdentity {
    private final WeakReference<Thread> thread;
    private final int hash;

    private ThreadIdentity(Thread thread) {
        this.thread = new WeakReference<>(thread);
        this.hash = System.identityHashCode(thread);
    }

    /** Returns that of the current thread. */
    public static ThreadIdentity current() {
        return new ThreadIdentity(Thread.currentThread());
    }

    @Override
    public boolean equals(@Nullable Object other) {
        if (this == other) {
            return true;
        }
        Thread own = thread.get();
        return own != null && other instanceof ThreadIdentity same && own == same.thread.get();
    }

    @Override
    public int hashCode() {
        return hash;
    }
}
