// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.SessionState;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.server.ServerNode;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the locks ask of a handle that the simulation does not have. */
@Timeout(60)
class StoreTest extends OnOneServer {
    private final ZkLockClient holder = client("holder");

    StoreTest() throws InterruptedException {}

    /** Their removal cannot be sent, and ZooKeeper's client sets the watches that it has again when it connects. */
    @Test
    void waiterLeavesNoWatch_whenItIsCancelledWithoutAConnection() throws Exception {
        Lease held = holder.mutex("/m").acquire();
        ServerNode ahead = requestsUnder("/m").get(0);
        FaultProxy proxy = fastProxy();
        ZooKeeper handle = new ZooKeeper(proxy.connectString(), (int) LONG_SESSION.toMillis(), event -> {});
        try (ZkLockClient borrower = borrowing(handle)) {
            CompletableFuture<Lease> waiting = queued("/m", borrower.mutex("/m"));
            awaitWatchers(ahead, 1);
            proxy.refuse();
            proxy.cut();
            awaitUntil("the connection is lost", () -> borrower.session().state() == SessionState.DISCONNECTED);
            assertTrue(waiting.cancel(false));
            assertEquals(Optional.empty(), borrower.mutex("/m").tryAcquire(Duration.ofMillis(1)), "all that is done");
            assertThrows(KeeperException.ConnectionLossException.class, () -> handle.exists("/m", false));
            proxy.accept();
            awaitRequests("/m", 1);
            awaitWatchers(ahead, 0);
            held.close();
        }
        handle.close();
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
