// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.admin;

import io.latchkey.lock.LockException;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.admin.LockListing;
import io.latchkey.lock.admin.LockSummary;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.Naming;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.session.RestartableTimer;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A search for the locks in ZooKeeper's tree, with their queues: of all layouts for people, or those with waiters for
 * the diagnosis of deadlocks. It has a limited number of requests on the wire, so that heartbeats do not wait behind
 * thousands. Paths that cannot be read, or that it does not reach, are named with the reason, and what it has read
 * remains valid.
 *
 * <p>The class is long because nodes, queues and semaphores of Curator are read within the same bounds: of requests on the
 * wire, of nodes and of time.
 */
public final class LockTree {
    private static final int MOST_NODES = 5_000;
    private static final int MOST_REQUESTS = 10_000;
    /** A longer list might not fit ZooKeeper's packet, and would break the connection. */
    private static final int MOST_CHILDREN = 10_000;

    private static final int ON_THE_WIRE = 100;

    private static final String OF_THE_SERVER = "/zookeeper";
    /** Each path before those below it, siblings in alphabetical order: no path contains the character zero. */
    private static final Comparator<String> PARENTS_FIRST = Comparator.comparing(path -> path.replace('/', '\0'));

    private final Engine engine;
    private final Consumer<String> check;

    /**
     * @param check throws a {@link LockException} for a path that cannot name a lock
     */
    public LockTree(Engine engine, Consumer<String> check) {
        this.engine = engine;
        this.check = check;
    }

    /** Returns the locks at and below the node. */
    public CompletableFuture<LockListing> below(String node) {
        return list(node, true);
    }

    /** Returns the locks at the node: none, one, or several if incompatible requests are mixed there. */
    public CompletableFuture<LockListing> at(String node) {
        return list(node, false);
    }

    private CompletableFuture<LockListing> list(String node, boolean deep) {
        return engine.queries()
                .askLater((session, then) -> new Search<LockListing>(session, Aim.LISTING, deep, then, Search::listing)
                        .begin(List.of(node), engine.context().sessionTimeout()));
    }

    /**
     * Queues in which requests of Latchkey's own layout wait.
     *
     * @param gap why some may be missing; empty if all were read
     */
    record ContendedQueues(Map<LockPath, QueueInspector.Picture> queues, Optional<String> gap) {}

    /** Returns the queues with waiters at and below these nodes that are read within the limit, in this order. */
    CompletableFuture<ContendedQueues> contendedBelow(Collection<String> nodes, Duration limit) {
        return contended(nodes, true, limit);
    }

    /** Returns the queues with waiters at these paths that are read within the limit. */
    CompletableFuture<ContendedQueues> contendedAt(Collection<LockPath> paths, Duration limit) {
        return contended(paths.stream().map(LockPath::node).toList(), false, limit);
    }

    private CompletableFuture<ContendedQueues> contended(Collection<String> nodes, boolean deep, Duration limit) {
        return engine.queries().askLater((session, then) -> new Search<ContendedQueues>(
                        session, Aim.DIAGNOSIS, deep, then, Search::contended)
                .begin(nodes, limit));
    }

    /** What a search is for. */
    private enum Aim {
        LISTING("list the locks", 1),
        DIAGNOSIS("look for deadlocks", 2);

        private final String what;
        /** A queue of fewer requests is not read. */
        private final int fewest;

        Aim(String what, int fewest) {
            this.what = what;
            this.fewest = fewest;
        }
    }

    private static String child(String node, String name) {
        return node.equals("/") ? node + name : node + '/' + name;
    }

    private String shown(String node) {
        String path = engine.context().displayNode(node);
        return path.isEmpty() ? "/" : path;
    }

    /**
     * A step of a search. It gets an action on the search, which is carried out on the serial executor, or an error.
     *
     * @param node the node that is missing from the result if the step fails
     * @param requests how many requests it has on the wire at a time, about
     * @param otherwise the action if it fails
     */
    private record Step(String node, int requests, Supplier<CompletableFuture<Runnable>> ask, Runnable otherwise) {
        Step(String node, int requests, Supplier<CompletableFuture<Runnable>> ask) {
            this(node, requests, ask, () -> {});
        }
    }

