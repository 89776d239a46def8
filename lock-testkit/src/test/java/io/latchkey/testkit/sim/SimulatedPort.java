package io.latchkey.testkit.sim;

import io.latchkey.testkit.sim.Tree.Effect;
import io.latchkey.zk.session.Answer;
import io.latchkey.zk.session.Code;
import io.latchkey.zk.session.ZooPort;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One client's handle: a session, a connection that can be lost, and a pipe in each direction. Nothing moves by itself:
 * whoever plays the schedule has a server take the next request, and the client the next message.
 */
final class SimulatedPort implements ZooPort {
    private static final long UNKNOWN_ZXID = -1;

    private final Leader leader;
    private final Listener listener;
    private final Duration timeout;

    /** 0 until the first connection. */
    private long session;

    private @Nullable Server server;
    private State state = State.DOWN;

    /** What the client asked for and no server has taken. */
    private final Deque<Sent> outgoing = new ArrayDeque<>();
    /** What the server has taken and not answered. */
    private final Deque<Sent> taken = new ArrayDeque<>();
    /** What was under way when the connection was lost: a server may still take it, until it sees the session anew. */
    private final Deque<Sent> ghosts = new ArrayDeque<>();
    /** Everything without an answer, in the order of asking. */
    private final Deque<Sent> unanswered = new ArrayDeque<>();
    /** What the client has not been told yet. */
    private final Deque<Message> incoming = new ArrayDeque<>();

    /** Watches at the server, and those that the client will ask for again on a new connection. */
    private final Set<Watch> armed = new LinkedHashSet<>();

    private final Set<Watch> registered = new LinkedHashSet<>();
    private long lastZxid;

    /** What the client thinks. */
    private enum State {
        DOWN,
        UP,
        OVER
    }

    private enum Of {
        DATA,
        CHILDREN
    }

    private record Watch(String path, Of what) {}

    /** Something that the client gets to know, and what its server had applied by then. */
    private record Message(long zxid, Runnable delivery) {}

    /** A request. */
    private abstract static class Sent {
        /** The transaction without which the server cannot answer. */
        long after;

        /** The leader takes it. Reads are not for it. */
        void commit() {}

        /** The server's answer, for the client to take. */
        abstract Runnable answer(Server from);

        abstract void fail(Code code);
    }

    private final class Writing extends Sent {
        private final List<Write> writes;
        private final Consumer<Answer<Written>> then;
        private Answer<Written> answer = Answer.failed(Code.CONNECTION_LOSS, "never taken");

        Writing(List<Write> writes, Consumer<Answer<Written>> then) {
            this.writes = writes;
            this.then = then;
        }

        @Override
        void commit() {
            Leader.Outcome outcome = leader.write(session, writes);
            answer = outcome.answer();
            after = outcome.zxid();
        }

        @Override
        Runnable answer(Server from) {
            return () -> then.accept(answer);
        }

        @Override
        void fail(Code code) {
            then.accept(Answer.failed(code, code.name()));
        }
    }

    private final class Reading<T> extends Sent {
        private final Function<Tree, Optional<T>> look;
        private final Optional<Watch> watch;
        private final Consumer<Answer<T>> then;

        Reading(Function<Tree, Optional<T>> look, Optional<Watch> watch, Consumer<Answer<T>> then) {
            this.look = look;
            this.watch = watch;
            this.then = then;
        }

        @Override
        Runnable answer(Server from) {
            Optional<T> seen = look.apply(from.tree());
            if (seen.isEmpty()) {
                return () -> fail(Code.NO_NODE);
            }
            watch.ifPresent(armed::add);
            return () -> {
                watch.ifPresent(registered::add);
                then.accept(Answer.of(seen.get()));
            };
        }

        @Override
        void fail(Code code) {
            then.accept(Answer.failed(code, code.name()));
        }
    }

