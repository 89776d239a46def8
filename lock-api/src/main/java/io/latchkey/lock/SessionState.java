// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/** The state of a client's session. */
public enum SessionState {
    /** Connected: for the first time, again in the same session, or in a new session. */
    CONNECTED,

    /** The connection is lost; the session may still be alive. */
    DISCONNECTED,

    /** The session has ended. A client that owns its sessions opens a new one. */
    EXPIRED,

    /** The client is closed, or the servers refuse its login, which is as final. An observer hears nothing after it. */
    CLOSED
}
