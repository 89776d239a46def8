// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

import io.latchkey.testkit.proxy.Fault.HeldFrames;
import io.latchkey.testkit.proxy.FaultPlan.FaultEffect;
import io.latchkey.testkit.proxy.FrameReader.ConnectResponse;
import io.latchkey.testkit.server.ZooKeeperFixture;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.client.ConnectStringParser;

/**
 * Stands between one ZooKeeper client and its servers, understands what passes, keeps a record of it, and does to it
 * what networks do. Give each client a proxy of its own, and {@link #connectString()} in place of the servers'.
 *
 * <p>Each new connection of the client goes to the next of the servers, in the order of the connect string. Faults
 * concern the connections that are there and those that come. They are precise: a request is cut off before a byte of
 * it has reached the server, or after the server has answered it, never in between.
 *
 * <p>Every method may be called from any thread and has taken effect when it returns, unless it says otherwise. One
 * thread runs the whole proxy; it ends at {@link #close()}. Should an exception end it before, all connections and
 * faults end too, and every method that has an effect on them throws an {@link IllegalStateException} with it.
 */
// The class is long because it has a method for each fault, with what each side knows of it then.
public final class FaultProxy implements AutoCloseable {
    private final List<InetSocketAddress> upstreams;
    private final ProxyState state;
    private final AtomicBoolean closed = new AtomicBoolean();

    private FaultProxy(List<InetSocketAddress> upstreams) {
        this.upstreams = upstreams;
        this.state = new ProxyState(upstreams);
    }

    /**
     * Starts a proxy before these servers. They are not asked yet: they may be stopped.
     *
     * @param fixture the servers, of which only the connect string is used
     * @return the proxy, which takes connections; close it
     */
    public static FaultProxy to(ZooKeeperFixture fixture) {
        return to(fixture.connectString());
    }

    /**
     * Starts a proxy before these servers. They are not asked yet: they may be stopped.
     *
     * @param connectString {@code host:port}, several separated by commas; a chroot is ignored, the client brings its
     *     own
     * @return the proxy, which takes connections; close it
     */
    public static FaultProxy to(String connectString) {
        List<InetSocketAddress> unresolved =
                new ConnectStringParser(Objects.requireNonNull(connectString, "connectString")).getServerAddresses();
        List<InetSocketAddress> upstreams = unresolved.stream()
                .map(server -> new InetSocketAddress(server.getHostString(), server.getPort()))
                .toList();
        return new FaultProxy(upstreams);
    }

    /** {@return the port on 127.0.0.1 for the client to connect to; it stays the same} */
    public int port() {
        return state.port();
    }

    /** {@return where the client connects: {@code 127.0.0.1:port}; append a chroot if you need one} */
    public String connectString() {
        return "127.0.0.1:" + port();
    }

    // What passed

    /** {@return all that has passed so far, also before the last fault or reconnect} */
    public Wire wire() {
        return since(new Wire.Mark(0));
    }

    /** {@return the present moment, to look later at what has passed {@linkplain #since since}} */
    public Wire.Mark mark() {
        return state.mark();
    }

    /**
     * {@return what has passed from that moment until now}
     *
     * @param mark a moment of this proxy
     */
    public Wire since(Wire.Mark mark) {
        return state.since(mark);
    }

    /**
     * {@return the id of the session of the last connection that a server has accepted, also if it is over by now;
     * empty before the first}
     */
    public OptionalLong session() {
        ConnectResponse last = state.lastSession();
        return last == null ? OptionalLong.empty() : OptionalLong.of(last.session());
    }

    /**
     * Which session a server created a node for in one transaction. Since a lease of lock-zk has the zxid of its
     * request's creation as token, this tells the session that a token is of.
     *
     * @param zxid the transaction's number, or a {@link io.latchkey.lock.Lease#token}
     * @return the session's id; empty if no answer to such a create came by here
     */
    public OptionalLong sessionThatCreated(long zxid) {
        return state.sessionThatCreated(zxid);
    }

