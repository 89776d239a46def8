package io.latchkey.testkit;

/**
 * ZooKeeper for a test, in the test's own process: one server or an ensemble. What a fault needs to know about sessions it asks
 * here, at the server, never at a client.
 */
public interface ZooKeeperFixture extends AutoCloseable {

    /** Where clients connect: {@code 127.0.0.1:port}, several separated by commas. No chroot. */
    String connectString();

    /**
     * Whether the server still has this session. True from the moment the session is created until its end is committed, by
     * expiry, by decree or by its client's close; the ephemeral nodes go with it.
     */
    boolean hasSession(long sessionId);

    /**
     * Ends a session at the server, by decree, and returns when its end is committed and its ephemeral nodes are gone: 1 to 10 ms.
     * The server drops the client's connection; the client is disconnected about 100 ms later and learns that its session is over
     * when it has connected again, with ZooKeeper's own client after 1 to 2 s. Nothing happens if there is no such session.
     *
     * @throws InterruptedException if interrupted while waiting; the session ends nevertheless
     */
    void expireSession(long sessionId) throws InterruptedException;

    /** Stops every server and deletes its files. Clients that are still connected lose their connections. */
    @Override
    void close();
}
