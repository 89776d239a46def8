package io.latchkey.zk.session;

import io.latchkey.lock.LockException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.zk.acquire.Event;
import io.latchkey.zk.acquire.State;
import io.latchkey.zk.queue.Kind;
import io.latchkey.zk.queue.NodeName;
import io.latchkey.zk.queue.Queue;
import io.latchkey.zk.recipe.Recipe;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One path in one session: creates its requests' nodes, reads its queue, knows its kind, and hands over between
 * requests of this session. Lists are shared: while one is on the wire, requests that enqueue wait for the next, which
 * serves them all; nothing is lost by that, since they stand behind the one whose list is on its way.
 */
final class Lane {
    private final Session session;
    private final String path;
    private final NewPath newPath;
    private final Departures departures;
    private final Drain drain;
    /** The requests of this session whose nodes are there, or whose deletion is not confirmed yet. */
    private final Map<String, Request> present = new LinkedHashMap<>();
    /** Who waits right behind a node of this session. */
    private final Map<String, Request> followers = new HashMap<>();
    /** Ids of requests that were given up when nobody knew whether their nodes were there. */
    private final Set<String> disowned = new HashSet<>();

    /** Who has not asked for its place yet, since others of this session wait before it. */
    private final Map<Request, Want> putOff = new LinkedHashMap<>();

    private @Nullable Request holder;
    private List<Want> wants = new ArrayList<>();
    private boolean listing;
    /** Creates on the wire, and ids to be disowned once connected: what keeps a borrowed session from being given back. */
    private int creating;

    private int disowning;
    private byte @Nullable [] kind;
    private long kindSince;

    /** Since when a list may be read to count for a request. */
    private enum From {
        /** Behind its create. */
        CREATE,
        /** Behind a barrier on a new connection, after which a lost create has been carried out or never will be. */
        BARRIER
    }

    /** A request that wants to see a queue, in its present attempt. */
    private record Want(Request request, String id, From from) {
        boolean stands() {
            State needed = from == From.BARRIER ? State.RECOVERING : State.LISTING;
            return request.id().equals(id) && request.state() == needed;
        }

        /** Whether it may come to want the list that is on its way: its create is on its way, too. */
        boolean mayCome() {
            boolean onItsWay = request.id().equals(id) && request.state() == State.ENQUEUEING;
            return stands() || (from == From.CREATE && onItsWay);
        }
    }

    Lane(Session session, String path) {
        this.session = session;
        this.path = path;
        this.newPath = new NewPath(session, path);
        this.departures = new Departures(session, this);
        this.drain = new Drain(session, path);
    }

    Session session() {
        return session;
    }

    Collection<Request> present() {
        return present.values();
    }

    boolean idle() {
        return present.isEmpty() && wants.isEmpty() && putOff.isEmpty() && !listing && !owes() && drain.idle();
    }

    /** The request of this session that holds or is about to, and excludes all others, if one does. */
    Optional<Request> holder() {
        return Optional.ofNullable(holder);
    }

    void granted(Request request) {
        if (request.recipe().sharing() == Recipe.Sharing.EXCLUSIVE) {
            holder = request;
        }
    }

    void ended(Request request) {
        if (request.equals(holder)) {
            holder = null;
        }
    }

    String pathOf(String child) {
        return path + '/' + child;
    }

    // ---- creating

    /** One flight: the node, at first contact the path's kind, and the queue. */
    void enqueue(Request request) {
        String id = request.id();
        creating++;
        session.<ZooPort.Created>askCommitted(
                then -> session.port()
                        .create(pathOf(prefix(request, id)), session.engine().ownerData(), then),
                answer -> {
                    creating--;
                    created(request, id, answer);
                });
        if (kind == null) {
            readKind(request.recipe().kind());
        }
        listNowOrLater(request);
    }

    private void created(Request request, String id, Answer<ZooPort.Created> answer) {
        switch (answer.code()) {
            case OK -> arrived(request, answer.get(), Event.Created::new);
            case NO_NODE -> createWithPath(request, id);
            default -> notCreated(request, answer);
        }
    }

    private void notCreated(Request request, Answer<?> answer) {
        String shown = session.engine().shown(path);
        switch (answer.code()) {
            case CONNECTION_LOSS, READ_ONLY -> request.on(new Event.CreateLost());
            case NO_AUTH -> request.refused(Errors.denied(shown, "create a request", answer));
            case NO_CHILDREN -> request.refused(Errors.ephemeralParent(shown));
            default -> request.refused(Errors.refused(shown, answer));
        }
    }

    private void arrived(Request request, ZooPort.Created created, BiFunction<NodeName, Long, Event> event) {
        NodeName name = NodeName.parse(created.name())
                .orElseThrow(() -> new IllegalStateException("created " + created.name()));
        present.put(name.text(), request);
        session.keepBeating();
        request.on(event.apply(name, created.czxid()));
    }

