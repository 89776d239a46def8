// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import io.latchkey.zk.internal.validity.Clock;
import io.latchkey.zk.internal.validity.ClockReading;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The operations that the locks need from ZooKeeper, all asynchronous. One store serves one session. The real client
 * implements it, and so do simulations.
 *
 * <p>Requests are executed and answered in the order in which they are made. Watch events come in that order too,
 * before any response that shows the change. Every request is answered, if only with {@link Status#CONNECTION_LOSS}.
 * Responses and events may come on any one thread, and must be handled without blocking it.
 */
@SuppressWarnings("ArrayRecordComponent") // Data is only passed through; these records are never compared.
public interface ZnodeStore {
    int ZOOKEEPERS_LONGEST_ANSWER = 0xfffff;
    /** In place of the version of a node's data: it may have any. */
    int ANY_VERSION = -1;

    /** Creates an ephemeral sequential node whose name begins with {@code path}. */
    void create(String path, byte[] data, Consumer<Response<CreatedNode>> then);

    void list(String path, Consumer<Response<Listing>> then);

    /** Lists several nodes in one request, with a response for each, in their order. */
    void lists(List<String> paths, Consumer<Response<List<Response<Listing>>>> then);

    /**
     * Checks in one request which of several nodes exist. The result has, in their order, {@link Status#NO_NODE} for a
     * missing node, {@link Status#OK} for one that exists, and {@link Status#NO_AUTH} for one that exists and may not
     * be read. The response is no older than any earlier one in this session. So a node that an earlier one showed and
     * this one does not has been deleted.
     */
    void exist(List<String> paths, Consumer<Response<List<Status>>> then);

    /**
     * Has the server catch up with its leader, without a write: a read behind it shows what was committed before it was
     * sent, unless the leader has been replaced and does not know it yet.
     */
    void sync(String path, Consumer<Response<String>> then);

    void read(String path, Consumer<Response<NodeData>> then);

    /** Reads the node and sets a watch on its data, which fires on a change and on deletion. */
    void watchData(String path, Consumer<Response<NodeData>> then);

    /** Sets a watch on the node's children, which also fires on the node's own deletion. */
    void watchChildren(String path, Consumer<Response<Listing>> then);

    /** Removes all watches of this session on {@code path}. The events of that come before {@code then}. */
    void removeWatches(String path, Runnable then);

    /** Executes a transaction, whole or not at all. */
    void write(List<Write> writes, Consumer<Response<TransactionResult>> then);

    /**
     * Creates the node again that is the root of all paths here: the chroot. {@code then} gets {@link Status#NO_NODE}
     * if the store cannot, and may run on any thread.
     */
    default void makeRoot(Consumer<Response<Boolean>> then) {
        then.accept(Response.failed(Status.NO_NODE, "NONODE"));
    }

    /** Begins to end the session, or to return a borrowed one, without waiting; {@code then} runs when that is done. */
    void close(Runnable then);

    /** Returns whether responses and events come on {@code thread}, which must not wait for one then. */
    default boolean answersOn(Thread thread) {
        return false;
    }

    /** Returns the store that sends the requests: this one, or the one behind it. */
    default ZnodeStore sender() {
        return this;
    }

    /** Returns the ledger of the session's nodes; a new one of this store if it keeps none. */
    default SessionNodes nodes() {
        return SessionNodes.ofNewSession(0);
    }

    /**
     * Returns how full the session is if sequential nodes whose paths begin like this would be refused with {@link
     * Status#SESSION_FULL}; empty if it has room for them.
     */
    default Optional<String> fullFor(List<String> beginnings) {
        return Optional.empty();
    }

    /** A created node: its name without the parent's path, and its czxid. */
    record CreatedNode(String name, long czxid) {}

    /**
     * The children of a node, in no order, and the mzxid of the node's own data; -1 if the data may have changed during
     * the read.
     */
    record Listing(List<String> children, long mzxid) {}

    /** A node's data and its Stat; {@code session} is the owner of an ephemeral node. */
    record NodeData(byte[] data, long czxid, long mzxid, int version, long ctimeMillis, int children, long session) {}

    /** Returns the id of the session; 0 before the first connection. */
    default long session() {
        return 0;
    }

    /** Returns the maximum length of a response in bytes; a longer one breaks the connection. */
    default int longestAnswer() {
        return ZOOKEEPERS_LONGEST_ANSWER;
    }

    /**
     * The result of a transaction.
     *
     * @param created the nodes that it created, in order; with its zxid if the server returned it, otherwise 0
     * @param failedAt the write that made the whole transaction fail; empty if it succeeded
     */
    record TransactionResult(List<CreatedNode> created, Optional<Refusal> failedAt) {}

    /** The write that made a transaction fail, and the reason. */
    record Refusal(int index, Status code, String detail) {}

    /** The lifetime of a path's node. */
    enum Lifetime {
        /** A container: the server deletes it some time after its last child is deleted. */
        WHILE_USED,
        /** A persistent node. */
        FOR_EVER
    }

    /** A write of a transaction. */
    sealed interface Write {
        /** Returns the path of the node that it writes or checks, or its beginning if the server adds a number. */
        String path();

        /** Creates an empty node for a path, or for a level above one. */
        record CreatePath(String path, Lifetime lifetime) implements Write {
            public CreatePath(String path) {
                this(path, Lifetime.WHILE_USED);
            }
        }

        /** Creates an ephemeral sequential node. */
        record CreateRequest(String path, byte[] data) implements Write {}

        /** Creates an ephemeral node of exactly this name. */
        record CreateNode(String path, byte[] data) implements Write {}

        /** Empties the node's data: the mark by which a holder says that it releases. */
        record Mark(String path) implements Write {}

        record SetData(String path, byte[] data, int version) implements Write {}

        record Delete(String path) implements Write {}

        /** Changes nothing; makes the transaction fail if the node does not exist. */
        record Check(String path) implements Write {}
    }

    /**
     * An attempt to connect.
     *
     * @param begun a time before the request for the connection was sent
     * @param server the address of the server, by name and by number
     */
    record Attempt(ClockReading begun, String server) {}

    /** A listener for events of the session and of watched nodes. */
    interface Listener {
        /** Returns the client's time. Called on any thread. */
        ClockReading now();

        /** Runs {@code task} once, on the client's timer, after {@code delay}. Called on any thread. */
        Clock.Timer after(Duration delay, Runnable task);

        /**
         * The session is connected, for the first time or again, with the timeout that the server granted.
         *
         * @param attempt the attempt that made the connection; empty if unknown
         */
        void connected(int timeoutMillis, Optional<Attempt> attempt);

        void disconnected();

        void expired();

        void loginRefused();

        /** Something about the session that the log should say. */
        default void noted(String line) {}

        /** A response or an event could not be delivered: its consequences are missing. */
        void failed(Throwable why);

        /** A watch fired. {@code zxid} is that of the change, or -1 if the server does not send it. */
        void fired(String path, Change change, long zxid);
    }

    /** The change that a watch reports. */
    enum Change {
        DATA,
        CHILDREN,
        DELETED,
        /** The watch was removed before it fired. */
        WATCH_REMOVED
    }
}
