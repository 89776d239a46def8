// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Contender;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockUnavailableException;
import io.latchkey.zk.Layout;
import io.latchkey.zk.ZkLockClient;
import io.latchkey.zk.queue.PathData;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;

/** What stands at the nodes of ZooKeeper's tree: which of them are locks, whose, of what kind, and who queues there. */
final class LockTree implements AutoCloseable {
    private static final String OF_THE_SERVER = "/zookeeper";

    private final LockClient own;
    private final ZooKeeper handle;
    /** In the session of the handle, made when they are needed. */
    private final Map<Layout, LockClient> others = new EnumMap<>(Layout.class);

    private LockTree(LockClient own, ZooKeeper handle) {
        this.own = own;
        this.handle = handle;
    }

    /** The client comes first: it says what is wrong with the connection. */
    static LockTree open(Connection connection, String label) throws IOException {
        LockClient client = connection.client(label, Layout.LATCHKEY);
        try {
            return new LockTree(client, connection.handle());
        } catch (IOException failed) {
            client.close();
            throw failed;
        }
    }

    /** What was found, and what could not be looked at. */
    record Found(List<FoundLock> locks, List<String> unreadable) {}

    /**
     * The locks at the path: none, one, or several if what does not go together is mixed there.
     *
     * @throws io.latchkey.lock.BadPathException if no lock can stand there
     */
    List<FoundLock> at(String path) throws InterruptedException {
        var unused = own.mutex(path);
        Optional<Node> node = read(path);
        return node.isPresent() ? locksAt(node.get()) : List.of();
    }

    /** The locks at the path and below it, in alphabetical order. */
    Found below(String path) throws InterruptedException {
        Found found = new Found(new ArrayList<>(), new ArrayList<>());
        collect(path, found);
        return found;
    }

    /** Who holds and who waits, in order. */
    List<Contender> queue(FoundLock lock) {
        LockClient client =
                lock.layout() == Layout.LATCHKEY ? own : others.computeIfAbsent(lock.layout(), this::borrowing);
        Acquirable any =
                switch (lock.purpose().kind()) {
                    case MUTEX -> client.mutex(lock.path());
                    case READ_WRITE -> client.readWriteLock(lock.path()).readLock();
                    case SEMAPHORE ->
                        client.semaphore(lock.path(), lock.purpose().declared());
                };
        return any.queue();
    }

    private LockClient borrowing(Layout layout) {
        return ZkLockClient.builder().using(handle).layout(layout).build();
    }

    private record Node(String path, Optional<PathData> purpose, List<String> children) {
        String below(String child) {
            return path.equals("/") ? '/' + child : path + '/' + child;
        }
    }

    private Optional<Node> read(String path) throws InterruptedException {
        // Who makes a node without data may leave it null.
        Optional<byte[]> data =
                ask(path, () -> Objects.requireNonNullElse(handle.getData(path, false, null), new byte[0]));
        Optional<List<String>> children = ask(path, () -> handle.getChildren(path, false));
        return data.isPresent() && children.isPresent()
                ? Optional.of(new Node(path, PathData.parse(data.get()), children.get()))
                : Optional.empty();
    }

    private List<FoundLock> locksAt(Node node) throws InterruptedException {
        List<FoundLock> locks = FoundLock.at(node.path(), node.purpose(), node.children());
        if (FoundLock.mayBeCuratorsSemaphore(node.children())) {
            FoundLock.curatorsSemaphore(node.path(), children(node, FoundLock.LEASES), children(node, FoundLock.LOCKS))
                    .ifPresent(locks::add);
        }
        return locks;
    }

    private List<String> children(Node node, String child) throws InterruptedException {
        String path = node.below(child);
        return ask(path, () -> handle.getChildren(path, false)).orElse(List.of());
    }

    private void collect(String path, Found found) throws InterruptedException {
        try {
            Optional<Node> node = read(path);
            if (node.isPresent()) {
                List<FoundLock> locks = locksAt(node.get());
                found.locks().addAll(locks);
                for (String child : node.get().children().stream().sorted().toList()) {
                    String below = node.get().below(child);
                    if (!below.equals(OF_THE_SERVER) && !FoundLock.isPartOf(locks, child)) {
                        collect(below, found);
                    }
                }
            }
        } catch (AccessDeniedException denied) {
            found.unreadable().add(path);
        }
    }

    private interface Question<T> {
        T ask() throws KeeperException, InterruptedException;
    }

    /** The answer; empty if there is no such node. */
    private static <T> Optional<T> ask(String path, Question<T> question) throws InterruptedException {
        try {
            return Optional.of(question.ask());
        } catch (KeeperException.NoNodeException gone) {
            return Optional.empty();
        } catch (KeeperException.NoAuthException denied) {
            throw new AccessDeniedException(path + " may not be read by this client. Give it the right, or --auth.");
        } catch (KeeperException.ConnectionLossException | KeeperException.SessionExpiredException away) {
            throw new LockUnavailableException("The connection was lost while " + path + " was read. Try again.");
        } catch (KeeperException refused) {
            throw new LockException("The server refuses to tell of " + path + ": " + refused.code(), refused);
        }
    }

    @Override
    public void close() {
        others.values().forEach(LockClient::close);
        own.close();
        try {
            handle.close();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
