// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.admin;

import io.latchkey.lock.LockException;
import io.latchkey.lock.admin.LockListing;
import io.latchkey.lock.admin.LockSummary;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.Naming;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A search for locks. Confined to the serial executor.
 *
 * <p>Nodes, queues and semaphores of Curator are read within the same bounds: of requests on the wire, of nodes and of
 * time. What cannot be read, or is not reached, is named with the reason, and what has been read remains valid.
 *
 * @param <T> what it returns
 */
final class LockSearch<T> implements SearchSteps.Search {
    private static final int MOST_NODES = 5_000;
    private static final int MOST_REQUESTS = 10_000;
    /** A longer list might not fit ZooKeeper's packet, and would break the connection. */
    private static final int MOST_CHILDREN = 10_000;

    private static final String ALONE =
            "To see its own queue, look at it alone: listLocksAt(...), or 'latchkey show' on the command line.";

    private static final String OF_THE_SERVER = "/zookeeper";

    private final Engine engine;
    private final String basePath;
    private final Consumer<String> check;
    private final Session session;
    private final Aim aim;
    private final boolean deep;
    private final CompletableFuture<T> then;
    private final Function<LockSearch<T>, T> result;
    private final SearchSteps steps;

    private final List<LockSummary> locks = new ArrayList<>();
    private final Map<LockPath, QueueInspector.Picture> pictures = new LinkedHashMap<>();
    private final Map<String, LockException> unreadable = new TreeMap<>(SearchSteps.PARENTS_FIRST);

    /** The first node for which the bound leaves no room. */
    private Optional<String> unreached = Optional.empty();

    private final Set<String> seen = new HashSet<>();
    private int requests;

    /**
     * @param basePath the base path of the client; empty if it has none
     * @param check throws a {@link LockException} for a path that cannot name a lock
     * @param deep whether it looks below the nodes where it begins
     * @param result what the search is answered with, at its end
     */
    LockSearch(
            Engine engine,
            String basePath,
            Consumer<String> check,
            Session session,
            Aim aim,
            boolean deep,
            CompletableFuture<T> then,
            Function<LockSearch<T>, T> result) {
        this.engine = engine;
        this.basePath = basePath;
        this.check = check;
        this.steps = new SearchSteps(engine.context(), session.connection(), aim == Aim.LISTING, this);
        this.session = session;
        this.aim = aim;
        this.deep = deep;
        this.then = then;
        this.result = result;
    }

    /** Begins at these nodes, and ends if no server answers for {@code patience}; a diagnosis ends then anyway. */
    void begin(Collection<String> starts, Duration patience) {
        starts.forEach(this::look);
        steps.begin(patience);
    }

    LockListing listing() {
        locks.sort(Comparator.comparing(LockSummary::path, SearchSteps.PARENTS_FIRST));
        return new LockListing(locks, unreadable);
    }

    ContendedQueues contended() {
        return new ContendedQueues(
                pictures,
                unreadable.entrySet().stream()
                        .findFirst()
                        .map(first -> first.getKey() + ": " + first.getValue().getMessage()));
    }

    @Override
    public void omit(String node, LockException why) {
        unreadable.putIfAbsent(shown(node), why);
    }

    @Override
    public void end() {
        unreached.ifPresent(first -> omit(
                first,
                new LockException("More than " + MOST_NODES + " nodes are to be read. Some of the paths after it are"
                        + " left out, too. Use a path or a base path with fewer nodes below it.")));
        then.complete(result.apply(this));
    }

    @Override
    public boolean isOver() {
        return then.isDone();
    }

    // ---- nodes

    private void look(String node) {
        if (seen.contains(node)) {
            return;
        }
        if (seen.size() < MOST_NODES) {
            seen.add(node);
            steps.add(new SearchSteps.Step(node, () -> children(node)));
        } else if (unreached.isEmpty() || SearchSteps.PARENTS_FIRST.compare(node, unreached.get()) < 0) {
            unreached = Optional.of(node);
        }
    }

