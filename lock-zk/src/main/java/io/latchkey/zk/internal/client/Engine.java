// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.client;

import com.google.common.base.Throwables;
import com.google.common.util.concurrent.Uninterruptibles;
import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.ClientClosedException;
import io.latchkey.lock.Diagnosis;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LockUnavailableException;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.SessionExpiredException;
import io.latchkey.zk.internal.acquire.State;
import io.latchkey.zk.internal.context.ClientConfig;
import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.events.ObserverDispatcher;
import io.latchkey.zk.internal.events.RequestEvents;
import io.latchkey.zk.internal.path.SessionQueues;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.request.OwnRequest;
import io.latchkey.zk.internal.request.Request;
import io.latchkey.zk.internal.request.WaitPolicy;
import io.latchkey.zk.internal.request.ZkLease;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.threads.SerialExecutor;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The engine of one client: its sessions, one after another, and the requests that live in them.
 *
 * <p>All decisions run on a serial executor without a thread of its own: the thread that brings an event (ZooKeeper's,
 * the timer's or a caller's) runs its task, or leaves it to the thread that is already draining the queue. No task
 * blocks, and none runs a user's code, so only one change of threads is between a ZooKeeper event and the waiting
 * caller.
 */
public final class Engine implements Session.Client, Request.Client {
    private static final Logger LOG = LoggerFactory.getLogger(Engine.class);
    private static final Duration RENEWAL_PAUSE = Duration.ofMillis(500);

    private final ClientConfig config;
    private final ClientContext context;
    /** Requests that wait or hold. */
    private final Set<Request> live = new LinkedHashSet<>();

    private final CompletableFuture<@Nullable Void> firstContact = new CompletableFuture<>();

    /** Written on the serial executor only. */
    private volatile @Nullable SessionQueues queues;
    /** The reason why no request is accepted any more. */
    private @Nullable LockException refusal;

    private boolean closing;
    private @Nullable Runnable onceIdle;
    /** Completes when the client has returned all that it had. */
    private final CompletableFuture<@Nullable Void> closed = new CompletableFuture<>();

    public Engine(ClientConfig config) {
        this.config = config;
        this.context = new ClientContext(config, this::leasesOn, this::bringsAnswers);
    }

    /** Returns what all parts of the client share. */
    public ClientContext context() {
        return context;
    }

    private long leasesOn(String path) {
        return live.stream()
                .filter(request -> request.state() == State.HELD && request.isFor(path))
                .count();
    }

    private boolean bringsAnswers() {
        SessionQueues present = queues;
        return present != null && present.session().connection().port().answersOn(Thread.currentThread());
    }

    /**
     * Opens the first session, which connects in the background. Throws what opening its handle throws, including
     * errors.
     */
    public void start() throws IOException {
        FutureTask<Boolean> opening = new FutureTask<>(() -> {
            open();
            return true;
        });
        context.execute(opening);
        try {
            boolean unused = Uninterruptibles.getUninterruptibly(opening);
        } catch (ExecutionException failed) {
            Throwable cause = Objects.requireNonNull(failed.getCause());
            Throwables.throwIfInstanceOf(cause, IOException.class);
            Throwables.throwIfUnchecked(cause);
            throw new IllegalStateException(cause);
        }
    }

    /** Opens a session on the serial executor, so that its events are handled only after its store is set. */
    private void open() throws IOException {
        SessionQueues next = new SessionQueues(new Session(context, this));
        next.session().open(config.source().opener().open(new SessionListener(next)));
        queues = next;
    }

    /**
     * Waits for the first connection, for {@code limit} at most, and returns whether it was established.
     *
     * @throws LockException if the client can never connect, as after a refused login
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

    // ---- entry points, from any thread

    /** Starts a request. The returned future completes when it is granted, times out or fails. */
    public CompletableFuture<Optional<ZkLease>> acquire(List<LockTarget> members, WaitPolicy waitPolicy) {
        Request request = new Request(context, this, members, waitPolicy, context.signalsOf(members));
        request.signals().requested();
        return start(request);
    }

    /** Starts a request whose events its caller reports. */
    CompletableFuture<Optional<ZkLease>> start(Request request) {
        context.execute(() -> begin(request));
        return request.outcome();
    }

