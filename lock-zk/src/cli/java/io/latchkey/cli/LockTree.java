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
import io.latchkey.zk.internal.queue.PathData;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/** Finds the locks in ZooKeeper's tree, with their layout, kind and queue. */
final class LockTree implements AutoCloseable {
    private static final String OF_THE_SERVER = "/zookeeper";

    private final LockClient own;
    private final ZooKeeper handle;
    private final Duration patience;
    /** Clients in the session of the handle, created on demand. */
    private final Map<Layout, LockClient> others = new EnumMap<>(Layout.class);

    private LockTree(LockClient own, ZooKeeper handle, Duration patience) {
        this.own = own;
        this.handle = handle;
        this.patience = patience;
    }

    /** Creates the client first, because its errors explain a failed connection. */
    static LockTree open(Connection connection, String label) throws IOException {
        LockClient client = connection.client(label, Layout.LATCHKEY);
        try {
            return new LockTree(client, connection.handle(), connection.sessionTimeout());
        } catch (IOException failed) {
            client.close();
            throw failed;
        }
    }

    /** A lock, and its requests in order. */
    record Seen(FoundLock lock, List<Contender> queue) {}

    /**
     * The result of a search.
     *
     * @param unshown the paths that could not be shown, with the reason
     */
    record Found(List<Seen> locks, Map<String, RuntimeException> unshown) {
        private Found() {
            this(new ArrayList<>(), new LinkedHashMap<>());
        }

        /** Prints the missing paths on standard error and returns the exit status. */
        Status complain() {
            String unreadable = unshown.keySet().stream().filter(this::isDenied).collect(Collectors.joining(" "));
            if (!unreadable.isEmpty()) {
                Terminal.complain(
                        "not shown, since this client may not read it (give it the right, or --auth): " + unreadable);
            }
            unshown.forEach((path, reason) -> {
                if (!isDenied(path)) {
                    Terminal.complain("not shown: " + path + ": " + reason.getMessage());
                }
            });
            return Status.ofMissing(unshown.values());
        }

        private boolean isDenied(String path) {
            return unshown.get(path) instanceof AccessDeniedException;
        }
    }

    /** Returns the locks at the path: none, one, or several if incompatible requests are mixed there. */
    Found at(String path) throws InterruptedException {
        Found found = new Found();
        var unused = look(path, found);
        return found;
    }

    /** Returns the locks at and below the path, parents before children, siblings in alphabetical order. */
    Found below(String path) throws InterruptedException {
        Found found = new Found();
        Deque<String> left = new ArrayDeque<>(List.of(path));
        while (!left.isEmpty()) {
            String next = left.pop();
            List<String> below = isRequest(next, found) ? List.of() : look(next, found);
            for (int i = below.size() - 1; i >= 0; i--) {
                left.push(below.get(i));
            }
            if (found.unshown().get(next) instanceof LockUnavailableException && !serversAnswer()) {
                String rest = "no server answers any more. The paths after it are not shown either. Try again.";
                found.unshown().put(next, new LockUnavailableException(rest));
                left.clear();
            }
        }
        return found;
    }

    /** Whether the name is that of a request. A path may have such a name too, but requests have no children. */
    private boolean isRequest(String path, Found found) throws InterruptedException {
        if (!FoundLock.isNamedAsARequest(path.substring(path.lastIndexOf('/') + 1))) {
            return false;
        }
        try {
            // Needs no right to read.
            Optional<Stat> stat = ask(path, () -> handle.exists(path, false));
            return stat.isEmpty() || stat.get().getNumChildren() == 0;
        } catch (LockException cannot) {
            found.unshown().put(path, cannot);
            return true;
        }
    }

    /** Adds the locks at the path, and returns the children that may have locks. */
    private List<String> look(String path, Found found) throws InterruptedException {
        try {
            Optional<Node> node = read(path);
            List<FoundLock> locks = node.isPresent() ? locksAt(node.get(), found) : List.of();
            locks.forEach(lock -> addQueue(lock, found));
            return node.isPresent() ? below(node.get(), locks) : List.of();
        } catch (LockException cannot) {
            found.unshown().put(path, cannot);
            return List.of();
        }
    }