    /** A search, confined to the serial executor. */
    private final class Search<T> {
        private final Session session;
        private final Aim aim;
        private final boolean deep;
        private final CompletableFuture<T> then;
        private final Function<Search<T>, T> result;
        private final RestartableTimer silence = new RestartableTimer(engine.context(), this::unanswered);

        private final List<LockSummary> locks = new ArrayList<>();
        private final Map<LockPath, QueueInspector.Picture> pictures = new LinkedHashMap<>();
        private final Map<String, LockException> unreadable = new TreeMap<>(PARENTS_FIRST);

        private final Deque<Step> next = new ArrayDeque<>();
        private final Set<Step> asked = new LinkedHashSet<>();
        /** The steps that were lost with their connection, and are asked again. */
        private final Deque<Step> lost = new ArrayDeque<>();

        /** The first node for which the bound leaves no room. */
        private Optional<String> unreached = Optional.empty();

        private final Set<String> seen = new HashSet<>();
        private int onTheWire;
        private int requests;

        Search(Session session, Aim aim, boolean deep, CompletableFuture<T> then, Function<Search<T>, T> result) {
            this.session = session;
            this.aim = aim;
            this.deep = deep;
            this.then = then;
            this.result = result;
        }

        /** Begins at these nodes, and ends if no server answers for {@code patience}; a diagnosis ends then anyway. */
        void begin(Collection<String> starts, Duration patience) {
            silence.set(patience);
            starts.forEach(this::look);
            goOn();
        }

        LockListing listing() {
            locks.sort(Comparator.comparing(LockSummary::path, PARENTS_FIRST));
            return new LockListing(locks, unreadable);
        }

        ContendedQueues contended() {
            return new ContendedQueues(
                    pictures,
                    unreadable.entrySet().stream()
                            .findFirst()
                            .map(first ->
                                    first.getKey() + ": " + first.getValue().getMessage()));
        }

        /**
         * Sends the next steps. Steps that were lost are sent again one at a time: if the connection is lost again, it
         * is because of that one.
         */
        private void goOn() {
            while (!next.isEmpty() && lost.isEmpty() && onTheWire < ON_THE_WIRE) {
                send(next.remove(), false);
            }
            if (onTheWire == 0 && !lost.isEmpty()) {
                send(lost.remove(), true);
            }
            if (onTheWire == 0) {
                end();
            }
        }

        private void send(Step step, boolean again) {
            asked.add(step);
            onTheWire += step.requests();
            session.connection().whenConnected(() -> {
                var unused = step.ask().get().whenComplete((action, error) -> engine.context()
                        .execute(() -> answered(step, again, action, error)));
            });
        }

        private void answered(Step step, boolean again, @Nullable Runnable action, @Nullable Throwable error) {
            if (then.isDone()) {
                silence.cancel();
                return;
            }
            asked.remove(step);
            onTheWire -= step.requests();
            Throwable why = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
            if (aim == Aim.LISTING && !(why instanceof LockServiceUnavailableException)) {
                silence.set(engine.context().sessionTimeout());
            }
            if (action != null) {
                action.run();
            } else if (why instanceof LockServiceUnavailableException && !again) {
                lost.add(step);
            } else {
                omit(step.node(), reason(why));
                step.otherwise().run();
            }
            goOn();
        }

        private static LockException reason(@Nullable Throwable error) {
            if (error instanceof LockServiceUnavailableException) {
                return new LockException("The connection breaks whenever this node is read. If more nodes are below it"
                        + " than fit a packet of ZooKeeper, raise jute.maxbuffer.");
            }
            return error instanceof LockException refused ? refused : new LockException(String.valueOf(error), error);
        }

        private void omit(String node, LockException why) {
            unreadable.putIfAbsent(shown(node), why);
        }

