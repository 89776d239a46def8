// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

/** A failure of a command that has its own exit status, and whose message is for people. */
final class StatusException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final ExitStatus status;

    StatusException(ExitStatus status, String message) {
        super(message);
        this.status = status;
    }

    ExitStatus status() {
        return status;
    }
}