    /** {@return whether the client has a connection to this proxy, regardless of the server behind it} */
    public boolean isConnected() {
        return state.isConnected();
    }

    /**
     * The action runs on the proxy's thread after each connection's beginning or end; it must not block. Takes one
     * action.
     */
    void whenConnectionChanges(Runnable action) {
        state.loop().run(() -> state.whenConnectionChanges(action));
    }

    /**
     * Awaits the n-th request of this sort. Changes nothing.
     *
     * @param match which requests are meant
     * @param number which of them, counted from now: 1 for the next one
     * @return strikes when it has been passed on to the server, most likely before it is answered
     * @throws IllegalArgumentException if the number is below 1
     */
    public Fault sent(RequestMatch match, int number) {
        return arm(match, number, FaultEffect.TELL_SENT, "passing of " + match + " number " + number);
    }

    /**
     * Awaits the answer to the next request of this sort. Changes nothing.
     *
     * @param match which requests are meant
     * @return strikes when the answer has been passed on to the client
     */
    public Fault answered(RequestMatch match) {
        return arm(match, 1, FaultEffect.TELL_ANSWERED, "answer to " + match);
    }

    // Slowness

    /**
     * From now on every frame takes that long in either direction, so that a round trip takes twice as long more.
     *
     * @param eachWay how long, in place of any delay before; zero to end it
     * @throws IllegalArgumentException if it is negative
     */
    public void delay(Duration eachWay) {
        delay(Direction.TO_SERVER, eachWay);
        delay(Direction.TO_CLIENT, eachWay);
    }

    /**
     * From now on every frame in that direction takes that long, up to 0.1 ms longer. Their order stays.
     *
     * @param direction which way
     * @param length how long, in place of any delay before; zero to end it
     * @throws IllegalArgumentException if it is negative
     */
    public void delay(Direction direction, Duration length) {
        if (length.isNegative()) {
            throw new IllegalArgumentException("negative delay: " + length);
        }
        state.loop().run(() -> state.faults(direction).delayNanos = length.toNanos());
    }

    /**
     * Holds back the answers to requests of this sort, from now until the hold is released. The server has done what
     * they ask for; the client does not know. Whatever comes behind a held answer waits with it, but pings.
     *
     * @param match which requests are meant
     * @return the hold, which tells when the first answer was held
     */
    public HeldFrames holdAnswers(RequestMatch match) {
        HeldFrames hold = new HeldFrames("answers to " + match, this::release);
        state.loop().run(() -> state.plan().addAnswerHold(match, hold));
        return hold;
    }

    /**
     * Holds back watch events, from now until the hold is released. Whatever comes behind a held event waits with it,
     * but pings: a client never sees the answer to a later read before the event, with ZooKeeper or here.
     *
     * @return the hold, which tells when the first event was held
     */
    public HeldFrames holdEvents() {
        HeldFrames hold = new HeldFrames("watch events", this::release);
        state.loop().run(() -> state.plan().addEventHold(hold));
        return hold;
    }

    private void release(HeldFrames hold) {
        if (closed.get()) {
            return;
        }
        state.loop().run(() -> {
            state.plan().remove(hold);
            state.drain();
        });
    }

    // Loss

    /**
     * Cuts the client's connection now. The client finds it reset; the server finds it ended after the bytes that it
     * has received. Data on its way is lost. The session stays alive, and ZooKeeper's own client comes back within 2 s:
     * 0.1 s until it tells of the disconnect, up to 1 s more before it connects, another 1 s where it has one server
     * only.
     */
    public void cut() {
        state.loop().run(state::cut);
    }

    /**
     * Cuts the connection in place of the n-th request of this sort, counted from now: the server never gets it. It
     * gets all earlier requests of the client, and no later ones of this connection. Otherwise like {@link #cut()}.
     *
     * @param match which requests are meant
     * @param number which of them: 1 for the next one
     * @return strikes when the connection has been cut
     * @throws IllegalArgumentException if the number is below 1
     */
    public Fault cutBefore(RequestMatch match, int number) {
        return arm(match, number, FaultEffect.CUT_BEFORE, "cut before " + match + " number " + number);
    }

