// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

/**
 * In which order the server and the client learn that a session is over. T is the session's timeout. The times are those of a client
 * with {@link Reconnects#HONEST}; what {@link Reconnects#FAST} makes of each is said with it. The order that is missing here, a client
 * that stands still while its session ends, takes a process of its own: {@link ClientProcess}.
 */
public enum ExpiryOrder {
    /**
     * The server ends the session by decree, as an administrator might: a second connection with the same id and password closes it.
     * The nodes are gone after 2 to 10 ms. The client is disconnected at once, tells of it after 0.1 s, and learns of the end when
     * it has connected again, with ZooKeeper's own client after 1 to 2 s. Meanwhile others may hold what it believes to hold: no
     * local clock can know of a decree, only a fencing token or a guarded write protects. Fast: the client knows 4 to 12 ms later.
     */
    SERVER_FIRST,
    /**
     * The client comes to believe that its session is over while it lives: its connection is cut and the next one answered, in the
     * server's place, that there is no such session; 1 to 2 s with ZooKeeper's own client. The server ends the session by time, T
     * after the client's last sign; until then its nodes stay, and the client's new requests wait behind them. The harmless order.
     * ZooKeeper's {@code Testable.injectSessionExpiration()}, and so Curator's {@code KillSession}, is of this kind. Fast: the client
     * is told within 4 to 9 ms, and the session is then ended at the server by decree.
     */
    CLIENT_FIRST,
    /**
     * Both at once: the client's connection is cut, the session ended at the server by decree, 2 to 10 ms, and the client's next
     * connection answered that it is over, without its server being asked; 1 to 2 s with ZooKeeper's own client. Which of them is first
     * is left to the race. The client is disconnected from the first moment on, while with {@link #SERVER_FIRST} its connection still
     * stands when the server ends the session. Fast: the client knows 4 to 8 ms later, and may be first.
     */
    BOTH,
    /**
     * The client is cut off from every server without a word, and connected again when the server has ended the session by time: T
     * after the client's last sign, at the next tick. The client tells of a disconnect two thirds of T after the server's last sign,
     * and learns of the end when it is connected again. This is how sessions end in production: a client that watches its own clock
     * knows before the server acts. Fast: the session is ended by decree while the client is cut off, and the client connected again
     * then; that takes 3 to 12 ms, and no clock knows of it.
     */
    PARTITION
}
