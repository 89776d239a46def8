// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

import com.google.common.base.Throwables;
import com.google.common.util.concurrent.Uninterruptibles;
import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.ClientClosedException;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LockUnavailableException;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.SessionExpiredException;
import io.latchkey.zk.internal.acquire.State;
import io.latchkey.zk.internal.events.ClientEvents;
import io.latchkey.zk.internal.events.ObserverDispatcher;
import io.latchkey.zk.internal.events.RequestEvents;
import io.latchkey.zk.internal.queue.Naming;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.OtherUse;
import io.latchkey.zk.internal.queue.Owner;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.threads.SerialExecutor;
import io.latchkey.zk.internal.validity.Clock;
import io.latchkey.zk.internal.validity.ClockReading;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One client's machine room: its sessions one after the other, and the requests that live in them. Everything that
 * decides runs on one serial executor without a thread of its own: whichever thread brings an event (ZooKeeper's, the
 * timer's, a caller's) carries it out, unless another is at it, who then takes it along. No step blocks, and none runs
 * a user's code, so that between an event of ZooKeeper and the waiting caller lies one thread hop.
 */
public final class Engine {
    private static final Logger LOG = LoggerFactory.getLogger(Engine.class);
    /** Lanes remember their path's kind; this many are kept when nothing goes on in them. */
    private static final int LANES_TO_KEEP = 10_000;

    /** Of the default tick, two seconds. */
    private static final Duration TWO_THIRDS_OF_A_TICK = Duration.ofMillis(1_334);

    private static final Duration RENEWAL_PAUSE = Duration.ofMillis(500);

    private final SerialExecutor serial;
    private final Config config;
    private final byte[] ownerData;
    private final ClientEvents signals;
    /** Requests that are not over: they wait or hold. */
    private final Set<Request> live = new LinkedHashSet<>();

    /** Of semaphores that were resized. */
    private final Map<String, Integer> capacities = new ConcurrentHashMap<>();

    /** Paths of which the log says that others use them in another way. */
    private final Set<String> usedOtherwise = new HashSet<>(0);

    private final CompletableFuture<@Nullable Void> firstContact = new CompletableFuture<>();

    /** Written on the serial executor. */
    private volatile @Nullable Session session;
    /** Why no request is taken any more. */
    private @Nullable LockException refusal;

    private boolean closing;
    private @Nullable Runnable onceIdle;
    /** Completes when the client has given back all that it had. */
    private final CompletableFuture<@Nullable Void> closed = new CompletableFuture<>();

    /** Where sessions come from. */
    public sealed interface Source {
        /** Opens a new session when the former is over. */
        record Own(Opener opener) implements Source {}

        /** The session of somebody else's handle: when it is over, so is this client. */
        record Borrowed(Opener opener) implements Source {}

        Opener opener();
    }

    /** Makes the port of a new session. */
    @FunctionalInterface
    public interface Opener {
        ZnodeStore open(ZnodeStore.Listener listener) throws IOException;
    }

    /**
     * What a client is made of.
     *
     * @param source where its sessions come from
     * @param sessionTimeout the time-out asked for; the server has the last word
     * @param margin how long a touch may take from a server to the leader; by the time-out if empty
     * @param owner what its requests say of it
     * @param ids random bits for the ids of requests
     * @param time its clocks and timer
     * @param callbacks where users' callbacks run; it neither blocks nor runs them in the submitting thread
     * @param relief where steps go on that would keep a caller's thread for too long
     * @param shown from a node's path to the path as the user named it
     * @param naming how requests are named, and with whom they share paths
     * @param observer who is told of all that happens; closed with the engine
     */
    public record Config(
            Source source,
            Duration sessionTimeout,
            Optional<Duration> margin,
            Owner owner,
            LongSupplier ids,
            Clock time,
            Executor callbacks,
            Executor relief,
            UnaryOperator<String> shown,
            Naming naming,
            Optional<ObserverDispatcher> observer) {
        /** One without an observer, in Latchkey's own layout, whose callers' threads take all steps that come. */
        public Config(
                Source source,
                Duration sessionTimeout,
                Optional<Duration> margin,
                Owner owner,
                LongSupplier ids,
                Clock time,
                Executor callbacks,
                UnaryOperator<String> shown) {
            this(
                    source,
                    sessionTimeout,
                    margin,
                    owner,
                    ids,
                    time,
                    callbacks,
                    Runnable::run,
                    shown,
                    Naming.LATCHKEY,
                    Optional.empty());
        }
    }

    public Engine(Config config) {
        this.config = config;
        this.serial = new SerialExecutor(config.relief());
        this.ownerData = config.owner().data();
        this.signals = new ClientEvents(config.observer(), config.time());
    }

