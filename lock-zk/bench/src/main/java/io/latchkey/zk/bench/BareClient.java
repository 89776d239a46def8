// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;

/**
 * A session of ZooKeeper's own client that sends the requests of a Latchkey mutex and nothing else: no deadlines, no
 * heartbeats, no recovery of lost connections and responses. The cost of these requests is the minimum for any
 * implementation of the protocol.
 */
final class BareClient implements MeasuredClient {
    private static final byte[] DATA = "a host\n12345\nlabel".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] MARK = {};

    private final ZooKeeper zooKeeper;

    BareClient(String servers, Duration session) throws Exception {
        zooKeeper = new ZooKeeper(servers, (int) session.toMillis(), event -> {});
    }

    @Override
    public LockHandle handle(MeasuredLock recipe, String path) throws Exception {
        RawClient.makeWithParents(zooKeeper, path);
        return () -> {
            Request request = new Request(path);
            request.acquire();
            return () -> request.release(recipe != MeasuredLock.ASYNC_RELEASE);
        };
    }

    private final class Request implements Watcher {
        private final String path;
        private final CountDownLatch granted = new CountDownLatch(1);
        private String own = "";
        private long marked = WatchedEvent.NO_ZXID;

        Request(String path) {
            this.path = path;
        }

        void acquire() throws InterruptedException {
            String id = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
            zooKeeper.create(
                    path + "/write-" + id + "-",
                    DATA,
                    RawClient.ACL,
                    CreateMode.EPHEMERAL_SEQUENTIAL,
                    (rc, asked, context, name, stat) -> own = name,
                    null);
            list();
            granted.await();
        }

        private void list() {
            zooKeeper.getChildren(
                    path, false, (rc, asked, context, children, stat) -> holdOrWatch(predecessor(children)), null);
        }

        private Optional<String> predecessor(List<String> children) {
            String mine = number(own);
            return children.stream()
                    .filter(child -> number(child).compareTo(mine) < 0)
                    .max(Comparator.comparing(Request::number));
        }

        private static String number(String node) {
            return node.substring(node.length() - 10);
        }

        private void holdOrWatch(Optional<String> predecessor) {
            if (predecessor.isEmpty()) {
                granted.countDown();
                return;
            }
            String ahead = path + '/' + predecessor.get();
            zooKeeper.getChildren(own, this, (rc, asked, context, children, stat) -> {}, null);
            zooKeeper.getData(ahead, this, (rc, asked, context, data, stat) -> listIfGone(rc), null);
            zooKeeper.getChildren(ahead, this, (rc, asked, context, children, stat) -> listIfGone(rc), null);
        }

        private void listIfGone(int rc) {
            if (rc == KeeperException.Code.NONODE.intValue()) {
                list();
            }
        }

        @Override
        public void process(WatchedEvent event) {
            if (event.getPath() == null || event.getPath().equals(own)) {
                return;
            }
            if (event.getType() == Event.EventType.NodeDataChanged) {
                marked = event.getZxid();
            } else if (event.getType() == Event.EventType.NodeDeleted && event.getZxid() == marked) {
                granted.countDown();
            } else {
                list();
            }
        }

        void release(boolean awaited) throws InterruptedException {
            CountDownLatch done = new CountDownLatch(1);
            zooKeeper.multi(
                    List.of(Op.setData(own, MARK, -1), Op.delete(own, -1)),
                    (rc, asked, context, results) -> done.countDown(),
                    null);
            if (awaited) {
                done.await();
            }
        }
    }

    @Override
    public void close() {
        try {
            zooKeeper.close();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
