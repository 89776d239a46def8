// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.testkit.proxy.WireRecord;
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
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One client's handle: a session, a connection that can be lost or stand still, and a pipe in each direction. Nothing
 * moves by itself: the schedule tells a server to take the next request and the client to take the next message.
 *
 * <p>The timeouts of ZooKeeper's own client follow the simulated clock. It sends a ping after a third of the session
 * timeout without a request. It gives up the connection after two thirds without news of the server, and the session
 * after four thirds without a server.
 *
 * <p>The class is long because one handle answers every kind of request, in the order in which the pipes carry them: a
 * lost connection loses what is in both, and the watches that it had.
 */
final class SimulatedStore implements ZnodeStore {
    private static final long UNKNOWN_ZXID = -1;
    private static final Optional<Response<?>> THROTTLED =
            Optional.of(Response.failed(Status.THROTTLED, "THROTTLEDOP"));
    private static final Optional<Response<?>> REFUSED = Optional.of(Response.failed(Status.OTHER, "UNIMPLEMENTED"));
    private static final String DENIED = "NOAUTH";
    private static final String QUOTA = "QUOTAEXCEEDED";

    private final Leader leader;
    private final Listener listener;
    /** Runs what the client asks for: at once, or by the one thread that may touch the simulation at that moment. */
    private final Executor carrier;

    private final long timeout;
    final SimulatedTime.View time;

    /** The session id; 0 until the first connection. */
    private long session;

    private @Nullable Server server;
    State state = State.DOWN;
    /** Whether the network drops everything, in either direction, without notice. */
    boolean silent;
    /** Whether messages to the client are lost, until the connection breaks. */
    boolean losing;
    /** The number of writes that the server will refuse for a reason of its own. */
    private int refusals;

    /** Requests that no server has taken. */
    final Deque<SentRequest> outgoing = new ArrayDeque<>(8);
    /** Requests that the server has taken and not answered. */
    final Deque<SentRequest> taken = new ArrayDeque<>(8);
    /**
     * Requests in flight when the connection was lost: a server may still execute them, until the session reconnects to
     * it.
     */
    final Deque<SentRequest> ghosts = new ArrayDeque<>(4);
    /**
     * Writes that a server has taken and not forwarded when the client moved to another server. The leader refuses them
     * as long as the session is at another server, and executes them first when the client reconnects to this one.
     */
    final Map<Server, List<SentRequest>> stuck = new LinkedHashMap<>(2);
    /** The server of the previous connection. */
    private @Nullable Server former;
    /** Unanswered requests, in the order of sending. */
    private final Deque<SentRequest> unanswered = new ArrayDeque<>(8);
    /** Messages that the client has not received yet. */
    final Deque<Message> incoming = new ArrayDeque<>(8);

    /** Watches at the server. {@link #registered} are those that the client sets again after a reconnect. */
    private final Set<Watch> armed = new LinkedHashSet<>(8);

    private final Set<Watch> registered = new LinkedHashSet<>(8);
    /** The highest zxid that the client has seen. */
    long lastZxid;

    long requests;
    private long lastSent;
    private long lastHeard;
    private Clock.@Nullable Timer watchdog;

    /** The state of the connection as the client knows it. */
    enum State {
        DOWN,
        UP,
        OVER
    }

    /** The part of a node that is watched. */
    enum WatchedPart {
        DATA,
        CHILDREN
    }

    /** A watch. */
    record Watch(String path, WatchedPart what) {
        /** Does the same as a record's own method, which is many times slower. */
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Watch watch && what == watch.what && path.equals(watch.path);
        }