    /** Opens the first session, which connects in the background; throws whatever opening its handle throws, errors too. */
    public void start() throws IOException {
        FutureTask<Boolean> opening = new FutureTask<>(() -> {
            open();
            return true;
        });
        serially(opening);
        try {
            boolean unused = Uninterruptibles.getUninterruptibly(opening);
        } catch (ExecutionException failed) {
            Throwable cause = Objects.requireNonNull(failed.getCause());
            Throwables.throwIfInstanceOf(cause, IOException.class);
            Throwables.throwIfUnchecked(cause);
            throw new IllegalStateException(cause);
        }
    }

    /** On the serial executor, so that no event of the new session is taken before its port is there. */
    private void open() throws IOException {
        Session next = new Session(this);
        next.open(config.source().opener().open(new SessionListener(next)));
        session = next;
    }

    /**
     * Waits for the first connection; says whether there is one within {@code limit}.
     *
     * @throws LockException if there never will be, as after a refused login
     */
    public boolean awaitConnection(Duration limit) throws InterruptedException {
        try {
            firstContact.get(limit.toNanos(), TimeUnit.NANOSECONDS);
            return true;
        } catch (TimeoutException late) {
            return false;
        } catch (ExecutionException refused) {
            throw Errors.toCaller(refused);
        }
    }

    // ---- for the front door, from any thread

    /** A request that is under way; its outcome completes when it is granted, out of time, or refused. */
    public CompletableFuture<Optional<ZkLease>> acquire(List<LockTarget> members, WaitPolicy patience) {
        Request request = new Request(this, members, patience, signalsOf(members));
        request.signals().requested();
        return start(request);
    }

    /** The same for {@code wanted}, which may be asked for only while this client holds {@code turn}. */
    public CompletableFuture<Optional<ZkLease>> acquireGated(LockTarget turn, LockTarget wanted, WaitPolicy patience) {
        CuratorSemaphoreRequest request = new CuratorSemaphoreRequest(this, turn, wanted, patience);
        request.signals().requested();
        serially(request::start);
        return request.outcome();
    }

    /** Starts a request that is not told by itself. */
    CompletableFuture<Optional<ZkLease>> start(Request request) {
        serially(() -> begin(request));
        return request.outcome();
    }

    /** Runs {@code task} on the serial executor. */
    public void serially(Runnable task) {
        serial.execute(task);
    }

    /** Runs a user's callback where it can do no harm. */
    public void callBack(Runnable task) {
        config.callbacks().execute(task);
    }

    /**
     * Whether the current thread is one that has to bring what a blocking call would wait for: the event thread of the
     * ZooKeeper handle, on which a user's own watcher of a borrowed handle runs, or one that is in a step of the engine.
     */
    public boolean wouldWaitForItself() {
        Session present = session;
        return serial.isRunningHere() || (present != null && present.port().answersOn(Thread.currentThread()));
    }

    /**
     * To be called before waiting.
     *
     * @param verb what the caller is about to do
     * @param object to what
     * @throws IllegalStateException if that would never end
     */
    public void checkMayWait(String verb, Object object) {
        if (wouldWaitForItself()) {
            throw new IllegalStateException("Cannot " + verb + " " + object + " on this thread, "
                    + Thread.currentThread().getName()
                    + ": it is the thread that brings ZooKeeper's answers, so the call would wait for itself. Nothing was"
                    + " sent. Use an asynchronous form, or another thread.");
        }
    }

    /** Asks the present session's port, or fails when there is none. */
    public <T> CompletableFuture<T> query(BiConsumer<ZnodeStore, CompletableFuture<T>> question) {
        return inSession((present, answer) -> question.accept(present.port(), answer));
    }

    /** What {@code shape} makes of the requests that are not over. */
    <T> List<T> live(Function<Request, T> shape) {
        checkMayWait("look at", "the requests of this client");
        CompletableFuture<List<T>> all = new CompletableFuture<>();
        serially(() -> all.complete(live.stream().map(shape).toList()));
        return all.join();
    }

