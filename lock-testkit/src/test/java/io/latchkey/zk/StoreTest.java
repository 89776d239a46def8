// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.Mutex;
import io.latchkey.testkit.server.ServerNode;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the locks ask of a handle that the simulation does not have. */
@Timeout(60)
class StoreTest extends OnOneServer {
    private final ZkLockClient holder = client("holder");

    @Test
    void requestNodeIsDeleted_whenItsSessionEnds() throws Exception {
        holder.mutex("/m").acquire().close();
        Lease onAPathThatIsThere = holder.mutex("/m").acquire();
        assertTrue(requestsUnder("/m").get(0).isEphemeral());
        onAPathThatIsThere.close();
    }

    @Test
    void waiterLeavesNoWatch_whenItIsCancelled() throws Exception {
        Lease held = holder.mutex("/m").acquire();
        Mutex mutex = client("waiter").mutex("/m");
        CompletableFuture<Lease> waiting = queued("/m", mutex);
        settle(mutex);
        assertTrue(waiting.cancel(false));
        awaitRequests("/m", 1);
        awaitWatchers(requestsUnder("/m").get(0), 0);
        held.close();
    }

    @Test
    void waiterIsGranted_whenTheOwnerOfABorrowedHandleRemovesItsWatches() throws Exception {
        ZooKeeper handle = handle();
        try (ZkLockClient borrower = borrowing(handle)) {
            Lease held = holder.mutex("/m").acquire();
            CompletableFuture<Lease> waiting = queued("/m", borrower.mutex("/m"));
            settle(borrower.mutex("/m"));
            ServerNode ahead = requestsUnder("/m").get(0);
            awaitWatchers(ahead, 1);
            handle.removeAllWatches(ahead.path(), Watcher.WatcherType.Any, false);
            held.close();
            soon(waiting).close();
        }
    }
}
