// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.testkit.proxy.WireOp;
import io.latchkey.testkit.proxy.WireRecord;
import io.latchkey.testkit.sim.Tree.Effect;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.validity.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One client's handle: a session, a connection that can be lost or stand still, and a pipe in each direction. Nothing moves by
 * itself: whoever plays the schedule has a server take the next request, and the client the next message. What ZooKeeper's own
 * client does by its clock goes by the simulated one: it pings when it has sent nothing for a third of the time-out, gives the
 * connection up when it has heard nothing for two thirds, and the session when it has found no server for four thirds.
 */
final class SimulatedPort implements ZnodeStore {
    private static final long UNKNOWN_ZXID = -1;

    private final Leader leader;
    private final Listener listener;
    private final long timeout;
    private final SimulatedTime.View time;

    /** 0 until the first connection. */
    private long session;

    private @Nullable Server server;
    private State state = State.DOWN;
    /** Whether the network carries nothing, in either direction, and tells nobody. */
    private boolean silent;
    /** Whether what the server tells the client is lost, until the connection breaks. */
    private boolean losing;
    /** How many writes the server is going to refuse, for a reason of its own. */
    private int refusals;

    /** What the client asked for and no server has taken. */
    private final Deque<Sent> outgoing = new ArrayDeque<>(8);
    /** What the server has taken and not answered. */
    private final Deque<Sent> taken = new ArrayDeque<>(8);
    /** What was under way when the connection was lost: a server may still take it, until it sees the session anew. */
    private final Deque<Sent> ghosts = new ArrayDeque<>(4);
    /**
     * Writes that a server has taken and not passed on when the client moved to another one. The leader refuses them as long as the session
     * is at another server, and carries them out before anything else once the client is back.
     */
    private final Map<Server, List<Sent>> stuck = new LinkedHashMap<>(2);
    /** The server of the connection before. */
    private @Nullable Server former;
    /** Everything without an answer, in the order of asking. */
    private final Deque<Sent> unanswered = new ArrayDeque<>(8);
    /** What the client has not been told yet. */
    private final Deque<Message> incoming = new ArrayDeque<>(8);

    /** Watches at the server, and those that the client will ask for again on a new connection. */
    private final Set<Watch> armed = new LinkedHashSet<>(8);

    private final Set<Watch> registered = new LinkedHashSet<>(8);
    private long lastZxid;

    private long requests;
    private long lastSent;
    private long lastHeard;
    private Clock.@Nullable Timer watchdog;

    /** What the client thinks. */
    private enum State {
        DOWN,
        UP,
        OVER
    }

    /** What is watched of a node. */
    enum Of {
        DATA,
        CHILDREN
    }

    /** One watch. */
    record Watch(String path, Of what) {
        /** As a record's own, which costs many times as much. */
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Watch watch && what == watch.what && path.equals(watch.path);
        }