    /** Asks the present session on the serial executor, or fails when there is none. */
    public <T> CompletableFuture<T> inSession(BiConsumer<Session, CompletableFuture<T>> question) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        serially(() -> {
            if (refusal != null) {
                answer.completeExceptionally(refusal);
            } else if (session == null || session.isOver()) {
                answer.completeExceptionally(new LockUnavailableException(
                        "There is no ZooKeeper session at the moment: the former is over, a new one is not connected"
                                + " yet. Nothing was changed. Try again.",
                        LockException.Reason.NO_SESSION));
            } else {
                question.accept(session, answer);
            }
        });
        return answer;
    }

    /**
     * Asks in the present session, and waits for the answer, a session time-out at most.
     *
     * @param path the node of the path that it is about
     * @param what what is asked, for errors: "read the queue"
     * @throws LockException if the servers do not answer or refuse, or the thread is interrupted, whose flag stays set
     */
    public <T> T ask(String path, String what, BiConsumer<Session, CompletableFuture<T>> question) {
        checkMayWait(what + " of", shown(path));
        CompletableFuture<T> answer = inSession(question);
        try {
            return answer.get(sessionTimeout().toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new LockUnavailableException(
                    "Interrupted when about to " + what + " of " + shown(path) + ".", LockException.Reason.INTERRUPTED);
        } catch (TimeoutException late) {
            throw Errors.unavailable(shown(path), what);
        } catch (ExecutionException failed) {
            throw Errors.toCaller(failed);
        } finally {
            answer.cancel(false);
        }
    }

    /**
     * Ends the client: waiters are told, leases are lost to their owners, the session is closed; a borrowed one outlives
     * this, so its nodes are deleted first. What is begun here is finished without the caller if the thread is interrupted,
     * or would wait for itself.
     */
    public void close() {
        serially(this::beginToClose);
        if (wouldWaitForItself()) {
            return;
        }
        try {
            closed.get(config.sessionTimeout().toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        } catch (TimeoutException | ExecutionException late) {
            LOG.warn(
                    "The ZooKeeper session is not closed yet, or has nodes that could not be deleted; they go with it",
                    late);
        }
    }

    private void beginToClose() {
        if (closing) {
            return;
        }
        closing = true;
        Session last = session;
        try {
            refuseAll(new ClientClosedException("The lock client is closed. Nothing is held; make a new client."));
            signals.session(LockObserver.SessionState.CLOSED);
        } finally {
            if (last == null || last.isOver() || makesSessions()) {
                giveBack(last);
            } else {
                onceIdle = () -> giveBack(last);
                finishWhenIdle();
            }
        }
    }

    /** The end of a client, which does not wait. */
    private void giveBack(@Nullable Session last) {
        config.time().close();
        config.observer().ifPresent(ObserverDispatcher::close);
        if (last == null) {
            closed.complete(null);
        } else {
            if (!last.isOver()) {
                last.end(ReleaseOutcome.PENDING);
            }
            last.port().close(() -> closed.complete(null));
        }
    }

    /**
     * A closing client gives a borrowed session back once nothing of it is left there. Where creates were lost and have not
     * turned up, that may still change with each new connection, as long as the session lives. Then close() returns, and
     * the closed client listens to the session: it looks at the paths of these creates behind the barrier of each new
     * connection, as an open one does, until the last of them has turned up or the session is over.
     */
    void finishWhenIdle() {
        Session last = session;
        if (onceIdle != null && (last == null || last.isOver() || !last.owes())) {
            if (last != null && last.looksForLostCreates()) {
                config.observer().ifPresent(ObserverDispatcher::close);
                closed.complete(null);
                return;
            }
            Runnable finish = onceIdle;
            onceIdle = null;
            finish.run();
        }
    }

    // ---- on the serial executor

    void begin(Request request) {
        if (refusal != null) {
            request.close(refusal);
            return;
        }
        if (request.state() != State.NEW) {
            return; // its time was up before it began
        }
        live.add(request);
        if (session != null && session.hasConnected() && !session.isOver()) {
            request.begin(session);
        }
    }

    void forget(Request request) {
        live.remove(request);
    }

    private final class SessionListener implements ZnodeStore.Listener {
        private final Session of;

        SessionListener(Session of) {
            this.of = of;
        }

        @Override
        public void connected(int timeoutMillis) {
            serially(() -> {
                if (!of.isOver()) {
                    Engine.this.connected(of, Duration.ofMillis(timeoutMillis));
                }
            });
        }

        @Override
        public void disconnected() {
            serially(() -> {
                if (!of.isOver()) {
                    of.disconnected();
                }
            });
        }

        @Override
        public void expired() {
            serially(() -> sessionOver(of));
        }

        @Override
        public void loginRefused() {
            serially(Engine.this::loginRefused);
        }

        @Override
        public void fired(String path, ZnodeStore.Change change, long zxid) {
            serially(() -> {
                if (!of.isOver()) {
                    of.watches().fired(path, change, zxid);
                }
            });
        }
    }

    private void connected(Session of, Duration timeout) {
        of.connectedWith(timeout);
        firstContact.complete(null);
        SerialExecutor.attemptEach(live, request -> request.begin(of));
    }

    void sessionOver(Session of) {
        if (of.isOver()) {
            return;
        }
        of.end(ReleaseOutcome.LOST);
        signals.session(LockObserver.SessionState.EXPIRED);
        if (refusal != null) {
            finishWhenIdle();
            return;
        }
        SerialExecutor.attemptEach(live, Request::sessionOver);
        if (!makesSessions()) {
            SessionExpiredException gone = new SessionExpiredException(
                    "The session of the borrowed ZooKeeper handle is over. What this client held is lost."
                            + " Make a new handle and a new lock client.");
            refuseAll(gone);
        } else {
            LOG.info("ZooKeeper session is over; opening a new one");
            renew(of);
        }
    }

    /** The former handle is closed beside that, since its server may take its time to answer, or not answer at all. */
    private void renew(Session former) {
        former.port().close(() -> {});
        serially(this::openAnew);
    }

    private void openAnew() {
        if (refusal != null) {
            return;
        }
        try {
            open();
        } catch (Throwable cannot) {
            // Errors too: a lack of threads or memory may pass, and without another attempt no request is served again.
            config.time().after(RENEWAL_PAUSE, () -> serially(this::openAnew));
            LOG.warn("Cannot open a new ZooKeeper session; trying again", cannot);
        }
    }

    void loginRefused() {
        refuseAll(loginRefusal());
    }

    /** What to tell whoever logs in with what the servers do not take. */
    public static AccessDeniedException loginRefusal() {
        return new AccessDeniedException("ZooKeeper refused the login of this client. Nothing is held."
                + " Check scheme and credentials, then make a new client.");
    }

    private void refuseAll(LockException error) {
        refusal = error;
        firstContact.completeExceptionally(error);
        // Waiting requests first, or a holder's end would hand over to a neighbour that is about to be told, too.
        List<Request> holders = new ArrayList<>();
        SerialExecutor.attemptEach(live, request -> {
            if (request.state() == State.HELD) {
                holders.add(request);
            } else {
                request.close(error);
            }
        });
        SerialExecutor.attemptEach(holders, request -> request.close(error));
    }

    // ---- what the rooms below need

    String newId() {
        return HexFormat.of().toHexDigits(config.ids().getAsLong(), NodeName.ID_LENGTH);
    }

    /** How requests are named at all paths of this client, and with whom they share them. */
    public Naming naming() {
        return config.naming();
    }

    ClientEvents signals() {
        return signals;
    }

    /** News of a caller that waits elsewhere for what {@code members} are. */
    RequestEvents signalsOf(List<LockTarget> members) {
        return new RequestEvents(signals, members, shown(members.get(0).lock()));
    }

    public byte[] ownerData() {
        return ownerData;
    }

    /** For a node whose lease has another token than its own number. */
    byte[] ownerDataWith(long token) {
        return config.owner().withToken(token).data();
    }

    Clock time() {
        return config.time();
    }

    public ClockReading now() {
        return ClockReading.of(config.time());
    }

    /** Whether its sessions are its own; a borrowed one was made by somebody else, nobody knows when. */
    boolean makesSessions() {
        return config.source() instanceof Source.Own;
    }

    /** Whether somebody could hold but for a proof that the session has time left; on the serial executor. */
    public boolean awaitsProof() {
        return session != null && session.awaitsProof();
    }

    /** The time-out that was asked for. */
    public Duration sessionTimeout() {
        return config.sessionTimeout();
    }

    /**
     * How long a touch may take from a server to the leader, which asks for touches every half tick. A client does not know the tick;
     * a session has two of them at least, unless a server is set otherwise. A quarter of the time-out leaves nothing to spare in the
     * smallest session, a third a sixth of a tick, for pings and answers that are
     * late. The session is the smallest where the server made it longer than asked for, and may be where it is short.
     */
    Duration margin(Duration sessionTimeout) {
        long nanos = sessionTimeout.toNanos();
        long most = nanos / 3;
        boolean lengthened = makesSessions() && sessionTimeout.compareTo(config.sessionTimeout()) > 0;
        long ours = lengthened ? most : Math.max(nanos / 4, TWO_THIRDS_OF_A_TICK.toNanos());
        return Duration.ofNanos(
                Math.min(most, config.margin().map(Duration::toNanos).orElse(ours)));
    }

    int lanesToKeep() {
        return LANES_TO_KEEP;
    }

    /** What is known of a semaphore's capacity: nothing while it is as declared. */
    Optional<Integer> knownCapacity(String path) {
        return Optional.ofNullable(capacities.get(path));
    }

    public void learn(String path, PathData data) {
        if (data.capacity() == data.declared()) {
            capacities.remove(path);
        } else {
            capacities.put(path, data.capacity());
        }
    }

    /**
     * A list showed that others use the path in another way. Requests that wait or come get an error. A holder may have been there
     * first: the log is what tells its users. On the serial executor.
     */
    public void usedOtherwise(String path, OtherUse otherUse) {
        if (usedOtherwise.size() < LANES_TO_KEEP && usedOtherwise.add(path)) {
            long leases = live.stream()
                    .filter(request -> request.state() == State.HELD && request.isFor(path))
                    .count();
            LOG.warn(Errors.usedTwice(shown(path), leases, otherUse));
        }
    }

    /** The path as the user named it. */
    public String shown(String path) {
        return config.shown().apply(path);
    }
}
