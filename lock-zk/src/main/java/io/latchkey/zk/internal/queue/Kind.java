// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

/** What a path can be for. */
public enum Kind {
    MUTEX("mutex"),
    READ_WRITE("read-write"),
    SEMAPHORE("semaphore");

    private final String text;

    Kind(String text) {
        this.text = text;
    }

    /** As a path's data has it. */
    public String text() {
        return text;
    }

    /** For a person to read. */
    public String noun() {
        return this == READ_WRITE ? "read-write lock" : text;
    }
}
