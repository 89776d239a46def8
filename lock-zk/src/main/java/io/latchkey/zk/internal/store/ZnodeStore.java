// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * All that the locks need of ZooKeeper, asynchronous, one port for one session. The real client implements it, and so
 * can a simulation. Requests are carried out and answered in the order in which they are made; watch events come in
 * that order too, before any answer that shows what they tell. Every request is answered, if only with
 * {@link Status#CONNECTION_LOSS}. Answers and events may come on any one thread, and must be taken without blocking it.
 */
@SuppressWarnings("ArrayRecordComponent") // Data passes through here; nobody compares these values.
public interface ZnodeStore {
    int ZOOKEEPERS_LONGEST_ANSWER = 0xfffff;

    /** Creates an ephemeral sequential node whose name begins with {@code path}. */
    void create(String path, byte[] data, Consumer<Response<Created>> then);

    void list(String path, Consumer<Response<Listing>> then);

    /** The same of several nodes in one request, with an answer for each, in their order. */
    void lists(List<String> paths, Consumer<Response<List<Response<Listing>>>> then);

    /**
     * Asks in one request which of several nodes are there; in their order {@link Status#NO_NODE} for one that is not,
     * {@link Status#OK} for one that is, or {@link Status#NO_AUTH} if it is and may not be read. The answer is no older than
     * any that this session has had before, so what it does not show of what was shown before has been deleted.
     */
    void exist(List<String> paths, Consumer<Response<List<Status>>> then);

    void read(String path, Consumer<Response<NodeData>> then);

    /** Reads the node and leaves a watch on its data, which fires on a change and on deletion. */
    void watchData(String path, Consumer<Response<NodeData>> then);

    /** Leaves a watch on the node's children, which also fires on the node's own deletion. */
    void watchChildren(String path, Consumer<Response<Listing>> then);

    /** Takes back all watches of this session on {@code path}; what that tells of them comes before {@code then}. */
    void removeWatches(String path, Runnable then);

    /** One transaction: all of it or nothing. */
    void write(List<Write> writes, Consumer<Response<Written>> then);

    /** Begins to end the session, or to give a borrowed one back, without waiting; {@code then} runs when that is done. */
    void close(Runnable then);

    /** Whether answers and events come on {@code thread}, which must not wait for one then. */
    default boolean answersOn(Thread thread) {
        return false;
    }

    /** A created node: its name without the path before it, and its czxid. */
    record Created(String name, long czxid) {}

    /** The children of a node, in no order, and the mzxid of the node's own data; -1 if that may have changed meanwhile. */
    record Listing(List<String> children, long mzxid) {}

    /** A node's data and what its Stat says; {@code session} is whose it is, if it is ephemeral. */
    record NodeData(byte[] data, long czxid, long mzxid, int version, long ctimeMillis, int children, long session) {}

    /** How many bytes an answer may have; a longer one breaks the connection. */
    default int longestAnswer() {
        return ZOOKEEPERS_LONGEST_ANSWER;
    }

    /**
     * What became of a transaction.
     *
     * @param created the nodes that it created, in order; with its zxid if the server said it, else 0
     * @param failedAt the index of the write that made it fail as a whole; empty when it succeeded
     */
    record Written(List<Created> created, Optional<Refusal> failedAt) {}

    /** The write that made a transaction fail, and why. */
    record Refusal(int index, Status code, String detail) {}

    /** How long a path is there. */
    enum Lasting {
        /** A container: the server deletes it some time after its last child is gone. */
        WHILE_USED,
        /** Until somebody deletes it. */
        FOR_EVER
    }

    /** One write of a transaction. */
    sealed interface Write {
        /** An empty node for a path, or for a level above one. */
        record CreatePath(String path, Lasting lasting) implements Write {
            public CreatePath(String path) {
                this(path, Lasting.WHILE_USED);
            }
        }

        /** An ephemeral sequential node. */
        record CreateRequest(String path, byte[] data) implements Write {}

        /** An ephemeral node of exactly this name. */
        record CreateNode(String path, byte[] data) implements Write {}

        /** Empties the node's data: a holder's word that it lets go. */
        record Mark(String path) implements Write {}

        record SetData(String path, byte[] data, int version) implements Write {}

        record Delete(String path) implements Write {}

        /** Changes nothing; fails the transaction when the node is not there. */
        record Check(String path) implements Write {}
    }

    /** What the session tells of itself and of watched nodes. */
    interface Listener {
        /** Connected, for the first time or again; {@code timeoutMillis} is the session's time-out by the server. */
        void connected(int timeoutMillis);

        void disconnected();

        void expired();

        void loginRefused();

        /** A watch fired. {@code zxid} is that of the change, or -1 when the server does not say. */
        void fired(String path, Change change, long zxid);
    }

    /** What a watch tells. */
    enum Change {
        DATA,
        CHILDREN,
        DELETED,
        /** The watch is gone without having fired: somebody took it back. */
        WATCH_REMOVED
    }
}
