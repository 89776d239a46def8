// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import java.util.List;

/** What a test records of its clients. If the test fails, it is printed together with what passed on their wires. */
public interface ClientRecord {
    /** {@return when the record began, as {@link System#nanoTime()}} */
    long origin();

    /** {@return a line an event, those recorded so far, in order of time} */
    List<Line> lines();

    /**
     * One event.
     *
     * @param nanoTime when it was, as {@link System#nanoTime()}
     * @param client the name of the client whose event it is
     * @param text what it was, in one line
     */
    record Line(long nanoTime, String client, String text) {}
}
