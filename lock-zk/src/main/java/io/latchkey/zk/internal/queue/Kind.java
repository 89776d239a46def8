// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

/** The kind of lock that a path is used for. */
public enum Kind {
    MUTEX("mutex"),
    READ_WRITE("read-write"),
    SEMAPHORE("semaphore");

    private final String text;

    Kind(String text) {
        this.text = text;
    }

    /** Returns the kind as it is written in a path's data. */
    public String text() {
        return text;
    }

    /** Returns the name of the kind for messages. */
    public String noun() {
        return this == READ_WRITE ? "read-write lock" : text;
    }
}
