// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;

/**
 * The nodes of a former session, which are deleted in batches before that session is closed: the servers close a
 * session by one transaction with the paths of all its nodes. Its leases ended before, so the order does not matter.
 *
 * <p>What the servers refuse to delete stays for the end of the session. If the connection breaks, so does all that is
 * left. Used on the handle's event thread.
 */
final class FormerNodes {
    /** The number of nodes of a batch, and of those that the end of the session may have. */
    private static final int BATCH = 500;
    /** The characters of their paths, where these are long. */
    private static final int BATCH_LENGTH = 100_000;

    private static final int ANY_VERSION = -1;

    private final ZooKeeper handle;
    private final SessionNodes nodes;

    FormerNodes(ZooKeeper handle, SessionNodes nodes) {
        this.handle = handle;
        this.nodes = nodes;
    }

    /** Deletes the nodes until few are left, and runs {@code then}. */
    void deleteThen(Runnable then) {
        Deque<String> left = new ArrayDeque<>(nodes.known());
        if (batch(new ArrayDeque<>(left)).size() == left.size()) {
            then.run();
        } else {
            deleteNext(left, then);
        }
    }

    private void deleteNext(Deque<String> left, Runnable then) {
        List<String> batch = batch(left);
        if (batch.isEmpty()) {
            then.run();
            return;
        }
        List<Op> deletions = new ArrayList<>(batch.size());
        for (String path : batch) {
            deletions.add(Op.delete(path, ANY_VERSION));
        }
        handle.multi(
                deletions,
                (rc, path, ctx, results) -> {
                    Status status = ZooKeeperResults.status(rc);
                    if (isOver(status)) {
                        then.run();
                    } else if (status == Status.OK) {
                        batch.forEach(nodes::deleted);
                        deleteNext(left, then);
                    } else {
                        deleteEach(batch, left, then);
                    }
                },
                null);
    }

    /** Deletes each by a request of its own, since one of them is missing or may not be deleted. */
    private void deleteEach(List<String> batch, Deque<String> left, Runnable then) {
        AtomicInteger unanswered = new AtomicInteger(batch.size());
        for (String each : batch) {
            handle.delete(
                    each,
                    ANY_VERSION,
                    (rc, path, ctx) -> {
                        Status status = ZooKeeperResults.status(rc);
                        if (status == Status.OK || status == Status.NO_NODE) {
                            nodes.deleted(each);
                        } else if (isOver(status)) {
                            left.clear();
                        }
                        if (unanswered.decrementAndGet() == 0) {
                            deleteNext(left, then);
                        }
                    },
                    null);
        }
    }

    private static boolean isOver(Status status) {
        return switch (status) {
            case CONNECTION_LOSS, SESSION_EXPIRED, LOGIN_REFUSED -> true;
            default -> false;
        };
    }

    /** Takes the next batch from those that are left. */
    private static List<String> batch(Deque<String> left) {
        List<String> batch = new ArrayList<>();
        int length = 0;
        while (!left.isEmpty() && batch.size() < BATCH && length < BATCH_LENGTH) {
            String path = left.remove();
            length += path.length();
            batch.add(path);
        }
        return batch;
    }
}
