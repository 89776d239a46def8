// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/**
 * The current thread locked a {@linkplain Mutex#asLock view}, and the lease behind it was lost.
 *
 * <p>Others may hold the lock now, and may have held it during some of the work that the thread did under it. Treat
 * that work as unsafe unless its writes were checked. If thrown by a form of {@code lock()}, nothing was locked, and
 * the thread still has to unlock as often as it locked before. If thrown by {@code unlock()}, that hold is given up;
 * after the last one the thread may lock anew.
 */
public class LockOwnershipLostException extends IllegalMonitorStateException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes the exception.
     *
     * @param message which lock was lost, and why
     */
    public LockOwnershipLostException(String message) {
        super(message);
    }
}