    /** Takes the watches of a path back; lost with the connection it counts all the same. */
    private final class Removing extends Sent {
        private final String path;
        private final Runnable then;

        Removing(String path, Runnable then) {
            this.path = path;
            this.then = then;
        }

        @Override
        Runnable answer(Server from) {
            armed.removeIf(watch -> watch.path().equals(path));
            return this::removed;
        }

        @Override
        void fail(Code code) {
            removed();
        }

        private void removed() {
            if (registered.removeIf(watch -> watch.path().equals(path))) {
                listener.fired(path, ZooPort.Change.WATCH_REMOVED, UNKNOWN_ZXID);
            }
            then.run();
        }
    }

    SimulatedPort(Leader leader, Duration timeout, Listener listener) {
        this.leader = leader;
        this.timeout = timeout;
        this.listener = listener;
    }

    // ---- the client asks

    @Override
    public void create(String path, byte[] data, Consumer<Answer<Created>> then) {
        write(List.of(new Write.CreateRequest(path, data)), answer -> then.accept(Leader.alone(answer)));
    }

    @Override
    public void write(List<Write> writes, Consumer<Answer<Written>> then) {
        send(new Writing(writes, then));
    }

    @Override
    public void list(String path, Consumer<Answer<Listing>> then) {
        send(new Reading<>(tree -> tree.list(path), Optional.empty(), then));
    }

    @Override
    public void read(String path, Consumer<Answer<NodeData>> then) {
        send(new Reading<>(tree -> tree.read(path), Optional.empty(), then));
    }

    @Override
    public void watchData(String path, Consumer<Answer<NodeData>> then) {
        send(new Reading<>(tree -> tree.read(path), Optional.of(new Watch(path, Of.DATA)), then));
    }

    @Override
    public void watchChildren(String path, Consumer<Answer<Listing>> then) {
        send(new Reading<>(tree -> tree.list(path), Optional.of(new Watch(path, Of.CHILDREN)), then));
    }

    @Override
    public void removeWatches(String path, Runnable then) {
        send(new Removing(path, then));
    }

    private void send(Sent sent) {
        unanswered.add(sent);
        if (state == State.OVER) {
            incoming.add(new Message(lastZxid, () -> {
                unanswered.remove(sent);
                sent.fail(Code.SESSION_EXPIRED);
            }));
        } else {
            outgoing.add(sent);
        }
    }

    @Override
    public void close() {
        disconnect();
        state = State.OVER;
        incoming.clear();
        leader.closeSession(session);
    }

    // ---- the schedule moves things on

    long session() {
        return session;
    }

    boolean isUp() {
        return server != null;
    }

    /** Whether the client knows that it has no connection, and may look for one. */
    boolean seeksConnection() {
        return state == State.DOWN && server == null;
    }

    boolean hasRequest() {
        return server != null && state == State.UP && !outgoing.isEmpty();
    }

    boolean hasMessage() {
        return !incoming.isEmpty();
    }

    boolean hasGhost() {
        return !ghosts.isEmpty();
    }

    Set<?> watches() {
        return armed;
    }

    /** The server takes the next request. */
    void takeRequest() {
        Sent sent = outgoing.remove();
        sent.commit();
        taken.add(sent);
        answer();
    }

    /** A server takes a request of a connection that is no more; nobody is answered. */
    void takeGhost() {
        ghosts.remove().commit();
    }

    /** The client takes the next message. */
    void takeMessage() {
        Message next = incoming.remove();
        lastZxid = Math.max(lastZxid, next.zxid());
        next.delivery().run();
    }

    /** Answers what can be answered, in order. */
    void answer() {
        Server at = server;
        while (at != null && !taken.isEmpty() && taken.peek().after <= at.tree().zxid()) {
            Sent sent = taken.remove();
            Runnable delivery = sent.answer(at);
            tell(() -> {
                unanswered.remove(sent);
                delivery.run();
            });
        }
    }