        private void unanswered() {
            Stream.of(asked, lost, next)
                    .flatMap(steps -> steps.stream().map(Step::node))
                    .min(PARENTS_FIRST)
                    .ifPresent(first -> omit(
                            first,
                            new LockServiceUnavailableException(
                                    "No server has answered in time. Some of the paths after it are left out, too."
                                            + " Try again.")));
            end();
        }

        private void end() {
            silence.cancel();
            unreached.ifPresent(first -> omit(
                    first,
                    new LockException(
                            "More than " + MOST_NODES + " nodes are to be read. Some of the paths after it are"
                                    + " left out, too. Use a path or a base path with fewer nodes below it.")));
            then.complete(result.apply(this));
        }

        // ---- nodes

        private void look(String node) {
            if (seen.contains(node)) {
                return;
            }
            if (seen.size() < MOST_NODES) {
                seen.add(node);
                next.add(new Step(node, 1, () -> children(node)));
            } else if (unreached.isEmpty() || PARENTS_FIRST.compare(node, unreached.get()) < 0) {
                unreached = Optional.of(node);
            }
        }

        private CompletableFuture<Runnable> children(String node) {
            CompletableFuture<Runnable> answer = new CompletableFuture<>();
            String name = node.substring(node.lastIndexOf('/') + 1);
            session.connection()
                    .<ZnodeStore.NodeData>ask(
                            done -> session.connection().store().read(node, done), data -> {
                                // Requests may be readable for their clients only. Their own queue shows them.
                                boolean mayBeRequest = FoundLock.isNamedAsARequest(name)
                                        && (data.code() == Status.NO_AUTH
                                                || (data.ok() && data.get().children() == 0));
                                if (data.code() == Status.NO_NODE || mayBeRequest) {
                                    answer.complete(() -> {});
                                } else if (!data.ok()) {
                                    fail(node, data, answer);
                                } else if (data.get().children() == 0) {
                                    answer.complete(() -> found(node, data.get(), List.of()));
                                } else {
                                    list(node, data.get().children(), answer, names -> found(node, data.get(), names));
                                }
                            });
            return answer;
        }

        private void list(String node, int children, CompletableFuture<Runnable> answer, Consumer<List<String>> use) {
            if (deep && children > MOST_CHILDREN) {
                answer.completeExceptionally(new LockException(
                        "It has " + children + " children, and " + MOST_CHILDREN + " are the most that are read."));
                return;
            }
            session.lists().ask(node, children, () -> !then.isDone(), listing -> {
                if (listing.ok()) {
                    answer.complete(() -> use.accept(listing.get().children()));
                } else if (listing.code() == Status.NO_NODE) {
                    answer.complete(() -> use.accept(List.of()));
                } else {
                    fail(node, listing, answer);
                }
            });
        }

        private void fail(String node, Response<?> why, CompletableFuture<?> answer) {
            answer.completeExceptionally(Errors.of(shown(node), aim.what, why));
        }

        private void found(String node, ZnodeStore.NodeData data, List<String> children) {
            List<FoundLock> here = shown(node).equals("/")
                    ? List.of()
                    : FoundLock.at(new LockPath(node), PathData.parse(data.data()), children);
            here.forEach(lock -> add(lock, children));
            List<String> below = children.stream()
                    .filter(child -> here.stream().noneMatch(lock -> lock.hasRequest(child)))
                    .sorted()
                    .toList();
            if (aim == Aim.LISTING && FoundLock.mayBeCuratorsSemaphore(children)) {
                lookForSemaphore(node, below);
            } else {
                descend(node, below);
            }
        }

        private void descend(String node, List<String> children) {
            if (deep) {
                children.stream()
                        .map(child -> child(node, child))
                        .filter(child -> !child.equals(OF_THE_SERVER))
                        .forEach(this::look);
            }
        }

        // ---- the semaphore of Curator, whose requests are two levels below its path

