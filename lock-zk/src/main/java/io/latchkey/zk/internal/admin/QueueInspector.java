// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.admin;

import io.latchkey.lock.LockException;
import io.latchkey.lock.admin.Contender;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.queue.Decision;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.Naming;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.OwnerData;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.queue.Queue;
import io.latchkey.zk.internal.queue.Tag;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/**
 * A reader of the holders and waiters at one path, for people. It reads the path and its list in one flight, and
 * then the nodes, a limited number at a time.
 */
public final class QueueInspector {
    private static final Errors.Purpose READ = Errors.Purpose.toSee("read the queue");
    /** A request whose node may not be read. */
    private static final ZnodeStore.NodeData UNREADABLE = new ZnodeStore.NodeData(new byte[0], 0, 0, 0, 0, 0, 0);

    private final Engine engine;
    private final LockPath path;
    private final PathData asked;
    private final Naming naming;
    private final Optional<SearchSteps> search;

    /**
     * @param asked the expected use of the path
     */
    public QueueInspector(Engine engine, LockPath path, PathData asked) {
        this(engine, path, asked, engine.context().naming(), Optional.empty());
    }

    /**
     * @param naming the naming of requests at the path, which may be another than the client's
     * @param search the search that the read is part of; it hears of each answer for one of the requests
     */
    QueueInspector(Engine engine, LockPath path, PathData asked, Naming naming, Optional<SearchSteps> search) {
        this.engine = engine;
        this.path = path;
        this.asked = asked;
        this.naming = naming;
        this.search = search;
    }

    /** The path's data, its queue, the nodes in it that still existed, and the ids of the client's own requests. */
    record Picture(ZnodeStore.NodeData data, Queue queue, Map<NodeName, ZnodeStore.NodeData> nodes, Set<String> own) {
        List<Contender> contenders(Engine engine, LockPath at, Naming naming) {
            Set<NodeName> holders = holders();
            List<Contender> contenders = new ArrayList<>(nodes.size());
            for (NodeName name : queue.requests()) {
                ZnodeStore.NodeData node = nodes.get(name);
                if (node != null) {
                    contenders.add(contender(
                            new ZkContender.SeenRequest(engine, at, naming, name),
                            node,
                            holders.contains(name),
                            own.contains(name.id())));
                }
            }
            return List.copyOf(contenders);
        }

        /** Returns the requests that hold, among the nodes that still existed. */
        Set<NodeName> holders() {
            Set<NodeName> holders = new HashSet<>();
            long permitsSoFar = 0;
            for (NodeName name : queue.requests()) {
                permitsSoFar += name.permits();
                ZnodeStore.NodeData node = nodes.get(name);
                if (node != null && holds(name, node, permitsSoFar)) {
                    holders.add(name);
                }
            }
            return holders;
        }

        private boolean holds(NodeName name, ZnodeStore.NodeData node, long permitsSoFar) {
            return Recipe.ruleFor(name.tag()).decide(queue, name) instanceof Decision.Hold
                    || heldBeforeItShrank(name, node, permitsSoFar);
        }

        private static Contender contender(
                ZkContender.SeenRequest at, ZnodeStore.NodeData node, boolean holds, boolean own) {
            NodeName name = at.name();
            OwnerData owner = at.naming().owner(name, node.data());
            return new ZkContender(
                    holds ? Contender.State.HOLDING : Contender.State.WAITING,
                    ClientContext.shown(owner),
                    node.session(),
                    Instant.ofEpochMilli(node.ctimeMillis()),
                    token(name, node, owner),
                    name.permits(),
                    own,
                    at);
        }

        /**
         * Returns the token of a request. A node's data may claim another than the node's czxid only if it may be that
         * of a downgraded lease: a reader, created after its writer. Otherwise any request could claim the token of
         * another one, and be taken for it.
         */
        static long token(NodeName name, ZnodeStore.NodeData node, OwnerData owner) {
            long claimed = owner.token().orElse(0);
            return name.tag() == Tag.READ && 0 < claimed && claimed < node.czxid() ? claimed : node.czxid();
        }

        /**
         * Returns whether the request seems to hold by a larger capacity than the current one: a shrink takes nothing
         * from holders. After a shrink and a growth it may be a waiter, as the servers do not know when each was
         * granted.
         */
        private boolean heldBeforeItShrank(NodeName name, ZnodeStore.NodeData node, long permitsSoFar) {
            return name.tag() == Tag.LEASE
                    && 0 < node.czxid() // it is known
                    && node.czxid() < data.mzxid()
                    && permitsSoFar <= queue.purpose().largest();
        }
    }

