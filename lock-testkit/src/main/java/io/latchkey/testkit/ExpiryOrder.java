package io.latchkey.testkit;

/** In which order the server and the client learn that a session is over. T is the session's timeout. */
public enum ExpiryOrder {
    /**
     * The server ends the session by decree, as an administrator might: a second connection with the same id and password closes it.
     * The nodes are gone after 2 to 10 ms. The client is disconnected at once, tells of it after 0.1 s, and learns of the end when
     * it has connected again, with ZooKeeper's own client after 1 to 2 s. Meanwhile others may hold what it believes to hold: no
     * local clock can know of a decree, only a fencing token or a guarded write protects.
     */
    SERVER_FIRST,
    /**
     * The client comes to believe that its session is over while it lives: its connection is cut and the next one answered, in the
     * server's place, that there is no such session; 1 to 2 s with ZooKeeper's own client. The server ends the session by time, T
     * after the client's last sign; until then its nodes stay, and the client's new requests wait behind them. The harmless order.
     * ZooKeeper's {@code Testable.injectSessionExpiration()}, and so Curator's {@code KillSession}, is of this kind.
     */
    CLIENT_FIRST,
    /**
     * The client is cut off from every server without a word, and connected again when the server has ended the session by time: T
     * after the client's last sign, at the next tick. The client tells of a disconnect two thirds of T after the server's last sign,
     * and learns of the end when it is connected again. This is how sessions end in production: a client that watches its own clock
     * knows before the server acts.
     */
    PARTITION
}
