// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

/** Ports for servers of other packages' tests. */
public final class Ports {
    private Ports() {}

    /**
     * {@return a free port of 127.0.0.1 that no system gives to a connection by itself: it stays free while its server
     * is down}
     */
    public static int free() {
        return Localhost.freePorts(1).findFirst().orElseThrow();
    }
}
