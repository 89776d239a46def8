// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.threads;

import org.jspecify.annotations.Nullable;

/** A thread as a key. Its class may be a user's and override {@code getId}, {@code equals} or {@code hashCode}. */
public record ThreadIdentity(Thread thread) {
    /** Returns that of the current thread. */
    public static ThreadIdentity current() {
        return new ThreadIdentity(Thread.currentThread());
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ThreadIdentity same && thread == same.thread;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(thread);
    }
}
