// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

/** The requested access, which is the prefix of the node's name. */
public enum Tag {
    WRITE("write-"),
    READ("read-"),
    LEASE("lease-");

    private final String text;

    Tag(String text) {
        this.text = text;
    }

    public String text() {
        return text;
    }
}