    /** Records a failure at one lock and continues with the others. */
    private void addQueue(FoundLock lock, Found found) {
        try {
            found.locks().add(new Seen(lock, queue(lock)));
        } catch (LockException | IllegalArgumentException cannot) {
            found.unshown().put(lock.path(), cannot);
        }
    }

    private List<Contender> queue(FoundLock lock) {
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
        // A node that was created without data has null.
        Optional<byte[]> data =
                ask(path, () -> Objects.requireNonNullElse(handle.getData(path, false, null), new byte[0]));
        Optional<List<String>> children = ask(path, () -> handle.getChildren(path, false));
        return data.isPresent() && children.isPresent()
                ? Optional.of(new Node(path, PathData.parse(data.get()), children.get()))
                : Optional.empty();
    }

    private List<FoundLock> locksAt(Node node, Found found) throws InterruptedException {
        List<FoundLock> locks = new ArrayList<>(FoundLock.at(node.path(), node.purpose(), node.children()));
        if (FoundLock.mayBeCuratorsSemaphore(node.children())) {
            FoundLock.curatorsSemaphore(
                            node.path(),
                            children(node.below(FoundLock.LEASES), found),
                            children(node.below(FoundLock.LOCKS), found))
                    .ifPresent(locks::add);
        }
        return locks;
    }

    /** Returns the children; none if this client may not read them. */
    private List<String> children(String path, Found found) throws InterruptedException {
        try {
            return ask(path, () -> handle.getChildren(path, false)).orElse(List.of());
        } catch (AccessDeniedException denied) {
            found.unshown().put(path, denied);
            return List.of();
        }
    }

    private static List<String> below(Node node, List<FoundLock> locks) {
        return node.children().stream()
                .filter(child -> !FoundLock.isPartOf(locks, child))
                .map(node::below)
                .filter(path -> !path.equals(OF_THE_SERVER))
                .sorted()
                .toList();
    }

    private interface Question<T> {
        @Nullable
        T ask() throws KeeperException, InterruptedException;
    }

    /** Returns the response; empty if there is no such node. A read is repeated once if it broke the connection. */
    private <T> Optional<T> ask(String path, Question<T> question) throws InterruptedException {
        try {
            return answer(path, question);
        } catch (KeeperException.ConnectionLossException broken) {
            if (!serversAnswer()) {
                throw new LockUnavailableException("The connection was lost while " + path + " was read. Try again.");
            }
        }
        try {
            return answer(path, question);
        } catch (KeeperException.ConnectionLossException again) {
            throw new LockException(
                    "The connection breaks whenever this node is read. If more nodes are below it than fit"
                            + " a packet of ZooKeeper, raise jute.maxbuffer.");
        }
    }

    private static <T> Optional<T> answer(String path, Question<T> question)
            throws InterruptedException, KeeperException.ConnectionLossException {
        try {
            return Optional.ofNullable(question.ask());
        } catch (KeeperException.NoNodeException gone) {
            return Optional.empty();
        } catch (KeeperException.NoAuthException denied) {
            throw new AccessDeniedException(path + " may not be read by this client. Give it the right, or --auth.");
        } catch (KeeperException.ConnectionLossException broken) {
            throw broken;
        } catch (KeeperException.SessionExpiredException over) {
            throw new LockUnavailableException("The session ended while " + path + " was read. Try again.");
        } catch (KeeperException refused) {
            throw new LockException("The server refuses to read " + path + ": " + refused.code(), refused);
        }
    }

    /**
     * Whether a server responds within a session timeout. While there is no connection, a read waits for the next one.
     */
    private boolean serversAnswer() throws InterruptedException {
        long start = System.nanoTime();
        do {
            try {
                var unused = handle.exists("/", false);
                return true;
            } catch (KeeperException.ConnectionLossException broken) {
                // Only this connection is lost; the client opens the next.
            } catch (KeeperException over) {
                return false;
            }
        } while (System.nanoTime() - start < patience.toNanos());
        return false;
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
