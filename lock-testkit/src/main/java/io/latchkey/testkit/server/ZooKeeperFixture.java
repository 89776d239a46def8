// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import io.latchkey.testkit.server.EmbeddedEnsemble.FollowerPartition;
import io.latchkey.testkit.time.Eventually;
import java.time.Duration;
import java.util.OptionalInt;

/**
 * ZooKeeper for a test: one server or an ensemble that the test has started. Faults read the state of sessions here,
 * from the server, never from a client.
 *
 * <p>Methods with a default are optional and throw {@link UnsupportedOperationException} if a fixture does not support
 * them.
 */
public interface ZooKeeperFixture extends AutoCloseable {

    /** {@return where clients connect: {@code 127.0.0.1:port}, several separated by commas, without a chroot} */
    String connectString();

    /**
     * {@return whether the server still has a session} It has one from its creation until its end is committed, by
     * expiry, by force or by its client's close; the ephemeral nodes are deleted then.
     *
     * @param sessionId the session's id
     */
    boolean hasSession(long sessionId);

    /**
     * Ends a session at the server by force, and returns when its end is committed and its ephemeral nodes are deleted:
     * 1 to 10 ms. The server drops the client's connection; the client is disconnected about 100 ms later and learns
     * that its session is over when it has connected again, with ZooKeeper's own client after 1 to 2 s. Has no effect
     * if there is no such session.
     *
     * @param sessionId the session's id
     * @throws InterruptedException if interrupted while waiting; the session ends nevertheless
     */
    void expireSession(long sessionId) throws InterruptedException;

    /** {@return whether {@link #expireSession} is possible here; it is, unless a fixture says otherwise} */
    default boolean canExpireSessions() {
        return true;
    }

    /** {@return how many servers there are; they are counted from 0} */
    default int size() {
        return 1;
    }

    /** {@return the number of the server that leads, which the only one does while it runs; empty while none does} */
    default OptionalInt leader() {
        throw new UnsupportedOperationException("these servers are not this process's to ask");
    }

    /**
     * Waits until some server leads: in an ensemble of this process about 0.5 s after the former leader was stopped.
     *
     * @param within how long to wait at most
     * @return the number of the server that leads
     * @throws AssertionError if none does within that time
     * @throws InterruptedException if interrupted while waiting
     */
    default int awaitLeader(Duration within) throws InterruptedException {
        return Eventually.present("a leader", within, this::leader);
    }

    /**
     * {@return whether a server serves clients now: it runs and, in an ensemble, leads or follows}
     *
     * @param server its number
     */
    default boolean isServing(int server) {
        throw new UnsupportedOperationException("these servers are not this process's to ask");
    }

    /**
     * Stops one server. Does nothing if it is stopped.
     *
     * @param server its number
     */
    default void stop(int server) {
        throw new UnsupportedOperationException("these servers are not this process's to stop");
    }

    /**
     * Starts a stopped server again, on the same ports and with its data. In an ensemble it returns before the server
     * has joined the others.
     *
     * @param server its number
     */
    default void restart(int server) {
        throw new UnsupportedOperationException("these servers are not this process's to start");
    }

    /**
     * Cuts a follower off from its leader: {@link EmbeddedEnsemble#cutOffFromLeader}, which alone can.
     *
     * @param follower its number
     * @return the partition, to await and to heal
     */
    default FollowerPartition cutOffFromLeader(int follower) {
        throw new UnsupportedOperationException("there is nothing to cut between these servers");
    }

    /**
     * Stops every server and deletes its files. Clients that are still connected lose their connections. Does nothing
     * the second time.
     */
    @Override
    void close();
}
