// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

/**
 * The order in which the server and the client learn that a session has ended. T is the session's timeout. The times
 * are those of a client with {@link Reconnects#HONEST}; the times with {@link Reconnects#FAST} are given separately.
 * For a client that is paused while its session ends, use a separate process: {@link ClientProcess}.
 */
public enum ExpiryOrder {
    /**
     * The server ends the session by force, as an administrator might: a second connection with the same id and
     * password closes it. The nodes are deleted after 2 to 10 ms. The client is disconnected at once, reports that
     * after 0.1 s, and learns of the end when it has reconnected, with ZooKeeper's own client after 1 to 2 s. Until
     * then other clients may hold locks for which this client finds its leases valid: no local clock shows a forced
     * expiry, so only a fencing token or a guarded write protects. Fast: the client knows 4 to 12 ms later.
     */
    SERVER_FIRST,
    /**
     * The client is led to treat its live session as ended: its connection is cut, and the proxy answers the next one
     * that there is no such session; 1 to 2 s with ZooKeeper's own client. The server ends the session by time, T after
     * the client's last sign; until then its nodes stay, and the client's new requests wait behind them. The harmless
     * order. ZooKeeper's {@code Testable.injectSessionExpiration()}, and so Curator's {@code KillSession}, is of this
     * kind. Fast: the client learns it within 4 to 9 ms, and the session is then ended at the server by force.
     */
    CLIENT_FIRST,
    /**
     * Both at once: the client's connection is cut, the session is ended at the server by force, 2 to 10 ms, and the
     * proxy answers the client's next connection that it has ended; 1 to 2 s with ZooKeeper's own client. Which of them
     * is first is left to the race. The client is disconnected from the first moment on, while with
     * {@link #SERVER_FIRST} its connection still stands when the server ends the session. Fast: the client knows 4 to 8
     * ms later, and may be first.
     */
    BOTH,
    /**
     * The client is cut off from every server without notice, and connected again when the server has ended the session
     * by time: T after the client's last sign, at the next tick. The client tells of a disconnect two thirds of T after
     * the server's last sign, and learns of the end when it is connected again. This is how sessions end in production:
     * a client that watches its own clock knows before the server acts. Fast: the session is ended by force while the
     * client is cut off, and the client is then connected again; that takes 3 to 12 ms, and no clock shows it.
     */
    PARTITION
}
