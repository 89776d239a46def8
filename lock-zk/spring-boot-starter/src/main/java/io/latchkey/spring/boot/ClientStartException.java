// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import org.jspecify.annotations.Nullable;

/** Thrown when the lock client of the application cannot be opened: what is wrong, and what to do. */
final class ClientStartException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String action;

    ClientStartException(String description, String action, @Nullable Throwable cause) {
        super(description, cause);
        this.action = action;
    }

    String description() {
        return String.valueOf(getMessage());
    }

    String action() {
        return action;
    }
}