    /**
     * Cuts the connection in place of the answer to the n-th request of this sort, counted from now: the server has
     * done what it asks for, the client does not know. Answers before it still get to the client. Otherwise like
     * {@link #cut()}.
     *
     * @param match which requests are meant
     * @param number which of them: 1 for the next one
     * @return strikes when the connection has been cut
     * @throws IllegalArgumentException if the number is below 1
     */
    public Fault cutAfter(RequestMatch match, int number) {
        return arm(match, number, FaultEffect.CUT_AFTER, "cut after " + match + " number " + number);
    }

    private Fault arm(RequestMatch match, int number, FaultEffect effect, String description) {
        return arm(match, number, effect, KeeperException.Code.OK, description);
    }

    private Fault arm(
            RequestMatch match, int number, FaultEffect effect, KeeperException.Code code, String description) {
        if (number < 1) {
            throw new IllegalArgumentException("the first one is number 1, not " + number);
        }
        Fault fault = new Fault(description);
        state.loop().run(() -> state.plan().add(match, number, effect, code.intValue(), fault));
        return fault;
    }

    // Answers that servers give seldom

    /**
     * Refuses the n-th request of this sort, counted from now, in the server's place: the server never gets it. Its
     * answer comes in order, behind those to earlier requests.
     *
     * @param match which requests are meant
     * @param number which of them: 1 for the next one
     * @param code of the answer, for example {@code THROTTLEDOP}
     * @return strikes when the answer has been passed on to the client
     * @throws IllegalArgumentException if the number is below 1, or the code is {@code OK}
     */
    public Fault refuseRequest(RequestMatch match, int number, KeeperException.Code code) {
        return arm(match, number, FaultEffect.REFUSE, error(code), code + " for " + match + " number " + number);
    }

    /**
     * Replaces the code of the answer to the n-th request of this sort, counted from now: the server has done what it
     * asks for.
     *
     * @param match which requests are meant
     * @param number which of them: 1 for the next one
     * @param code of the answer, for example {@code REQUESTTIMEOUT}
     * @return strikes when the answer has been passed on to the client
     * @throws IllegalArgumentException if the number is below 1, or the code is {@code OK}
     */
    public Fault answerWith(RequestMatch match, int number, KeeperException.Code code) {
        return arm(
                match,
                number,
                FaultEffect.ANSWER_WITH,
                error(code),
                code + " as answer to " + match + " number " + number);
    }

    /** A client would read a result from an answer that has none. */
    private static KeeperException.Code error(KeeperException.Code code) {
        if (code == KeeperException.Code.OK) {
            throw new IllegalArgumentException("the code of an error, not OK");
        }
        return code;
    }

    /**
     * Has the server answer the next connect of the client with a new session, whichever session it asks for, as some
     * servers other than ZooKeeper's do. The former session goes on at the server, without a client.
     *
     * @return strikes when the answer has been passed on to the client
     */
    public Fault giveNewSession() {
        RequestMatch connect = RequestMatch.of("connect", request -> request.op() == WireRecord.Op.CONNECT);
        return arm(connect, 1, FaultEffect.NEW_SESSION, "new session");
    }

    /**
     * From now on resets every new connection at once, until {@link #accept()}. Those that are there stay:
     * {@link #cut()} them.
     */
    public void refuse() {
        state.loop().run(state::refuse);
    }

    /** Takes connections again. The client comes by itself: ZooKeeper's own tries every 0 to 2 s. */
    public void accept() {
        state.loop().run(state::accept);
    }

    /** {@link #blackHole(Direction)} in both directions: the client is cut off from its servers. */
    public void blackHole() {
        blackHole(Direction.TO_SERVER);
        blackHole(Direction.TO_CLIENT);
    }

