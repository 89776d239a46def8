// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.admin;

import io.latchkey.lock.LockException;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.admin.Contender;
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
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A search for the locks of all layouts in ZooKeeper's tree, with their queues, for people. It has the bounds of {@link
 * QueueScan}. Paths that cannot be read, or that it does not reach, are named with the reason.
 */
public final class LockTree {
    private static final String OF_THE_SERVER = "/zookeeper";
    private static final String WHAT = "list the locks";
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
        return search(node, true);
    }

    /** Returns the locks at the node: none, one, or several if incompatible requests are mixed there. */
    public CompletableFuture<LockListing> at(String node) {
        return search(node, false);
    }

    private CompletableFuture<LockListing> search(String node, boolean deep) {
        return engine.queries().askLater((session, then) -> new Search(session, deep, then).begin(node));
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
    private final class Search {
        private final Session session;
        private final boolean deep;
        private final CompletableFuture<LockListing> then;
        private final RestartableTimer silence = new RestartableTimer(engine.context(), this::unanswered);

        private final List<LockSummary> locks = new ArrayList<>();
        private final Map<String, LockException> unreadable = new TreeMap<>(PARENTS_FIRST);

        private final Deque<Step> next = new ArrayDeque<>();
        private final Set<Step> asked = new LinkedHashSet<>();
        /** The steps that were lost with their connection, and are asked again. */
        private final Deque<Step> lost = new ArrayDeque<>();

        /** The first node for which the bound leaves no room. */
        private Optional<String> unreached = Optional.empty();

        private int onTheWire;
        private int nodes;
        private int requests;

        Search(Session session, boolean deep, CompletableFuture<LockListing> then) {
            this.session = session;
            this.deep = deep;
            this.then = then;
        }

        void begin(String node) {
            silence.set(engine.context().sessionTimeout());
            look(node);
            goOn();
        }

        /**
         * Sends the next steps. Steps that were lost are sent again one at a time: if the connection is lost again, it
         * is because of that one.
         */
        private void goOn() {
            while (!next.isEmpty() && lost.isEmpty() && onTheWire < QueueScan.ON_THE_WIRE) {
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
            if (!(why instanceof LockServiceUnavailableException)) {
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
                                    "No server answers any more. Some of the paths after it are not"
                                            + " listed either. Try again.")));
            end();
        }

        private void end() {
            silence.cancel();
            unreached.ifPresent(first -> omit(
                    first,
                    new LockException("More than " + QueueScan.MOST_NODES + " nodes are to be read. Some of the paths"
                            + " after it are not listed either. List the locks below single paths.")));
            locks.sort(Comparator.comparing(LockSummary::path, PARENTS_FIRST));
            then.complete(new LockListing(locks, unreadable));
        }

        // ---- nodes

        private void look(String node) {
            if (nodes < QueueScan.MOST_NODES) {
                nodes++;
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
                            done -> session.connection().port().read(node, done), data -> {
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
            if (deep && children > QueueScan.MOST_CHILDREN) {
                answer.completeExceptionally(new LockException("It has " + children + " children, and "
                        + QueueScan.MOST_CHILDREN + " are the most that are read."));
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
            answer.completeExceptionally(Errors.of(shown(node), WHAT, why));
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
            if (FoundLock.mayBeCuratorsSemaphore(children)) {
                lookForSemaphore(node, below);
            } else {
                descend(node, below);
            }
        }

        private void descend(String node, List<String> children) {
            if (deep) {
                children.stream()
                        .map(child -> QueueScan.child(node, child))
                        .filter(child -> !child.equals(OF_THE_SERVER))
                        .forEach(this::look);
            }
        }

        // ---- the semaphore of Curator, whose requests are two levels below its path

        private void lookForSemaphore(String node, List<String> children) {
            namesBelow(
                    QueueScan.child(node, Naming.CURATOR_LEASES),
                    leases -> namesBelow(QueueScan.child(node, FoundLock.LOCKS), turns -> {
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
                            done -> session.connection().port().read(node, done), data -> {
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
            String path = engine.context().displayPath(lock.path());
            try {
                check.accept(path);
            } catch (LockException unnameable) {
                omit(lock.path().node(), unnameable);
                return;
            }
            int length =
                    (int) children.stream().filter(FoundLock::isNamedAsARequest).count();
            if (length == 0) {
                locks.add(lock.summary(path, List.of()));
            } else if (deep && requests + length > QueueScan.MOST_REQUESTS) {
                omit(
                        lock.path().node(),
                        new LockException("It has " + length + " requests, and of all locks together no more than "
                                + QueueScan.MOST_REQUESTS + " are read. List it alone, or use its queue()."));
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
                List<Contender> contenders = queue.contenders(picture);
                locks.add(lock.summary(path, contenders));
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