    private void tell(Runnable delivery) {
        incoming.add(new Message(Objects.requireNonNull(server).tree().zxid(), delivery));
    }

    /** The server has applied a transaction: watches on what it changed fire. */
    void applied(Tree.Txn txn) {
        for (Effect change : txn.changes()) {
            if (change instanceof Effect.Created created) {
                fire(Tree.parent(created.path()), Of.CHILDREN, ZooPort.Change.CHILDREN, txn.zxid());
            } else if (change instanceof Effect.DataSet set) {
                fire(set.path(), Of.DATA, ZooPort.Change.DATA, txn.zxid());
            } else if (change instanceof Effect.Deleted deleted) {
                boolean data = armed.remove(new Watch(deleted.path(), Of.DATA));
                boolean children = armed.remove(new Watch(deleted.path(), Of.CHILDREN));
                if (data || children) {
                    event(deleted.path(), ZooPort.Change.DELETED, txn.zxid(), Of.DATA, Of.CHILDREN);
                }
                fire(Tree.parent(deleted.path()), Of.CHILDREN, ZooPort.Change.CHILDREN, txn.zxid());
            }
        }
    }

    private void fire(String path, Of what, ZooPort.Change change, long zxid) {
        if (armed.remove(new Watch(path, what))) {
            event(path, change, zxid, what);
        }
    }

    private void event(String path, ZooPort.Change change, long zxid, Of... fired) {
        tell(() -> {
            for (Of what : fired) {
                registered.remove(new Watch(path, what));
            }
            listener.fired(path, change, zxid);
        });
    }

    // ---- the connection

    /** The connection breaks: what is on the way to the client is lost, and it will find out. */
    void cut() {
        disconnect();
        incoming.clear();
        incoming.add(new Message(lastZxid, this::lost));
    }

    private void disconnect() {
        if (server != null) {
            server.detach(this);
            server = null;
        }
        armed.clear();
        taken.clear();
        ghosts.addAll(outgoing);
        outgoing.clear();
    }

    private void lost() {
        state = State.DOWN;
        failAll(Code.CONNECTION_LOSS);
        listener.disconnected();
    }

    private void failAll(Code code) {
        List<Sent> all = new ArrayList<>(unanswered);
        unanswered.clear();
        outgoing.clear();
        all.forEach(sent -> sent.fail(code));
    }

    /** The client tries a server. One that has seen less than the client is no good. */
    void connect(Server to) {
        if (session == 0) {
            session = leader.openSession();
            attach(to);
        } else if (!leader.hasSession(session)) {
            state = State.OVER;
            incoming.add(new Message(lastZxid, () -> {
                failAll(Code.SESSION_EXPIRED);
                listener.expired();
            }));
        } else if (to.tree().zxid() < lastZxid) {
            failAll(Code.CONNECTION_LOSS);
        } else {
            attach(to);
            rearm(to.tree());
        }
    }

    private void attach(Server to) {
        ghosts.clear();
        server = to;
        to.attach(this);
        state = State.UP;
        tell(() -> listener.connected((int) timeout.toMillis()));
    }

    /** What happened meanwhile is told without saying when. */
    private void rearm(Tree tree) {
        for (Watch watch : List.copyOf(registered)) {
            Optional<Long> changed =
                    watch.what() == Of.DATA ? tree.changedAt(watch.path()) : tree.childrenChangedAt(watch.path());
            if (changed.isEmpty()) {
                event(watch.path(), ZooPort.Change.DELETED, UNKNOWN_ZXID, Of.DATA, Of.CHILDREN);
            } else if (changed.get() > lastZxid) {
                ZooPort.Change what = watch.what() == Of.DATA ? ZooPort.Change.DATA : ZooPort.Change.CHILDREN;
                event(watch.path(), what, UNKNOWN_ZXID, watch.what());
            } else {
                armed.add(watch);
            }
        }
    }
}