    private void createWithPath(Request request, String id) {
        if (request.state() == State.ABANDONING) {
            request.on(new Event.CreateRefused());
            return;
        }
        Kind asked = request.recipe().kind();
        creating++;
        newPath.makeWith(
                new ZooPort.Write.CreateRequest(
                        pathOf(prefix(request, id)), session.engine().ownerData()),
                asked,
                outcome -> {
                    creating--;
                    if (outcome instanceof NewPath.Outcome.Made made) {
                        kind = asked.data();
                        kindSince = made.first().czxid();
                        arrived(request, made.first(), Event.CreatedAlone::new);
                    } else if (outcome instanceof NewPath.Outcome.Failed failed) {
                        notCreated(request, failed.answer());
                    } else if (request.state() == State.ABANDONING) {
                        request.on(new Event.CreateRefused());
                    } else if (outcome instanceof NewPath.Outcome.NoChroot) {
                        request.refused(Errors.noChroot(session.engine().shown(path)));
                    } else {
                        enqueue(request);
                    }
                });
    }

    private static String prefix(Request request, String id) {
        return NodeName.prefix(request.recipe().tag(), id, request.recipe().permits());
    }

    // ---- the kind

    private void readKind(Kind asked) {
        session.<ZooPort.NodeData>ask(then -> session.port().read(path, then), answer -> {
            if (answer.ok()) {
                kind = answer.get().data();
                kindSince = answer.get().mzxid();
                if (kind.length == 0) {
                    adopt(asked, answer.get().version());
                }
            }
        });
    }

    /** An operator made the path by hand: it becomes ours with the first use, if nobody was faster. */
    private void adopt(Kind asked, int version) {
        session.write(List.of(new ZooPort.Write.SetData(path, asked.data(), version)), answer -> {
            if (session.codeOf(answer) == Code.NO_AUTH) {
                LockException denied = Errors.denied(
                        session.engine().shown(path), "record the kind of the lock", session.plain(answer));
                List.copyOf(present.values()).forEach(request -> request.fail(denied));
            }
            kind = null;
        });
    }

    // ---- reading the queue

    void list(Request request) {
        want(new Want(request, request.id(), From.CREATE));
    }

    /** For a request whose create has just been sent: those that are present stand before it. */
    private void listNowOrLater(Request request) {
        Want want = new Want(request, request.id(), From.CREATE);
        if (request.canBePutOff() && othersWaitBefore()) {
            putOff.put(request, want);
        } else {
            want(want);
        }
    }

    /**
     * Whether two requests of this session wait already, so that a later one need not know its place yet: it cannot be
     * granted before the first of them is, and there is time for a list when it is, which serves all that were put off.
     */
    private boolean othersWaitBefore() {
        return present.values().stream()
                        .filter(other -> other.isWaiting() && !putOff.containsKey(other))
                        .limit(2)
                        .count()
                == 2;
    }

    /** Something became of a request of this lane: those put off may be needed now. */
    void reconsider() {
        if (!putOff.isEmpty() && !othersWaitBefore()) {
            List<Want> due = List.copyOf(putOff.values());
            putOff.clear();
            due.forEach(wants::add);
            if (!listing) {
                sendList();
            }
        }
    }

    /** To be called behind a barrier. */
    void listForLostCreate(Request request) {
        want(new Want(request, request.id(), From.BARRIER));
    }

    private void want(Want want) {
        wants.add(want);
        if (!listing) {
            sendList();
        }
    }

    private void sendList() {
        List<Want> served = wants;
        wants = new ArrayList<>();
        served.removeIf(want -> !want.mayCome());
        listing = true;
        session.<ZooPort.Listing>ask(then -> session.port().list(path, then), answer -> {
            listing = false;
            listed(served, answer);
            wants.removeIf(want -> !want.mayCome());
            putOff.values().removeIf(want -> !want.mayCome());
            if (!wants.isEmpty() && !listing) {
                sendList();
            }
        });
    }

    private void listed(List<Want> served, Answer<ZooPort.Listing> answer) {
        switch (answer.code()) {
            case OK -> listed(served, answer.get());
            case NO_NODE -> {
                kind = null;
                deliver(served, Queue.of(List.of()));
            }
            case NO_AUTH -> fail(served, Errors.denied(session.engine().shown(path), "read the queue", answer));
            case CONNECTION_LOSS, READ_ONLY ->
                session.whenConnected(() -> {
                    listAgain(served);
                    lookForDisowned();
                });
            default -> fail(served, Errors.refused(session.engine().shown(path), answer));
        }
    }