    /**
     * Returns the queue as the server knew it a moment ago, without requests that were deleted during the read.
     *
     * @throws LockException if the servers do not answer or refuse
     */
    public List<Contender> read() throws InterruptedException {
        return contenders(engine.queries().ask(path, READ, this::look));
    }

    /** Returns the same, for an asynchronous caller. To cancel it ends the read. */
    public CompletableFuture<List<Contender>> readLater() {
        CompletableFuture<Optional<Picture>> asked = engine.queries().askLater(path, READ, this::look);
        CompletableFuture<List<Contender>> read = asked.thenApply(this::contenders);
        var unused = read.whenComplete((queue, error) -> asked.cancel(false));
        return read;
    }

    List<Contender> contenders(Optional<Picture> picture) {
        return picture.map(seen -> seen.contenders(engine, path, naming)).orElse(List.of());
    }

    /**
     * Returns the queue of a semaphore of Curator: the requests that have a permit or are next to have one, and then
     * those that wait for that turn.
     */
    static List<Contender> gated(List<Contender> permits, List<Contender> turns) {
        return Stream.concat(
                        permits.stream(),
                        turns.stream().filter(contender -> contender.state() == Contender.State.WAITING))
                .toList();
    }

    /** Reads the same asynchronously; the future never completes if no server answers. */
    CompletableFuture<Optional<Picture>> ask() {
        return engine.queries().inSession(this::look);
    }

    /**
     * Reads the path and its list in one flight, and then the nodes. Data that says how many may hold must be of the
     * time of the list: both are read again if the data was written in between.
     */
    private void look(Session session, CompletableFuture<Optional<Picture>> then) {
        if (then.isDone()) {
            return; // its caller has gone
        }
        session.connection().read(() -> !then.isDone(), path.node(), data -> {
            if (data.code() == Status.NO_NODE) {
                then.complete(Optional.empty());
            } else if (data.ok()) {
                session.lists()
                        .askCounted(
                                path.node(),
                                data.get().children(),
                                () -> !then.isDone(),
                                listing -> listed(session, data.get(), listing, then));
            } else {
                then.completeExceptionally(Errors.of(path.shown(), READ, data));
            }
        });
    }

    private void listed(
            Session session,
            ZnodeStore.NodeData data,
            Response<ZnodeStore.Listing> listing,
            CompletableFuture<Optional<Picture>> then) {
        if (listing.code() == Status.NO_NODE) {
            then.complete(Optional.empty());
        } else if (!listing.ok()) {
            then.completeExceptionally(Errors.of(path.shown(), READ, listing));
        } else if (!naming.isShared() && listing.get().mzxid() != data.mzxid()) {
            look(session, then);
        } else {
            PathData purpose =
                    naming.isShared() ? asked : PathData.parse(data.data()).orElse(PathData.MUTEX);
            Queue queue = Queue.of(listing.get().children(), purpose, naming);
            if (naming == engine.context().naming()) {
                queue.otherUse().ifPresent(use -> engine.context().usedOtherwise(path, use));
            }
            Set<String> own = queue.requests().isEmpty() ? Set.of() : engine.ownIds();
            readNodes(session, new Picture(data, queue, new HashMap<>(), own), then);
        }
    }

    private void readNodes(Session session, Picture picture, CompletableFuture<Optional<Picture>> then) {
        List<NodeName> names = picture.queue().requests();
        if (names.isEmpty()) {
            then.complete(Optional.of(picture));
        }
        Set<NodeName> open = new HashSet<>(names);
        Object query = search.isPresent() ? search.get() : then;
        for (NodeName name : names) {
            session.readsInTurn().read(query, () -> !then.isDone(), path.child(name), answer -> {
                if (answer.ok()) {
                    picture.nodes().put(name, answer.get());
                } else if (answer.code() == Status.NO_AUTH) {
                    picture.nodes().put(name, UNREADABLE);
                } else if (answer.code() != Status.NO_NODE) {
                    then.completeExceptionally(Errors.of(path.shown(), READ, answer));
                }
                if (!then.isDone()) {
                    search.ifPresent(SearchSteps::heard);
                }
                open.remove(name);
                if (open.isEmpty()) {
                    then.complete(Optional.of(picture));
                }
            });
        }
    }
}
