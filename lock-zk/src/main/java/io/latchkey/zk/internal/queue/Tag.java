// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

/** What a request asks for, as the beginning of its node's name says it. */
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