        @Override
        public int hashCode() {
            return 31 * path.hashCode() + (what == WatchedPart.DATA ? 1 : 0);
        }
    }

    /**
     * A message to the client.
     *
     * @param zxid the last transaction that its server had applied; 0 if the client ignores it, as for all messages but
     *     responses
     * @param content the response, the event, or a word
     * @param to the request that it answers, if it is a response
     * @param delivery runs when the client takes the message
     */
    record Message(long zxid, Object content, @Nullable SentRequest to, Runnable delivery) {
        boolean isEvent() {
            return content instanceof FiredWatch;
        }
    }

    /** A watch fired. */
    record FiredWatch(String path, ZnodeStore.Change change, long zxid) {}

    /** A request. */
    abstract static class SentRequest {
        /** The transaction that the server must have applied before it answers. */
        long after;
        /** The number of the request at its store. */
        long number;
        /** The response of a server that refuses the request. */
        Optional<Response<?>> refusal = Optional.empty();

        /** Called when the leader takes the request; reads have no effect on it. */
        void commit() {}

        /** Returns the server's response. */
        abstract Response<?> answer(Server from);

        /** Passes the response, or a failure, to the client. */
        abstract void take(Response<?> answer);

        /** Returns whether it created a node. */
        boolean creates() {
            return false;
        }

        /** Returns the record that a proxy in front of a real server would write. */
        abstract WireRecord.Request onTheWire();

        final WireRecord.Request onTheWire(WireRecord.Op op, String path, boolean watch, List<WireRecord.Part> parts) {
            return new WireRecord.Request(0, 0, (int) number, op, path, watch, parts);
        }
    }

    final class SentWrite extends SentRequest {
        private final List<Write> writes;
        /** Whether its only write is sent without a transaction. */
        private final boolean alone;

        private final Consumer<Response<TransactionResult>> then;
        Response<TransactionResult> answer = Response.failed(Status.CONNECTION_LOSS, "never taken");

        SentWrite(List<Write> writes, boolean alone, Consumer<Response<TransactionResult>> then) {
            this.writes = writes;
            this.alone = alone;
            this.then = then;
        }

        @Override
        void commit() {
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
            then.accept(as(TransactionResult.class, how));
        }

        @Override
        WireRecord.Request onTheWire() {
            List<WireRecord.Part> parts =
                    writes.stream().map(SimulatedStore::part).toList();
            String first = parts.get(0).path();
            return alone
                    ? onTheWire(parts.get(0).op(), first, false, List.of())
                    : onTheWire(WireRecord.Op.MULTI, first, false, parts);
        }

        @Override
        public String toString() {
            return writes.toString();
        }
    }

    private static WireRecord.Part part(Write write) {
        if (write instanceof Write.CreatePath create) {
            boolean stays = create.lifetime() == Lifetime.FOR_EVER;
            return new WireRecord.Part(stays ? WireRecord.Op.CREATE : WireRecord.Op.CREATE_CONTAINER, create.path());
        } else if (write instanceof Write.CreateRequest create) {
            return new WireRecord.Part(WireRecord.Op.CREATE2, create.path());
        } else if (write instanceof Write.CreateNode create) {
            return new WireRecord.Part(WireRecord.Op.CREATE2, create.path());
        } else if (write instanceof Write.Mark mark) {
            return new WireRecord.Part(WireRecord.Op.SET_DATA, mark.path());
        } else if (write instanceof Write.SetData set) {
            return new WireRecord.Part(WireRecord.Op.SET_DATA, set.path());
        } else if (write instanceof Write.Delete delete) {
            return new WireRecord.Part(WireRecord.Op.DELETE, delete.path());
        } else if (write instanceof Write.Check check) {
            return new WireRecord.Part(WireRecord.Op.CHECK, check.path());
        }
        throw new IllegalArgumentException("unknown write " + write);
    }

    /** A read of a node's data or children, with or without a watch. */
    private final class SentRead extends SentRequest {
        private final Watch of;
        private final boolean watches;
        private final Consumer<Response<?>> then;

        SentRead(Watch of, boolean watches, Consumer<Response<?>> then) {
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
                arm(of, from);
            }
            return Response.of(of.what() == WatchedPart.DATA ? seen.read() : seen.listing());
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
            WireRecord.Op op = of.what() == WatchedPart.DATA ? WireRecord.Op.GET_DATA : WireRecord.Op.GET_CHILDREN2;
            return onTheWire(op, of.path(), watches, List.of());
        }

        @Override
        public String toString() {
            return (watches ? "watch " : "read ") + of.what() + " of " + of.path();
        }
    }

    /** Several lists in one request. */
    private final class ReadingLists extends SentRequest {
        private final List<SentRead> lists = new ArrayList<>();
        private final Consumer<Response<List<Response<Listing>>>> then;

        ReadingLists(List<String> paths, Consumer<Response<List<Response<Listing>>>> then) {
            for (String path : paths) {
                lists.add(new SentRead(new Watch(path, WatchedPart.CHILDREN), false, answer -> {}));
            }
            this.then = then;
        }

        @Override
        Response<?> answer(Server from) {
            List<Response<Listing>> answers = new ArrayList<>(lists.size());
            for (SentRead list : lists) {
                answers.add(as(Listing.class, list.answer(from)));
            }
            return Response.of(answers);
        }

        @Override
        @SuppressWarnings("unchecked") // the type that answer() returns
        void take(Response<?> answer) {
            then.accept((Response<List<Response<Listing>>>) answer);
        }

        @Override
        WireRecord.Request onTheWire() {
            List<WireRecord.Part> parts = lists.stream()
                    .map(list -> new WireRecord.Part(WireRecord.Op.GET_CHILDREN, list.of.path()))
                    .toList();
            return onTheWire(WireRecord.Op.MULTI_READ, parts.get(0).path(), false, parts);
        }

        @Override
        public String toString() {
            return lists.toString();
        }
    }

    /** Has the server apply all that the leader has committed. */
    private final class SentSync extends SentRequest {
        private final String path;
        private final Consumer<Response<String>> then;

        SentSync(String path, Consumer<Response<String>> then) {
            this.path = path;
            this.then = then;
        }

        @Override
        void commit() {
            after = leader.tree().zxid();
        }

        @Override
        Response<?> answer(Server from) {
            return Response.of(path);
        }

        @Override
        void take(Response<?> answer) {
            then.accept(as(String.class, answer));
        }

        @Override
        WireRecord.Request onTheWire() {
            return onTheWire(WireRecord.Op.SYNC, path, false, List.of());
        }

        @Override
        public String toString() {
            return "sync " + path;
        }
    }

    /** Removes the watches of a path. Counts as done even if the connection is lost. */
    private final class SentRemoval extends SentRequest {
        private final String path;
        private final Runnable then;

        SentRemoval(String path, Runnable then) {
            this.path = path;
            this.then = then;
        }

        @Override
        Response<?> answer(Server from) {
            for (WatchedPart what : WatchedPart.values()) {
                Watch watch = new Watch(path, what);
                if (armed.remove(watch)) {
                    from.unwatch(SimulatedStore.this, watch);
                }
            }
            return Response.of(path);
        }

        @Override
        void take(Response<?> answer) {
            for (WatchedPart what : WatchedPart.values()) {
                if (registered.remove(new Watch(path, what))) {
                    listener.fired(path, ZnodeStore.Change.WATCH_REMOVED, UNKNOWN_ZXID);
                }
            }
            then.run();
        }

        @Override
        WireRecord.Request onTheWire() {
            return onTheWire(WireRecord.Op.REMOVE_WATCHES, path, false, List.of());
        }

        @Override
        public String toString() {
            return "remove watches of " + path;
        }
    }

    private static final class Ping extends SentRequest {
        @Override
        Response<?> answer(Server from) {
            return Response.of("ping");
        }

        @Override
        void take(Response<?> answer) {}

        @Override
        WireRecord.Request onTheWire() {
            return onTheWire(WireRecord.Op.PING, "", false, List.of());
        }

        @Override
        public String toString() {
            return "ping";
        }
    }

    SimulatedStore(Leader leader, Duration timeout, Listener listener, Executor carrier) {
        this.leader = leader;
        this.carrier = carrier;
        this.timeout = timeout.toNanos();
        this.listener = listener;
        this.time = leader.time().view();
        lastHeard = time.nanos();
    }

    // ---- the client asks

    @Override
    public void create(String path, byte[] data, Consumer<Response<CreatedNode>> then) {
        List<Write> only = List.of(new Write.CreateRequest(path, data));
        send(new SentWrite(only, true, answer -> then.accept(Leader.alone(answer))));
    }

    @Override
    public void write(List<Write> writes, Consumer<Response<TransactionResult>> then) {
        send(new SentWrite(writes, false, then));
    }

    @Override
    public void list(String path, Consumer<Response<Listing>> then) {
        send(new SentRead(
                new Watch(path, WatchedPart.CHILDREN), false, answer -> then.accept(as(Listing.class, answer))));
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
    public void sync(String path, Consumer<Response<String>> then) {
        send(new SentSync(path, then));
    }

    @Override
    public void read(String path, Consumer<Response<NodeData>> then) {
        send(new SentRead(new Watch(path, WatchedPart.DATA), false, answer -> then.accept(as(NodeData.class, answer))));
    }

    @Override
    public void watchData(String path, Consumer<Response<NodeData>> then) {
        send(new SentRead(new Watch(path, WatchedPart.DATA), true, answer -> then.accept(as(NodeData.class, answer))));
    }

    @Override
    public void watchChildren(String path, Consumer<Response<Listing>> then) {
        send(new SentRead(
                new Watch(path, WatchedPart.CHILDREN), true, answer -> then.accept(as(Listing.class, answer))));
    }

    private static <T> Response<T> as(Class<T> type, Response<?> answer) {
        return answer.ok() ? Response.of(type.cast(answer.get())) : Response.failed(answer.code(), answer.detail());
    }

    @Override
    public void removeWatches(String path, Runnable then) {
        send(new SentRemoval(path, then));
    }

    private void send(SentRequest sent) {
        carrier.execute(() -> sendNow(sent));
    }

    private void sendNow(SentRequest sent) {
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
        carrier.execute(() -> closeNow(then));
    }

    private void closeNow(Runnable then) {
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

    @Override
    public long session() {
        return session;
    }

    boolean isUp() {
        return server != null;
    }

    @Nullable
    Server server() {
        return server;
    }

    void refuseWrites(int writes) {
        refusals = writes;
    }

    /** Returns whether the client knows that it has no connection, and may try to connect. */
    boolean seeksConnection() {
        return state == State.DOWN && server == null && !silent && !time.isStill();
    }

    boolean hasRequest() {
        return server != null && state == State.UP && !silent && !outgoing.isEmpty();
    }

    boolean hasMessage() {
        return !silent && !incoming.isEmpty() && !time.isStill();
    }

    Set<Watch> watches() {
        return armed;
    }

    /** Returns the next message. */
    @Nullable
    Message peekMessage() {
        return incoming.peek();
    }

    /** Returns the request that a server would take next. */
    SentRequest peekRequest() {
        return outgoing.element();
    }

    /** Lets the server take the next request. */
    void takeRequest() {
        SentRequest sent = outgoing.remove();
        leader.sessions().touch(session);
        commit(sent);
        taken.add(sent);
        if (!answer()) {
            Objects.requireNonNull(server).answerLater(this);
        }
    }

    private void commit(SentRequest sent) {
        if (refusals > 0 && sent instanceof SentWrite) {
            refusals--;
            sent.refusal = THROTTLED;
        }
        if (sent.refusal.isEmpty()) {
            sent.commit();
        }
    }

    /** Lets the server refuse the next request, as one that throttles. */
    void throttleNextRequest() {
        outgoing.element().refusal = THROTTLED;
        takeRequest();
    }

    /** Lets the server refuse the next request for good. */
    void refuseNextRequest() {
        outgoing.element().refusal = REFUSED;
        takeRequest();
    }

    /** Lets the server deny the next request, as to a client without the right. A transaction names the first write. */
    void denyNextRequest() {
        refuseNextRequest(Status.NO_AUTH, DENIED);
    }

    /** As that of a client beyond a quota. */
    void exceedQuotaOfNextRequest() {
        refuseNextRequest(Status.OTHER, QUOTA);
    }

    private void refuseNextRequest(Status code, String detail) {
        SentRequest next = outgoing.element();
        next.refusal = Optional.of(
                next instanceof SentWrite writing && !writing.alone
                        ? Response.of(
                                new TransactionResult(List.of(), Optional.of(new ZnodeStore.Refusal(0, code, detail))))
                        : Response.failed(code, detail));
        takeRequest();
    }

    /** Lets the client take the next message. */
    void takeMessage() {
        take(incoming.remove());
    }

    /** Lets the client take the response to a ping before all other messages; returns whether there is one. */
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

    /** Answers all requests that can be answered, in order; returns whether no request is left. */
    boolean answer() {
        Server at = server;
        while (at != null && !taken.isEmpty() && taken.peek().after <= at.tree().zxid()) {
            SentRequest sent = taken.remove();
            Response<?> answer = sent.refusal.isPresent() ? sent.refusal.get() : sent.answer(at);
            long seen = sent instanceof Ping ? 0 : at.tree().zxid();
            if (!losing) {
                incoming.add(new Message(seen, answer, sent, () -> {
                    unanswered.remove(sent);
                    sent.take(answer);
                }));
            }
        }
        return taken.isEmpty();
    }

    /** Sends a message that is not a response: the client learns no zxid from it. */
    private void tell(Object what, Runnable delivery) {
        incoming.add(new Message(0, what, null, delivery));
    }

    private void arm(Watch watch, Server at) {
        if (armed.add(watch)) {
            at.watch(this, watch);
        }
    }

    /**
     * Notifies the client of a change at its server, which no longer has the client's watches of {@code parts}; once if
     * it had several.
     */
    void fired(String path, ZnodeStore.Change change, long zxid, WatchedPart... parts) {
        boolean watched = false;
        for (WatchedPart what : parts) {
            watched |= armed.remove(new Watch(path, what));
        }
        if (watched) {
            event(path, change, zxid, parts);
        }
    }

    private void event(String path, ZnodeStore.Change change, long zxid, WatchedPart... fired) {
        if (losing) {
            return;
        }
        tell(new FiredWatch(path, change, zxid), () -> {
            boolean known = false;
            for (WatchedPart what : fired) {
                known |= registered.remove(new Watch(path, what));
            }
            if (known) {
                listener.fired(path, change, zxid);
            }
        });
    }

    // ---- the connection

    /** Breaks the connection: messages in transit to the client are lost, and it notices the loss. */
    void cut() {
        incoming.clear();
        breakOff();
    }

    /** Breaks the connection after the messages in transit to the client. */
    void breakOff() {
        disconnect();
        tell("connection lost", this::lost);
    }

    /** Lets the client treat its session as expired; at the servers it lives on until its timeout. */
    void giveUpSession() {
        disconnect();
        incoming.clear();
        over();
        failAll(Status.SESSION_EXPIRED);
        listener.expired();
    }

    /** Makes the network drop everything without notice. */
    void silence() {
        silent = true;
    }

    /** Restores the network, including what was in transit. */
    void heal() {
        silent = false;
    }

    private void disconnect() {
        losing = false;
        if (server != null) {
            server.detach(this);
            for (Watch watch : armed) {
                server.unwatch(this, watch);
            }
            former = server;
            server = null;
            countLostAnswers();
        }
        armed.clear();
        taken.clear();
        for (SentRequest sent : outgoing) {
            if (sent instanceof SentWrite) {
                ghosts.add(sent);
            }
        }
        outgoing.clear();
    }

    private void countLostAnswers() {
        for (SentRequest sent : unanswered) {
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
        List<SentRequest> all = List.copyOf(unanswered);
        unanswered.clear();
        outgoing.clear();
        Response<?> failure = Response.failed(code, code.name());
        for (SentRequest sent : all) {
            sent.take(failure);
        }
    }

    /** Lets the server execute the next request, and breaks the connection before the response. */
    void loseNextAnswer() {
        losing = true;
        takeRequest();
        breakOff();
    }

    /** Lets a server refuse the connection: all requests since the last attempt fail. */
    void refused() {
        failAll(Status.CONNECTION_LOSS);
        listener.disconnected();
    }

    /** Lets the client try a server. A server that has seen less than the client is refused. */
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
            rearm(to);
        }
    }

    private void attach(Server to) {
        if (former != null && !to.equals(former) && !ghosts.isEmpty()) {
            stuck.computeIfAbsent(former, from -> new ArrayList<>()).addAll(ghosts);
        }
        ghosts.clear();
        for (SentRequest late : Objects.requireNonNullElse(stuck.remove(to), List.<SentRequest>of())) {
            leader.counters().writesOfFormerConnections++;
            commit(late);
        }
        server = to;
        to.attach(this);
        state = State.UP;
        lastSent = time.nanos();
        lastHeard = time.nanos();
        watchTheClock();
        Optional<Attempt> attempt = Optional.of(new Attempt(listener.now(), to.address()));
        tell("connected", () -> listener.connected((int) (timeout / 1_000_000), attempt));
    }

    /** Sets the watches again. Events of changes since the loss of the connection carry no zxid. */
    private void rearm(Server at) {
        if (registered.isEmpty()) {
            return;
        }
        for (Watch watch : new ArrayList<>(registered)) {
            Tree.Node node = at.tree().find(watch.path());
            boolean data = watch.what() == WatchedPart.DATA;
            if (node == null) {
                event(watch.path(), ZnodeStore.Change.DELETED, UNKNOWN_ZXID, WatchedPart.DATA, WatchedPart.CHILDREN);
            } else if ((data ? node.mzxid : node.pzxid) > lastZxid) {
                event(
                        watch.path(),
                        data ? ZnodeStore.Change.DATA : ZnodeStore.Change.CHILDREN,
                        UNKNOWN_ZXID,
                        watch.what());
            } else {
                arm(watch, at);
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
        if (leader.sessions().expiry() == Sessions.Expiry.BY_FORCE) {
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
            sendNow(new Ping());
        } else if (state == State.DOWN && now >= lastHeard + timeout * 4 / 3) {
            giveUpSession();
        }
        if (state != State.OVER) {
            watchTheClock();
        }
    }
}