    /**
     * From now on nothing passes in that direction, without notice to either side, until {@link #heal()}: as in a
     * partition. Not even the end of a connection passes. Nothing is lost either: data on its way arrives after the
     * partition, as with TCP's retransmission, including that of connections that the client has closed since.
     *
     * <p>The client finds out by silence, two thirds of the session's timeout after the last sign of the server; the
     * server ends the session one timeout after the last sign of the client, at its next tick. The client learns of it
     * when it reconnects, or gives up its session by itself after four thirds of the timeout without a server (since
     * ZooKeeper 3.9.3), which proves nothing.
     *
     * @param direction which way nothing gets through; a black hole in the other one stays as it is
     */
    public void blackHole(Direction direction) {
        state.loop().run(() -> {
            state.note("black hole " + direction);
            state.faults(direction).blackHole = true;
        });
    }

    /** Ends the black hole in both directions; data that was held back is sent at once. */
    public void heal() {
        state.loop().run(state::heal);
    }

    // End of the session

    /**
     * Ends the client's session at the server first: a second connection, past this proxy and its faults, takes the
     * session over by its id and password and closes it. Its ephemeral nodes are gone after 2 to 10 ms. The client is
     * disconnected by the server, tells of it after 0.1 s, and learns that its session is over when it has connected
     * again, after 1 to 2 s with ZooKeeper's own client; until then it may believe that it holds what it has lost. This
     * proxy disconnects a client that the server leaves connected in the ended session.
     *
     * @return completes with the session's id when the server has ended it; exceptionally with an
     *     {@link java.io.IOException} if no server could be asked to
     * @throws IllegalStateException if no session has been seen yet
     */
    public CompletableFuture<Long> expireSession() {
        return state.endSession(lastSession());
    }

    /**
     * Makes the client treat its session as ended before the server does: cuts the connection, and answers the next one
     * in the server's place that the session has ended. The server is not involved: the nodes stay until the session's
     * timeout has passed. This is the harmless order; a new request of the client waits behind its own old node.
     *
     * @return completes with the session's id when the client has received that answer, 1 to 2 s later with ZooKeeper's
     *     own client, or when it connects for a new session: since ZooKeeper 3.9.3 it gives up by itself after four
     *     thirds of the timeout without a server, which with timeouts below 2 s may be before it has connected again
     * @throws IllegalStateException if no session has been seen yet
     */
    public CompletableFuture<Long> expireAtClient() {
        return tell(lastSession());
    }

    /**
     * {@link #expireSession()} and {@link #expireAtClient()} for the same session. Two calls would not do: a client
     * that reconnects at once may have its next session before the second.
     *
     * @return completes with the session's id when the server has ended it and the client has learned it
     */
    public CompletableFuture<Long> expireAtBoth() {
        ConnectResponse session = lastSession();
        return tell(session).thenCombine(state.endSession(session), (told, ended) -> ended);
    }

    private CompletableFuture<Long> tell(ConnectResponse session) {
        Fault fault = new Fault("client of session 0x" + Long.toHexString(session.session()) + " told that it is over");
        state.loop().run(() -> {
            state.tellExpired(session.session(), fault);
            state.cut();
        });
        return fault.struck().thenApply(request -> session.session());
    }

    /**
     * Ends every fault that can be ended: heals, accepts, releases held frames, cancels pending faults, and removes
     * delays. Lost data stays lost. Has no effect on a closed proxy.
     */
    public void endFaults() {
        if (!closed.get()) {
            state.loop().run(state::endFaults);
        }
    }

    private ConnectResponse lastSession() {
        ConnectResponse last = state.lastSession();
        if (last == null) {
            throw new IllegalStateException("the client has not connected yet");
        }
        return last;
    }

    /**
     * Ends all connections and the proxy's thread. Faults that have not struck never will. The record of what passed
     * stays.
     *
     * @throws IllegalStateException if the proxy has failed before; it is closed nevertheless
     */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            try {
                state.loop().run(state::close);
            } finally {
                state.loop().close();
            }
        }
    }

    @Override
    public String toString() {
        return "proxy " + port() + " before " + upstreams;
    }

    /** Which way something travels through a {@link FaultProxy}. */
    public enum Direction {
        /** From the client to the server: requests. */
        TO_SERVER,
        /** From the server to the client: answers and watch events. */
        TO_CLIENT
    }
}
