// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.BadPathException;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockMismatchException;
import io.latchkey.lock.LockServiceUnavailableException;
import java.util.Collection;

/** Exit statuses, with the numbers of {@code sysexits.h}, which common commands do not use. */
enum ExitStatus {
    DONE(0),
    /** Evict: there was no such request. */
    GONE(1),
    /** The command line is wrong. */
    USAGE(64),
    /** No server answers, or the servers have too many requests. */
    UNAVAILABLE(69),
    /** An unexpected error; ls, show: a lock could not be shown. */
    UNEXPECTED(70),
    /** Standard output could not be written. */
    NOT_WRITTEN(74),
    /** Run: others held the lock all the time, so the command was not started. */
    NOT_ACQUIRED(75),
    /** Run: the lock was lost before the command had ended. */
    LOST(76),
    /** The server denies access. */
    DENIED(77),
    /** The path is for another kind of lock. */
    MISMATCH(78),
    /** Run: the command could not be started. */
    NOT_STARTED(127);

    /** To this the number of a signal is added. */
    static final int BY_SIGNAL = 128;

    private final int code;

    ExitStatus(int code) {
        this.code = code;
    }

    int code() {
        return code;
    }

    static ExitStatus of(Exception failed) {
        if (failed instanceof BadPathException || failed instanceof IllegalArgumentException) {
            return USAGE;
        } else if (failed instanceof LockServiceUnavailableException) {
            return UNAVAILABLE;
        } else if (failed instanceof AccessDeniedException) {
            return DENIED;
        } else if (failed instanceof LockMismatchException) {
            return MISMATCH;
        }
        return UNEXPECTED;
    }

    /** Returns the status of an incomplete list, by the reason: no server, no right to read, or another error. */
    static ExitStatus ofMissing(Collection<LockException> reasons) {
        if (reasons.isEmpty()) {
            return DONE;
        } else if (reasons.stream().anyMatch(reason -> of(reason) == UNAVAILABLE)) {
            return UNAVAILABLE;
        }
        return reasons.stream().allMatch(reason -> of(reason) == DENIED) ? DENIED : UNEXPECTED;
    }

    /** Whether the exception's message is sufficient without a stack trace. */
    static boolean isExplained(Exception failed) {
        return failed instanceof LockException || failed instanceof IllegalArgumentException;
    }
}
