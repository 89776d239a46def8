package io.latchkey.zk.session;

import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.zk.acquire.Event;
import io.latchkey.zk.acquire.State;
import io.latchkey.zk.queue.Kind;
import io.latchkey.zk.queue.NodeName;
import io.latchkey.zk.recipe.Recipe;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One path in one session: creates its requests' nodes, and hands over between requests of this session. */
final class Lane {
    private final Session session;
    private final String path;
    private final NewPath newPath;
    private final QueueReader reader;
    private final Departures departures;
    private final Drain drain;
    /** The requests of this session whose nodes are there, or whose deletion is not confirmed yet. */
    private final Map<String, Request> present = new LinkedHashMap<>();
    /** Who waits right behind a node of this session. */
    private final Map<String, Request> followers = new HashMap<>();

    private @Nullable Request holder;
    /** Creates on the wire. */
    private int creating;

    Lane(Session session, String path) {
        this.session = session;
        this.path = path;
        this.newPath = new NewPath(session, path);
        this.reader = new QueueReader(session, this, path);
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
        return present.isEmpty() && reader.idle() && !owes() && drain.idle();
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

    QueueReader reader() {
        return reader;
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
        reader.readBehindCreateOf(request);
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
                        reader.made(asked, made.first().czxid());
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
        return departures.owes() || reader.owes() || creating > 0;
    }

    void sessionOver(ReleaseOutcome told) {
        departures.sessionOver(told);
    }

    /** The counter is near its end: the path has to be made anew, and its kind to be read anew. */
    void drain(Request request) {
        reader.forgetKind();
        drain.await(request);
    }
}