    private CompletableFuture<Runnable> children(String node) {
        CompletableFuture<Runnable> answer = new CompletableFuture<>();
        String name = LockPath.nameOf(node);
        session.connection().read(() -> !then.isDone(), node, data -> {
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
                    "It has " + children + " children, and no more than " + MOST_CHILDREN + " are read with all below"
                            + " them. " + ALONE + " For locks below it, give a path with fewer children."));
            return;
        }
        session.lists().askCounted(node, children, () -> !then.isDone(), listing -> {
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
        answer.completeExceptionally(Errors.of(shown(node), Errors.Purpose.toSee(aim.what), why));
    }

    private void found(String node, ZnodeStore.NodeData data, List<String> children) {
        List<FoundLock> here = shown(node).equals("/")
                ? List.of()
                : FoundLock.at(new LockPath(node, shown(node)), PathData.parse(data.data()), children);
        here.forEach(lock -> add(lock, children));
        if (aim == Aim.LISTING && PathData.isOfAnotherVersion(data.data())) {
            omit(node, Errors.unknownData(shown(node), data.data()));
        }
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
                    Optional<FoundLock> semaphore =
                            FoundLock.curatorsSemaphore(new LockPath(node, shown(node)), leases, turns);
                    if (semaphore.isEmpty()) {
                        descend(node, children);
                        return;
                    }
                    add(
                            semaphore.get(),
                            Stream.concat(leases.stream(), turns.stream()).toList());
                    descend(
                            node,
                            children.stream()
                                    .filter(child ->
                                            !child.equals(Naming.CURATOR_LEASES) && !child.equals(FoundLock.LOCKS))
                                    .toList());
                    descendBesideRequests(child(node, Naming.CURATOR_LEASES), leases);
                    descendBesideRequests(child(node, FoundLock.LOCKS), turns);
                }));
    }

    private void descendBesideRequests(String node, List<String> children) {
        descend(
                node,
                children.stream()
                        .filter(child -> !FoundLock.isNamedAsARequest(child))
                        .toList());
    }

    /** Gets the names of the children; none if the node does not exist or cannot be read. */
    private void namesBelow(String node, Consumer<List<String>> use) {
        steps.add(new SearchSteps.Step(node, () -> names(node, use), () -> use.accept(List.of())));
    }

    private CompletableFuture<Runnable> names(String node, Consumer<List<String>> use) {
        CompletableFuture<Runnable> answer = new CompletableFuture<>();
        session.connection().read(() -> !then.isDone(), node, data -> {
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
        try {
            check.accept(lock.path().shown());
        } catch (LockException unnameable) {
            omit(lock.path().node(), unnameable);
            return;
        }
        int length =
                (int) children.stream().filter(FoundLock::isNamedAsARequest).count();
        if (length < aim.fewest) {
            if (aim == Aim.LISTING) {
                locks.add(lock.summary(List.of()));
            }
        } else if (deep && requests + length > MOST_REQUESTS) {
            omit(
                    lock.path().node(),
                    new LockException("It has " + length + " requests, and of all locks together no more than "
                            + MOST_REQUESTS + " are read. " + ALONE));
        } else {
            requests += length;
            steps.add(new SearchSteps.Step(lock.path().node(), () -> queue(lock)));
        }
    }

    private CompletableFuture<Runnable> queue(FoundLock lock) {
        if (lock.isCuratorsSemaphore()) {
            QueueInspector permits = inspector(lock, lock.path().below(Naming.CURATOR_LEASES), lock.purpose());
            QueueInspector turns = inspector(lock, lock.path().below(FoundLock.LOCKS), PathData.MUTEX);
            return ask(permits)
                    .thenCombine(
                            ask(turns),
                            (one, two) -> () -> locks.add(lock.summary(
                                    QueueInspector.gated(permits.contenders(one), turns.contenders(two)))));
        }
        QueueInspector queue = inspector(lock, lock.path(), lock.purpose());
        return ask(queue).thenApply(picture -> () -> {
            switch (aim) {
                case LISTING -> locks.add(lock.summary(queue.contenders(picture)));
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

    /** Reads the queue; a server that throttles is not asked again when the search is over. */
    private CompletableFuture<Optional<QueueInspector.Picture>> ask(QueueInspector queue) {
        CompletableFuture<Optional<QueueInspector.Picture>> asked = queue.ask();
        var unused = then.whenComplete((done, error) -> asked.cancel(false));
        return asked;
    }

    private QueueInspector inspector(FoundLock lock, LockPath at, PathData purpose) {
        return new QueueInspector(engine, at, purpose, lock.naming(), Optional.of(steps));
    }

    /**
     * Queues in which requests of Latchkey's own layout wait.
     *
     * @param gap why some may be missing; empty if all were read
     */
    record ContendedQueues(Map<LockPath, QueueInspector.Picture> queues, Optional<String> gap) {}

    /** What a search is for. */
    enum Aim {
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

    /** Returns a node, which may be no lock's, as the user names it: no search begins above the base path. */
    private String shown(String node) {
        return node.length() == basePath.length() ? "/" : node.substring(basePath.length());
    }
}
