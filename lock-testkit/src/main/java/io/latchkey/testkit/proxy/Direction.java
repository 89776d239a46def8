// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

/** Which way something travels through a {@link FaultProxy}. */
public enum Direction {
    /** From the client to the server: requests. */
    TO_SERVER,
    /** From the server to the client: answers and watch events. */
    TO_CLIENT
}