        private void lookForSemaphore(String node, List<String> children) {
            namesBelow(
                    child(node, Naming.CURATOR_LEASES),
                    leases -> namesBelow(child(node, FoundLock.LOCKS), turns -> {
                        Optional<FoundLock> semaphore = FoundLock.curatorsSemaphore(new LockPath(node), leases, turns);
                        semaphore.ifPresent(lock -> add(
                                lock,
                                Stream.concat(leases.stream(), turns.stream()).toList()));
                        descend(
                                node,
                                children.stream()
                                        .filter(child -> semaphore.isEmpty()
                                                || !(child.equals(Naming.CURATOR_LEASES)
                                                        || child.equals(FoundLock.LOCKS)))
                                        .toList());
                    }));
        }

        /** Gets the names of the children; none if the node does not exist or cannot be read. */
        private void namesBelow(String node, Consumer<List<String>> use) {
            next.add(new Step(node, 1, () -> names(node, use), () -> use.accept(List.of())));
        }

        private CompletableFuture<Runnable> names(String node, Consumer<List<String>> use) {
            CompletableFuture<Runnable> answer = new CompletableFuture<>();
            session.connection()
                    .<ZnodeStore.NodeData>ask(
                            done -> session.connection().store().read(node, done), data -> {
                                if (data.ok()) {
                                    list(node, data.get().children(), answer, use);
                                } else if (data.code() == Status.NO_NODE) {
                                    answer.complete(() -> use.accept(List.of()));
                                } else {
                                    fail(node, data, answer);
                                }
                            });
            return answer;
        }

        // ---- queues

        private void add(FoundLock lock, List<String> children) {
            if (aim == Aim.DIAGNOSIS && lock.naming().isShared()) {
                return;
            }
            String path = engine.context().displayPath(lock.path());
            try {
                check.accept(path);
            } catch (LockException unnameable) {
                omit(lock.path().node(), unnameable);
                return;
            }
            int length =
                    (int) children.stream().filter(FoundLock::isNamedAsARequest).count();
            if (length < aim.fewest) {
                if (aim == Aim.LISTING) {
                    locks.add(lock.summary(path, List.of()));
                }
            } else if (deep && requests + length > MOST_REQUESTS) {
                omit(
                        lock.path().node(),
                        new LockException("It has " + length + " requests, and of all locks together no more than "
                                + MOST_REQUESTS + " are read. Look at it alone, with its queue()."));
            } else {
                requests += length;
                next.add(new Step(lock.path().node(), length, () -> queue(lock, path)));
            }
        }

        private CompletableFuture<Runnable> queue(FoundLock lock, String path) {
            if (lock.isCuratorsSemaphore()) {
                QueueInspector permits = inspector(lock, lock.path().below(Naming.CURATOR_LEASES), lock.purpose());
                QueueInspector turns = inspector(lock, lock.path().below(FoundLock.LOCKS), PathData.MUTEX);
                return permits.ask()
                        .thenCombine(
                                turns.ask(),
                                (one, two) -> () -> locks.add(lock.summary(
                                        path, QueueInspector.gated(permits.contenders(one), turns.contenders(two)))));
            }
            QueueInspector queue = inspector(lock, lock.path(), lock.purpose());
            return queue.ask().thenApply(picture -> () -> {
                switch (aim) {
                    case LISTING -> locks.add(lock.summary(path, queue.contenders(picture)));
                    case DIAGNOSIS -> picture.ifPresent(now -> pictures.put(lock.path(), now));
                }
                // A level of a path may be named as a request is, but requests have no children.
                picture.stream()
                        .flatMap(seen -> seen.nodes().entrySet().stream())
                        .filter(node -> node.getValue().children() > 0)
                        .map(node -> node.getKey().text())
                        .sorted()
                        .forEach(child -> descend(lock.path().node(), List.of(child)));
            });
        }

        private QueueInspector inspector(FoundLock lock, LockPath at, PathData purpose) {
            return new QueueInspector(engine, at, purpose, lock.naming());
        }
    }
}
