// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/**
 * Thrown when the current thread has locked a {@linkplain Mutex#asLock view} and the lease behind the view was lost.
 *
 * <p>Other requests may hold the lock now, and may have held it during part of the thread's work under it. Treat that
 * work as unsafe unless its writes were checked. If thrown by a form of {@code lock()}, no hold was added, and the
 * thread still has to unlock as often as it locked before. If thrown by {@code unlock()}, that hold is released; after
 * the last one the thread may lock again.
 */
public class LockOwnershipLostException extends IllegalMonitorStateException {
    private static final long serialVersionUID = 1L;

    /**
     * Constructs the exception.
     *
     * @param message the lock that was lost, and the cause if it is known
     */
    public LockOwnershipLostException(String message) {
        super(message);
    }
}