    /** Sends a query to the store of the current session, or fails if there is no session. */
    public <T> CompletableFuture<T> query(BiConsumer<ZnodeStore, CompletableFuture<T>> question) {
        return inSession(
                (present, answer) -> question.accept(present.connection().port(), answer));
    }

    /** Returns the client's requests that wait or hold. */
    public List<OwnRequest> requests() {
        context.checkMayWait("look at", "the requests of this client");
        CompletableFuture<List<OwnRequest>> all = new CompletableFuture<>();
        context.execute(
                () -> all.complete(live.stream().map(Request::atThisMoment).toList()));
        return all.join();
    }

    @Override
    public Optional<Diagnosis.Own> heldByCallerOf(RequestEvents waiting) {
        return OwnRequest.heldByCallerOf(waiting, requests(), context)
                .map(held -> held.toDiagnosis(context.now(), false));
    }

    /** Sends a query in the current session on the serial executor, or fails if there is no session. */
    public <T> CompletableFuture<T> inSession(BiConsumer<Session, CompletableFuture<T>> question) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        context.execute(() -> {
            SessionQueues present = queues;
            if (refusal != null) {
                answer.completeExceptionally(refusal);
            } else if (present == null || present.session().connection().isOver()) {
                answer.completeExceptionally(new LockUnavailableException(
                        "There is no ZooKeeper session at the moment: the former one has ended and a new one is not"
                                + " connected yet. Nothing was changed. Try again.",
                        LockException.Reason.NO_SESSION));
            } else {
                question.accept(present.session(), answer);
            }
        });
        return answer;
    }

    /**
     * Sends a query in the current session and waits for the response, for a session timeout at most.
     *
     * @param path the node of the path that is queried
     * @param what the action, for error texts: "read the queue"
     * @throws LockException if the server does not answer or refuses, or if the thread is interrupted; its interrupt
     *     status stays set
     */
    public <T> T ask(String path, String what, BiConsumer<Session, CompletableFuture<T>> question) {
        context.checkMayWait(what + " of", context.displayPath(path));
        CompletableFuture<T> answer = inSession(question);
        try {
            return answer.get(context.sessionTimeout().toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new LockUnavailableException(
                    "Interrupted in an attempt to " + what + " of " + context.displayPath(path) + ".",
                    LockException.Reason.INTERRUPTED);
        } catch (TimeoutException late) {
            throw Errors.unavailable(context.displayPath(path), what);
        } catch (ExecutionException failed) {
            throw Errors.toCaller(failed);
        } finally {
            answer.cancel(false);
        }
    }

    /**
     * Closes the client: waiters fail, leases are lost, and the session is closed. A borrowed session outlives the
     * client, so its nodes are deleted first. If the thread is interrupted or would wait for itself, the close
     * completes without it.
     */
    public void close() {
        context.execute(this::beginToClose);
        if (context.wouldWaitForItself()) {
            return;
        }
        try {
            closed.get(config.sessionTimeout().toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        } catch (TimeoutException | ExecutionException late) {
            LOG.warn(
                    "The ZooKeeper session is not closed yet, or has nodes that are not deleted yet."
                            + " They are deleted when it ends.",
                    late);
        }
    }

    private void beginToClose() {
        if (closing) {
            return;
        }
        closing = true;
        SessionQueues last = queues;
        try {
            refuseAll(new ClientClosedException("The lock client is closed and holds no lease. Create a new client."));
            context.signals().session(LockObserver.SessionState.CLOSED);
        } finally {
            if (last == null || last.session().connection().isOver() || context.makesSessions()) {
                closeSession(last);
            } else {
                onceIdle = () -> closeSession(last);
                finishWhenIdle();
            }
        }
    }

    /** Closes the session and completes the close, without waiting. */
    private void closeSession(@Nullable SessionQueues last) {
        config.time().close();
        config.observer().ifPresent(ObserverDispatcher::close);
        if (last == null) {
            closed.complete(null);
        } else {
            if (!last.session().connection().isOver()) {
                last.end(ReleaseOutcome.PENDING);
            }
            last.session().connection().port().close(() -> closed.complete(null));
        }
    }

    /**
     * Finishes closing once nothing of the client is left in a borrowed session.
     *
     * <p>Nodes of lost creates may still appear with each new connection while the session lives. Then close() returns,
     * and the closed client keeps listening to the session. As an open client does, it lists these paths behind the
     * barrier of each new connection, until the last node is found or the session has ended.
     */
    @Override
    public void finishWhenIdle() {
        SessionQueues last = queues;
        if (onceIdle != null && (last == null || last.session().connection().isOver() || !last.hasPendingDeletions())) {
            if (last != null && last.session().looksForLostCreates()) {
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
            return; // its time ran out before it began
        }
        live.add(request);
        SessionQueues present = queues;
        if (present != null
                && present.session().connection().hasConnected()
                && !present.session().connection().isOver()) {
            request.begin(present);
        }
    }

    @Override
    public void forget(Request request) {
        live.remove(request);
    }

    private final class SessionListener implements ZnodeStore.Listener {
        private final SessionQueues of;

        SessionListener(SessionQueues of) {
            this.of = of;
        }

        @Override
        public void connected(int timeoutMillis) {
            context.execute(() -> {
                if (!of.session().connection().isOver()) {
                    Engine.this.connected(of, Duration.ofMillis(timeoutMillis));
                }
            });
        }

        @Override
        public void disconnected() {
            context.execute(() -> {
                if (!of.session().connection().isOver()) {
                    of.session().disconnected();
                }
            });
        }

        @Override
        public void expired() {
            context.execute(() -> sessionOver(of.session()));
        }

        @Override
        public void loginRefused() {
            context.execute(Engine.this::loginRefused);
        }

        @Override
        public void fired(String path, ZnodeStore.Change change, long zxid) {
            context.execute(() -> {
                if (!of.session().connection().isOver()) {
                    of.session().watches().fired(path, change, zxid);
                }
            });
        }
    }

    private void connected(SessionQueues of, Duration timeout) {
        of.session().connectedWith(timeout);
        firstContact.complete(null);
        SerialExecutor.attemptEach(live, request -> request.begin(of));
    }

    @Override
    public void sessionOver(Session of) {
        SessionQueues ended = queues;
        if (of.connection().isOver() || ended == null || !ended.session().equals(of)) {
            return;
        }
        ended.end(ReleaseOutcome.LOST);
        context.signals().session(LockObserver.SessionState.EXPIRED);
        if (refusal != null) {
            finishWhenIdle();
            return;
        }
        SerialExecutor.attemptEach(live, Request::sessionOver);
        if (!context.makesSessions()) {
            SessionExpiredException gone = new SessionExpiredException(
                    "The session of the borrowed ZooKeeper handle has ended. All leases of this client are lost."
                            + " Create a new handle and a new lock client.");
            refuseAll(gone);
        } else {
            LOG.info("The ZooKeeper session has ended; opening a new one");
            renew(of);
        }
    }

    /** Opens a new session and closes the former handle without waiting, since its server may answer late or never. */
    private void renew(Session former) {
        former.connection().port().close(() -> {});
        context.execute(this::reopen);
    }

    private void reopen() {
        if (refusal != null) {
            return;
        }
        try {
            open();
        } catch (Throwable cannot) {
            // Includes errors: a lack of threads or memory may pass, and without another attempt no request is served
            // again.
            config.time().after(RENEWAL_PAUSE, () -> context.execute(this::reopen));
            LOG.warn("Cannot open a new ZooKeeper session; trying again", cannot);
        }
    }

    @Override
    public void loginRefused() {
        refuseAll(loginRefusal());
    }

    /** Returns the error for a client whose login the servers refuse. */
    public static AccessDeniedException loginRefusal() {
        return new AccessDeniedException("ZooKeeper refused the login of this client. The client holds no lease."
                + " Check scheme and credentials, then create a new client.");
    }

    private void refuseAll(LockException error) {
        refusal = error;
        firstContact.completeExceptionally(error);
        // Waiting requests end first. Otherwise the end of a holder would grant a neighbour that is about to fail.
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

    /**
     * Returns whether a request only waits for a proof that the validity period has not ended. On the serial executor.
     */
    public boolean awaitsProof() {
        SessionQueues present = queues;
        return present != null && present.session().heartbeat().awaitsProof();
    }
}
