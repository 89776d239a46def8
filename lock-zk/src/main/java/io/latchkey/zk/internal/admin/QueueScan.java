// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.admin;

import io.latchkey.lock.LockException;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.queue.Queue;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.threads.Waiting;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;

/**
 * A scan of all contended queues below some nodes, for the diagnosis of deadlocks. It has a limited number of
 * requests on the wire, so that heartbeats do not wait behind thousands. If something cannot be read, the scan reports
 * a gap, and what it has read remains valid.
 */
final class QueueScan {
    static final int MOST_NODES = 5_000;
    static final int MOST_REQUESTS = 10_000;
    /** A longer list might not fit ZooKeeper's packet, and would break the connection. */
    static final int MOST_CHILDREN = 10_000;

    static final int ON_THE_WIRE = 100;

    private final Engine engine;
    private final long end;
    private final Map<LockPath, QueueInspector.Picture> pictures = new LinkedHashMap<>();
    private Optional<String> gap = Optional.empty();
    private int requests;

    QueueScan(Engine engine, Duration limit) {
        this.engine = engine;
        this.end = System.nanoTime() + limit.toNanos();
    }

    /** Returns the reason why the scan is incomplete; empty if it is complete. */
    Optional<String> gap() {
        return gap;
    }

    /** Reports a gap without scanning. */
    void leaveOut(String why) {
        gap = Optional.of(why);
    }

    /** Returns the queues with waiters, by their paths. */
    Map<LockPath, QueueInspector.Picture> pictures() {
        return pictures;
    }

    /** A node with the number of its children, and their names if there are not too many. */
    private record Looked(String node, int children, List<String> names) {}

    /** Scans the queues at {@code paths}, and all nodes below {@code roots}. */
    void look(Collection<LockPath> paths, Collection<String> roots) {
        Deque<String> next = new ArrayDeque<>();
        Set<String> seen = new HashSet<>();
        paths.stream().map(LockPath::node).filter(seen::add).forEach(next::add);
        roots.stream().filter(seen::add).forEach(next::add);
        int nodes = 0;
        while (!next.isEmpty() && gap.isEmpty()) {
            List<String> some = new ArrayList<>();
            while (!next.isEmpty() && some.size() < ON_THE_WIRE) {
                some.add(next.remove());
            }
            nodes += some.size();
            if (nodes > MOST_NODES) {
                gap = Optional.of("there are more than " + MOST_NODES + " nodes to read");
                return;
            }
            Set<LockPath> contended = new LinkedHashSet<>();
            for (Looked looked : all(some, this::children)) {
                List<NodeName> queue = Queue.of(looked.names()).requests();
                if (queue.size() > 1) {
                    contended.add(new LockPath(looked.node()));
                    requests += queue.size();
                }
                if (looked.children() > looked.names().size()) {
                    gap = Optional.of(
                            engine.context().displayNode(looked.node()) + " has " + looked.children() + " children");
                }
                looked.names().stream()
                        .filter(name -> NodeName.parse(name).isEmpty() && !NodeName.isRevocationNode(name))
                        .map(name -> child(looked.node(), name))
                        .filter(seen::add)
                        .forEach(next::add);
            }
            if (requests > MOST_REQUESTS) {
                gap = Optional.of("more than " + MOST_REQUESTS + " requests wait");
                return;
            }
            read(contended);
        }
    }

    /** Reads these queues, again if they were read before. They may have been deleted since. */
    void read(Collection<LockPath> paths) {
        pictures.keySet().removeAll(paths);
        for (LockPath path : paths) {
            all(List.of(path), at -> new QueueInspector(engine, at, PathData.MUTEX).ask())
                    .forEach(picture -> picture.ifPresent(seen -> pictures.put(path, seen)));
        }
    }

    static String child(String node, String name) {
        return node.equals("/") ? node + name : node + '/' + name;
    }

    private CompletableFuture<Looked> children(String node) {
        return engine.queries().inSession((session, then) -> session.connection()
                .<ZnodeStore.NodeData>ask(done -> session.connection().port().read(node, done), data -> {
                    if (!data.ok()) {
                        missing(node, data, then);
                    } else if (data.get().children() > MOST_CHILDREN) {
                        then.complete(new Looked(node, data.get().children(), List.of()));
                    } else {
                        session.lists().ask(node, data.get().children(), () -> !then.isDone(), listing -> {
                            if (listing.ok()) {
                                List<String> names = listing.get().children();
                                then.complete(new Looked(node, names.size(), names));
                            } else {
                                missing(node, listing, then);
                            }
                        });
                    }
                }));
    }

    private void missing(String node, Response<?> why, CompletableFuture<Looked> then) {
        if (why.code() == Status.NO_NODE) {
            then.complete(new Looked(node, 0, List.of()));
        } else {
            then.completeExceptionally(Errors.of(engine.context().displayNode(node), "look for deadlocks", why));
        }
    }

    /** Returns the responses. A missing one is reported as the gap. */
    private <N, T> List<T> all(List<N> nodes, Function<N, CompletableFuture<T>> ask) {
        List<CompletableFuture<T>> asked = nodes.stream().map(ask).toList();
        List<T> answers = new ArrayList<>();
        for (CompletableFuture<T> each : asked) {
            try {
                if (!Waiting.await(each, Duration.ofNanos(end - System.nanoTime()))) {
                    gap = Optional.of("the servers do not answer in time");
                    return answers;
                }
                answers.add(Waiting.valueOf(each));
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                gap = Optional.of("interrupted");
                return answers;
            } catch (ExecutionException failed) {
                if (!(failed.getCause() instanceof LockException)) {
                    throw new IllegalStateException(failed.getCause());
                }
                gap = Optional.of(String.valueOf(failed.getCause().getMessage()));
            }
        }
        return answers;
    }
}
