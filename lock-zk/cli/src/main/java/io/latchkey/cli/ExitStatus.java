// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.BadPathException;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockException.Reason;
import io.latchkey.lock.LockMismatchException;
import io.latchkey.lock.LockServiceUnavailableException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Exit statuses, with the numbers of {@code sysexits.h}, which common commands do not use. 1 is none of them: a
 * JVM that cannot start ends with it. This is the one list of
 * them: the help of each command and docs/command-line.md have it.
 */
enum ExitStatus {
    DONE(0, "done; of run: that of the command, where it ran to its end under the lock"),
    USAGE(64, "the command line is wrong; nothing was done"),
    GONE(66, "evict, ask: there was no such request; ask: its owner does not listen"),
    UNAVAILABLE(69, "no server answers, or the servers have too many requests"),
    UNEXPECTED(70, "an unexpected error; of a list: a lock could not be shown"),
    NOT_WRITTEN(74, "standard output or a file could not be written, and is not complete"),
    NOT_ACQUIRED(75, "run, ping: not acquired in time; the command was not run"),
    LOST(76, "run: the lock was lost before the command had ended, or had begun"),
    DENIED(77, "refused: access, the login, or a certificate of TLS"),
    MISCONFIGURED(
            78,
            "configured wrong: the path is for another kind of lock, no such chroot, TLS cannot work, no Java is found"),
    NOT_EXECUTABLE(126, "run: the command cannot be executed"),
    NOT_STARTED(127, "run: the command was not found, or could not be started");

    /** To this the number of a signal is added. */
    static final int BY_SIGNAL = 128;

    private static final String SIGNALLED =
            "run: latchkey got HUP (1), INT (2), TERM (15) or another signal, or the command";

    private final int code;
    private final String meaning;

    ExitStatus(int code, String meaning) {
        this.code = code;
        this.meaning = meaning;
    }

    int code() {
        return code;
    }

    /** Returns the list for people: each status with its meaning. */
    static Map<String, String> list() {
        Map<String, String> list = new LinkedHashMap<>();
        for (ExitStatus each : values()) {
            list.put(Integer.toString(each.code), each.meaning);
        }
        list.put(BY_SIGNAL + "+N", SIGNALLED);
        return list;
    }

    static ExitStatus of(Exception failed) {
        if (failed instanceof BadPathException || failed instanceof IllegalArgumentException) {
            return USAGE;
        } else if (failed instanceof LockServiceUnavailableException unavailable) {
            if (unavailable.reason() == Reason.TLS_REFUSED) {
                return DENIED;
            }
            return unavailable.reason() == Reason.TLS_MISCONFIGURED ? MISCONFIGURED : UNAVAILABLE;
        } else if (failed instanceof AccessDeniedException) {
            return DENIED;
        } else if (failed instanceof LockMismatchException) {
            return MISCONFIGURED;
        }
        return UNEXPECTED;
    }

    /**
     * Returns the status of an incomplete list, by the reason: no server, no right to read, data of a later version, or
     * another error.
     */
    static ExitStatus ofMissing(Collection<LockException> reasons) {
        if (reasons.isEmpty()) {
            return DONE;
        } else if (reasons.stream().anyMatch(reason -> of(reason) == UNAVAILABLE)) {
            return UNAVAILABLE;
        }
        ExitStatus first = of(reasons.iterator().next());
        boolean isKnown = first == DENIED || first == MISCONFIGURED;
        return isKnown && reasons.stream().allMatch(reason -> of(reason) == first) ? first : UNEXPECTED;
    }

    /** Whether the exception's message is sufficient without a stack trace. */
    static boolean isExplained(Exception failed) {
        return failed instanceof LockException || failed instanceof IllegalArgumentException;
    }
}
