// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

/** Whether a server may expire sessions by time. Outlives restarts of the server. */
final class ExpirySwitch {
    private volatile boolean held;

    boolean isHeld() {
        return held;
    }

    void hold() {
        held = true;
    }

    void resume() {
        held = false;
    }
}