        @Override
        public int hashCode() {
            return 31 * path.hashCode() + (what == Of.DATA ? 1 : 0);
        }
    }

    /**
     * Something that the client gets to know.
     *
     * @param zxid what its server had applied by then; 0 where the client does not take note of that, which is for answers only
     * @param content the answer, the event, or a word
     * @param to what it answers, if it is an answer
     */
    record Message(long zxid, Object content, @Nullable Sent to, Runnable delivery) {
        boolean isEvent() {
            return content instanceof Fired;
        }
    }

    /** A watch fired. */
    record Fired(String path, ZnodeStore.Change change, long zxid) {}

    /** A request. */
    abstract static class Sent {
        /** The transaction without which the server cannot answer. */
        long after;
        /** Counts the requests of its port. */
        long number;

        /** The leader takes it. Reads are not for it. */
        void commit() {}

        /** The server's answer. */
        abstract Response<?> answer(Server from);

        /** The client takes what {@link #answer} said, or a failure. */
        abstract void take(Response<?> answer);

        /** Whether it makes a node. */
        boolean creates() {
            return false;
        }

        /** How a proxy before a real server would record it. */
        abstract WireRecord.Request onTheWire();

        final WireRecord.Request onTheWire(WireOp op, String path, boolean watch, List<WireRecord.Part> parts) {
            return new WireRecord.Request(0, 0, (int) number, op, path, watch, parts);
        }
    }

    private final class Writing extends Sent {
        private final List<Write> writes;
        /** Whether its only write goes without a transaction. */
        private final boolean alone;

        private final Consumer<Response<Written>> then;
        private Response<Written> answer = Response.failed(Status.CONNECTION_LOSS, "never taken");

        Writing(List<Write> writes, boolean alone, Consumer<Response<Written>> then) {
            this.writes = writes;
            this.alone = alone;
            this.then = then;
        }

        @Override
        void commit() {
            if (refusals > 0) {
                refusals--;
                answer = Response.failed(Status.OTHER, "THROTTLEDOP");
                return;
            }
            Leader.Outcome outcome = leader.write(session, writes);
            answer = outcome.answer();
            after = outcome.zxid();
        }

        @Override
        boolean creates() {
            return answer.ok() && !answer.get().created().isEmpty();
        }

        @Override
        Response<?> answer(Server from) {
            return answer;
        }

        @Override
        void take(Response<?> how) {
            then.accept(how.ok() ? answer : Response.failed(how.code(), how.detail()));
        }

        @Override
        WireRecord.Request onTheWire() {
            List<WireRecord.Part> parts =
                    writes.stream().map(SimulatedPort::part).toList();
            String first = parts.get(0).path();
            return alone
                    ? onTheWire(parts.get(0).op(), first, false, List.of())
                    : onTheWire(WireOp.MULTI, first, false, parts);
        }

        @Override
        public String toString() {
            return writes.toString();
        }
    }

    private static WireRecord.Part part(Write write) {
        if (write instanceof Write.CreatePath create) {
            boolean stays = create.lasting() == Lasting.FOR_EVER;
            return new WireRecord.Part(stays ? WireOp.CREATE : WireOp.CREATE_CONTAINER, create.path());
        } else if (write instanceof Write.CreateRequest create) {
            return new WireRecord.Part(WireOp.CREATE2, create.path());
        } else if (write instanceof Write.CreateNode create) {
            return new WireRecord.Part(WireOp.CREATE2, create.path());
        } else if (write instanceof Write.Mark mark) {
            return new WireRecord.Part(WireOp.SET_DATA, mark.path());
        } else if (write instanceof Write.SetData set) {
            return new WireRecord.Part(WireOp.SET_DATA, set.path());
        } else if (write instanceof Write.Delete delete) {
            return new WireRecord.Part(WireOp.DELETE, delete.path());
        } else if (write instanceof Write.Check check) {
            return new WireRecord.Part(WireOp.CHECK, check.path());
        }
        throw new IllegalArgumentException("unknown write " + write);
    }

    /** Reads a node's data, and maybe leaves a watch. */
    private final class Reading extends Sent {
        private final Watch of;
        private final boolean watches;
        private final Consumer<Response<?>> then;

        Reading(Watch of, boolean watches, Consumer<Response<?>> then) {
            this.of = of;
            this.watches = watches;
            this.then = then;
        }

        @Override
        Response<?> answer(Server from) {
            Tree.Node seen = from.tree().find(of.path());
            if (from.lags()) {
                countStale(seen);
            }
            if (seen == null) {
                return Response.failed(Status.NO_NODE, "NO_NODE");
            }
            if (watches) {
                armed.add(of);
            }
            return Response.of(of.what() == Of.DATA ? seen.read() : seen.listing());
        }

        private void countStale(Tree.@Nullable Node seen) {
            Tree.Node now = leader.tree().find(of.path());
            if (seen == null ? now != null : now == null || !seen.isAsOldAs(now)) {
                leader.counters().staleReads++;
            }
        }

        @Override
        void take(Response<?> answer) {
            if (watches && answer.ok()) {
                registered.add(of);
            }
            then.accept(answer);
        }

        @Override
        WireRecord.Request onTheWire() {
            WireOp op = of.what() == Of.DATA ? WireOp.GET_DATA : WireOp.GET_CHILDREN2;
            return onTheWire(op, of.path(), watches, List.of());
        }

        @Override
        public String toString() {
            return (watches ? "watch " : "read ") + of.what() + " of " + of.path();
        }
    }

    /** Several lists in one. */
    private final class ReadingLists extends Sent {
        private final List<Reading> lists = new ArrayList<>();
        private final Consumer<Response<List<Response<Listing>>>> then;

        ReadingLists(List<String> paths, Consumer<Response<List<Response<Listing>>>> then) {
            for (String path : paths) {
                lists.add(new Reading(new Watch(path, Of.CHILDREN), false, answer -> {}));
            }
            this.then = then;
        }

        @Override
        Response<?> answer(Server from) {
            List<Response<Listing>> answers = new ArrayList<>(lists.size());
            for (Reading list : lists) {
                answers.add(as(Listing.class, list.answer(from)));
            }
            return Response.of(answers);
        }

        @Override
        @SuppressWarnings("unchecked") // What answer() made.
        void take(Response<?> answer) {
            then.accept((Response<List<Response<Listing>>>) answer);
        }

        @Override
        WireRecord.Request onTheWire() {
            List<WireRecord.Part> parts = lists.stream()
                    .map(list -> new WireRecord.Part(WireOp.GET_CHILDREN, list.of.path()))
                    .toList();
            return onTheWire(WireOp.MULTI_READ, parts.get(0).path(), false, parts);
        }

        @Override
        public String toString() {
            return lists.toString();
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
        Response<?> answer(Server from) {
            armed.removeIf(watch -> watch.path().equals(path));
            return Response.of(path);
        }

        @Override
        void take(Response<?> answer) {
            for (Of what : Of.values()) {
                if (registered.remove(new Watch(path, what))) {
                    listener.fired(path, ZnodeStore.Change.WATCH_REMOVED, UNKNOWN_ZXID);
                }
            }
            then.run();
        }

        @Override
        WireRecord.Request onTheWire() {
            return onTheWire(WireOp.REMOVE_WATCHES, path, false, List.of());
        }

        @Override
        public String toString() {
            return "remove watches of " + path;
        }
    }

    private static final class Ping extends Sent {
        @Override
        Response<?> answer(Server from) {
            return Response.of("ping");
        }

        @Override
        void take(Response<?> answer) {}

        @Override
        WireRecord.Request onTheWire() {
            return onTheWire(WireOp.PING, "", false, List.of());
        }

        @Override
        public String toString() {
            return "ping";
        }
    }

    SimulatedPort(Leader leader, Duration timeout, Listener listener) {
        this.leader = leader;
        this.timeout = timeout.toNanos();
        this.listener = listener;
        this.time = leader.time().view();
        lastHeard = time.nanos();
    }

    // ---- the client asks

    @Override
    public void create(String path, byte[] data, Consumer<Response<Created>> then) {
        List<Write> only = List.of(new Write.CreateRequest(path, data));
        send(new Writing(only, true, answer -> then.accept(Leader.alone(answer))));
    }

    @Override
    public void write(List<Write> writes, Consumer<Response<Written>> then) {
        send(new Writing(writes, false, then));
    }

    @Override
    public void list(String path, Consumer<Response<Listing>> then) {
        send(new Reading(new Watch(path, Of.CHILDREN), false, answer -> then.accept(as(Listing.class, answer))));
    }

    @Override
    public void lists(List<String> paths, Consumer<Response<List<Response<Listing>>>> then) {
        send(new ReadingLists(paths, then));
    }

    @Override
    public void exist(List<String> paths, Consumer<Response<List<Status>>> then) {
        lists(
                paths,
                lists -> then.accept(
                        lists.ok()
                                ? Response.of(
                                        lists.get().stream().map(Response::code).toList())
                                : Response.failed(lists.code(), lists.detail())));
    }

    @Override
    public void read(String path, Consumer<Response<NodeData>> then) {
        send(new Reading(new Watch(path, Of.DATA), false, answer -> then.accept(as(NodeData.class, answer))));
    }

    @Override
    public void watchData(String path, Consumer<Response<NodeData>> then) {
        send(new Reading(new Watch(path, Of.DATA), true, answer -> then.accept(as(NodeData.class, answer))));
    }

    @Override
    public void watchChildren(String path, Consumer<Response<Listing>> then) {
        send(new Reading(new Watch(path, Of.CHILDREN), true, answer -> then.accept(as(Listing.class, answer))));
    }

    private static <T> Response<T> as(Class<T> type, Response<?> answer) {
        return answer.ok() ? Response.of(type.cast(answer.get())) : Response.failed(answer.code(), answer.detail());
    }

    @Override
    public void removeWatches(String path, Runnable then) {
        send(new Removing(path, then));
    }

    private void send(Sent sent) {
        sent.number = ++requests;
        unanswered.add(sent);
        lastSent = time.nanos();
        if (state == State.OVER) {
            tell("over", () -> {
                unanswered.remove(sent);
                sent.take(Response.failed(Status.SESSION_EXPIRED, "SESSION_EXPIRED"));
            });
        } else {
            outgoing.add(sent);
        }
    }

    @Override
    public void close(Runnable then) {
        while (hasRequest()) {
            takeRequest();
        }
        boolean reachesServer = server != null && !silent;
        disconnect();
        over();
        incoming.clear();
        if (reachesServer) {
            leader.closeSession(session);
        }
        then.run();
    }

    // ---- the schedule moves things on

    long session() {
        return session;
    }

    /** The highest zxid that the client has seen. */
    long lastZxid() {
        return lastZxid;
    }

    boolean isUp() {
        return server != null;
    }

    @Nullable
    Server server() {
        return server;
    }

    boolean isSilent() {
        return silent;
    }

    void refuseWrites(int writes) {
        refusals = writes;
    }

    /** The process of the client does nothing until it goes on. What it has sent is on its way all the same. */
    void standStill() {
        time.standStill();
    }

    void goOn() {
        time.goOn();
    }

    /** Whether the client knows that it has no connection, and may look for one. */
    boolean seeksConnection() {
        return state == State.DOWN && server == null && !silent && !time.isStill();
    }

    boolean hasRequest() {
        return server != null && state == State.UP && !silent && !outgoing.isEmpty();
    }

    boolean hasMessage() {
        return !silent && !incoming.isEmpty() && !time.isStill();
    }

    boolean hasGhost() {
        return !ghosts.isEmpty();
    }

    Set<Watch> watches() {
        return armed;
    }

    /** The next message. */
    @Nullable
    Message peekMessage() {
        return incoming.peek();
    }

    /** The request that a server would take next. */
    Sent peekRequest() {
        return outgoing.element();
    }

    /**
     * What decides what comes, besides what its client has come to: which of the client's requests are where, which answers
     * are on their way, and which watches the server keeps.
     *
     * @param zxids whether the zxids count that the client takes note of for its next connection
     */
    void addTo(Fingerprint print, Fingerprint.Zxids zxids) {
        print.add(session);
        print.add(state.name());
        print.add((silent ? 2 : 0) | (losing ? 1 : 0));
        for (Sent sent : outgoing) {
            print.add(requests - sent.number);
        }
        print.add(-1);
        for (Sent sent : taken) {
            print.add(requests - sent.number);
            print.add(sent.after);
            if (sent instanceof Writing writing) {
                print.addContent(writing.answer);
            }
        }
        print.add(-2);
        print.add(ghosts.size());
        print.add(-3);
        for (Message message : incoming) {
            print.addContent(message.content());
            print.add(zxids == Fingerprint.Zxids.COUNT ? message.zxid() : 0);
        }
        print.add(zxids == Fingerprint.Zxids.COUNT ? lastZxid : 0);
        print.addAll(armed, (watch, each) -> {
            each.add(watch.path());
            each.add(watch.what().name());
        });
    }

    /** What this server carries out when the client comes back to it, by what its client has come to. */
    void addStuckAt(Server at, Fingerprint print) {
        for (Sent sent : stuck.getOrDefault(at, List.of())) {
            print.add(requests - sent.number);
        }
        print.add(-4);
    }

    /** The next request, for people to read. */
    String nextRequest() {
        return String.valueOf(outgoing.peek());
    }

    /** The next message, for people to read. */
    String nextMessage() {
        Message next = incoming.peek();
        return next == null ? "" : String.valueOf(next.content());
    }

    /** The server takes the next request. */
    void takeRequest() {
        Sent sent = outgoing.remove();
        leader.sessions().touch(session);
        sent.commit();
        taken.add(sent);
        answer();
    }

    /** A server takes a request of a connection that is no more; nobody is answered. */
    void takeGhost() {
        leader.counters().lateWrites++;
        ghosts.remove().commit();
    }

    /** The client takes the next message. */
    void takeMessage() {
        take(incoming.remove());
    }

    /** The client takes the answer to a ping before all else; says whether there is one. */
    boolean takePing() {
        for (Message message : incoming) {
            if (message.to() instanceof Ping) {
                incoming.remove(message);
                take(message);
                return true;
            }
        }
        return false;
    }

    private void take(Message next) {
        lastZxid = Math.max(lastZxid, next.zxid());
        lastHeard = time.nanos();
        next.delivery().run();
    }

    /** Answers what can be answered, in order. */
    void answer() {
        Server at = server;
        while (at != null && !taken.isEmpty() && taken.peek().after <= at.tree().zxid()) {
            Sent sent = taken.remove();
            Response<?> answer = sent.answer(at);
            long seen = sent instanceof Ping ? 0 : at.tree().zxid();
            if (!losing) {
                incoming.add(new Message(seen, answer, sent, () -> {
                    unanswered.remove(sent);
                    sent.take(answer);
                }));
            }
        }
    }

    /** Something that is no answer: the client learns no zxid by it. */
    private void tell(Object what, Runnable delivery) {
        incoming.add(new Message(0, what, null, delivery));
    }

    /** The server has applied a transaction: watches on what it changed fire. */
    void applied(Tree.Txn txn) {
        if (armed.isEmpty()) {
            return;
        }
        for (Effect change : txn.changes()) {
            if (change instanceof Effect.Created created) {
                fire(created.parent(), Of.CHILDREN, ZnodeStore.Change.CHILDREN, txn.zxid());
            } else if (change instanceof Effect.DataSet set) {
                fire(set.path(), Of.DATA, ZnodeStore.Change.DATA, txn.zxid());
            } else if (change instanceof Effect.Deleted deleted) {
                boolean data = armed.remove(new Watch(deleted.path(), Of.DATA));
                boolean children = armed.remove(new Watch(deleted.path(), Of.CHILDREN));
                if (data || children) {
                    event(deleted.path(), ZnodeStore.Change.DELETED, txn.zxid(), Of.DATA, Of.CHILDREN);
                }
                fire(deleted.parent(), Of.CHILDREN, ZnodeStore.Change.CHILDREN, txn.zxid());
            }
        }
    }

    private void fire(String path, Of what, ZnodeStore.Change change, long zxid) {
        if (armed.remove(new Watch(path, what))) {
            event(path, change, zxid, what);
        }
    }

    private void event(String path, ZnodeStore.Change change, long zxid, Of... fired) {
        if (losing) {
            return;
        }
        tell(new Fired(path, change, zxid), () -> {
            boolean known = false;
            for (Of what : fired) {
                known |= registered.remove(new Watch(path, what));
            }
            if (known) {
                listener.fired(path, change, zxid);
            }
        });
    }

    // ---- the connection

    /** The connection breaks: what is on the way to the client is lost, and it will find out. */
    void cut() {
        incoming.clear();
        breakOff();
    }

    /** The connection breaks behind what is on the way to the client. */
    void breakOff() {
        disconnect();
        tell("connection lost", this::lost);
    }

    /** From now on nothing that the server tells reaches the client, until the connection breaks. */
    void loseAnswers() {
        losing = true;
    }

    boolean isLosing() {
        return losing;
    }

    /** The client takes its session for over, which lives on until its time is up. */
    void giveUpSession() {
        disconnect();
        incoming.clear();
        over();
        failAll(Status.SESSION_EXPIRED);
        listener.expired();
    }

    /** From now on the network carries nothing, and tells nobody. */
    void silence() {
        silent = true;
    }

    /** The network carries again, what was on the way too. */
    void heal() {
        silent = false;
    }

    private void disconnect() {
        losing = false;
        if (server != null) {
            server.detach(this);
            former = server;
            server = null;
            countLostAnswers();
        }
        armed.clear();
        taken.clear();
        for (Sent sent : outgoing) {
            if (sent instanceof Writing) {
                ghosts.add(sent);
            }
        }
        outgoing.clear();
    }

    private void countLostAnswers() {
        for (Sent sent : unanswered) {
            if (sent.creates()) {
                leader.counters().createdButAnswerLost++;
            }
        }
    }

    private void lost() {
        state = State.DOWN;
        failAll(Status.CONNECTION_LOSS);
        listener.disconnected();
    }

    private void failAll(Status code) {
        List<Sent> all = List.copyOf(unanswered);
        unanswered.clear();
        outgoing.clear();
        Response<?> failure = Response.failed(code, code.name());
        for (Sent sent : all) {
            sent.take(failure);
        }
    }

    /** The server carries out the next request, and the connection breaks in place of the answer. */
    void loseNextAnswer() {
        losing = true;
        takeRequest();
        breakOff();
    }

    /** The client tries a server, which refuses the connection: all that it has asked for meanwhile fails. */
    void refused() {
        failAll(Status.CONNECTION_LOSS);
        listener.disconnected();
    }

    /** The client tries a server. One that has seen less than the client is no good. */
    void connect(Server to) {
        if (session == 0) {
            session = leader.openSession(timeout);
            attach(to);
        } else if (!leader.hasSession(session)) {
            over();
            tell("session over", () -> {
                failAll(Status.SESSION_EXPIRED);
                listener.expired();
            });
        } else if (to.tree().zxid() < lastZxid) {
            failAll(Status.CONNECTION_LOSS);
        } else {
            leader.counters().reconnects++;
            leader.sessions().touchAtLeader(session);
            attach(to);
            rearm(to.tree());
        }
    }

    private void attach(Server to) {
        if (former != null && !to.equals(former) && !ghosts.isEmpty()) {
            stuck.computeIfAbsent(former, from -> new ArrayList<>()).addAll(ghosts);
        }
        ghosts.clear();
        for (Sent late : Objects.requireNonNullElse(stuck.remove(to), List.<Sent>of())) {
            leader.counters().writesOfFormerConnections++;
            late.commit();
        }
        server = to;
        to.attach(this);
        state = State.UP;
        lastSent = time.nanos();
        lastHeard = time.nanos();
        watchTheClock();
        tell("connected", () -> listener.connected((int) (timeout / 1_000_000)));
    }

    /** What happened meanwhile is told without saying when. */
    private void rearm(Tree tree) {
        if (registered.isEmpty()) {
            return;
        }
        for (Watch watch : new ArrayList<>(registered)) {
            Tree.Node node = tree.find(watch.path());
            boolean data = watch.what() == Of.DATA;
            if (node == null) {
                event(watch.path(), ZnodeStore.Change.DELETED, UNKNOWN_ZXID, Of.DATA, Of.CHILDREN);
            } else if ((data ? node.mzxid : node.pzxid) > lastZxid) {
                event(
                        watch.path(),
                        data ? ZnodeStore.Change.DATA : ZnodeStore.Change.CHILDREN,
                        UNKNOWN_ZXID,
                        watch.what());
            } else {
                armed.add(watch);
            }
        }
    }

    // ---- the client's own clock

    private void over() {
        state = State.OVER;
        if (watchdog != null) {
            watchdog.cancel();
        }
    }

    private void watchTheClock() {
        if (leader.sessions().expiry() == Sessions.Expiry.BY_DECREE) {
            return;
        }
        if (watchdog != null) {
            watchdog.cancel();
        }
        watchdog = time.at(nextLook(), this::lookAtTheClock);
    }

    private long nextLook() {
        return state == State.UP
                ? Math.min(lastSent + timeout / 3, lastHeard + timeout * 2 / 3)
                : lastHeard + timeout * 4 / 3;
    }

    private void lookAtTheClock() {
        long now = time.nanos();
        if (state == State.UP && now >= lastHeard + timeout * 2 / 3) {
            disconnect();
            incoming.clear();
            lost();
        } else if (state == State.UP && now >= lastSent + timeout / 3) {
            send(new Ping());
        } else if (state == State.DOWN && now >= lastHeard + timeout * 4 / 3) {
            giveUpSession();
        }
        if (state != State.OVER) {
            watchTheClock();
        }
    }
}