    private void listed(List<Want> served, ZooPort.Listing listing) {
        Queue queue = Queue.of(listing.children());
        removeDisowned(queue);
        if (kind == null || kind.length == 0 || kindSince != listing.mzxid()) {
            if (served.isEmpty()) {
                return;
            }
            kind = null;
            readKind(served.get(0).request().recipe().kind());
            listAgain(served);
            return;
        }
        List<Want> ofThisKind = new ArrayList<>(served.size());
        for (Want want : served) {
            if (want.request().recipe().kind().isIn(kind)) {
                ofThisKind.add(want);
            } else {
                fail(
                        List.of(want),
                        Errors.mismatch(
                                session.engine().shown(path),
                                want.request().recipe().kind(),
                                kind));
            }
        }
        deliver(ofThisKind, queue);
    }

    private void listAgain(List<Want> served) {
        for (Want want : served) {
            if (want.stands()) {
                want(want);
            }
        }
    }

    private static void deliver(List<Want> served, Queue queue) {
        for (Want want : served) {
            if (want.stands()) {
                want.request().on(new Event.Listed(queue));
            }
        }
    }

    private static void fail(List<Want> served, LockException error) {
        for (Want want : served) {
            if (want.stands()) {
                want.request().fail(error);
            }
        }
    }

    void lookUp(Request request, NodeName name) {
        present.put(name.text(), request);
        session.keepBeating();
        session.<ZooPort.NodeData>ask(then -> session.port().read(pathOf(name.text()), then), answer -> {
            if (request.state() != State.LOOKING_UP) {
                return;
            }
            switch (answer.code()) {
                case OK -> request.on(new Event.Found(answer.get().czxid()));
                case NO_NODE -> request.ownNodeGone(LossCause.NODE_DELETED);
                case CONNECTION_LOSS ->
                    session.whenConnected(() -> {
                        if (request.state() == State.LOOKING_UP) {
                            lookUp(request, name);
                        }
                    });
                default -> request.fail(Errors.refused(session.engine().shown(path), answer));
            }
        });
    }

    // ---- waiting

    /**
     * Tells {@code request} when the node ahead goes. A node of this session needs no watch: its going is known here,
     * and so is its holder's letting go, before the server hears of it. Nobody else can be granted before both nodes
     * are gone, so that exclusion and order stand (protocol section 4).
     */
    void watch(Request request, NodeName ahead) {
        Request local = present.get(ahead.text());
        if (local != null) {
            if (departures.handsOver(ahead.text())) {
                request.released();
            } else {
                followers.put(ahead.text(), request);
                request.watchesAhead(() -> followers.remove(ahead.text(), request));
            }
            return;
        }
        if (!request.watchesOwn()) {
            request.watchesOwn(session.watches()
                    .watchOwn(pathOf(request.node().orElseThrow().text()), request.ownListener()));
        }
        request.watchesAhead(session.watches().watchForRelease(pathOf(ahead.text()), request));
    }

    // ---- leaving

    /** A holder lets go: who waits right behind it in this session holds from now on. */
    void release(NodeName name, Consumer<ReleaseOutcome> then) {
        Request follower = followers.remove(name.text());
        departures.add(name.text(), Departures.Manner.RELEASED, then);
        try {
            if (follower != null) {
                holder = follower;
                follower.released();
            }
        } finally {
            departures.send();
        }
    }

    void withdraw(NodeName name, Consumer<ReleaseOutcome> then) {
        departures.add(name.text(), Departures.Manner.WITHDRAWN, then);
        departures.send();
    }

    void disown(String id) {
        disowning++;
        session.whenConnected(() -> {
            disowning--;
            disowned.add(id);
            lookForDisowned();
        });
    }

    /** A list that is on the wire was sent behind the barrier as well, or its answer would have come before it. */
    private void lookForDisowned() {
        if (!disowned.isEmpty() && !listing) {
            sendList();
        }
    }

    /** They were disowned behind a barrier: one that is not in the queue now never will be. */
    private void removeDisowned(Queue queue) {
        for (String id : disowned) {
            queue.withId(id).ifPresent(name -> departures.add(name.text(), Departures.Manner.WITHDRAWN, ignored -> {}));
        }
        if (!disowned.isEmpty()) {
            disowned.clear();
            departures.send();
        }
    }

    /** A node of this session is known to be gone. */
    void nodeGone(NodeName name) {
        nodeGone(name.text());
    }

    void nodeGone(String name) {
        present.remove(name);
        Request follower = followers.remove(name);
        if (follower != null) {
            follower.gone();
        }
        session.dropIfIdle(path, this);
    }

    boolean owes() {
        return departures.owes() || creating > 0 || disowning > 0 || !disowned.isEmpty();
    }

    void sessionOver(ReleaseOutcome told) {
        departures.sessionOver(told);
    }

    /** The counter is near its end: the path has to be made anew, and its kind to be read anew. */
    void drain(Request request) {
        kind = null;
        drain.await(request);
    }
}
