// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.client;

import com.google.common.base.Throwables;
import com.google.common.util.concurrent.Uninterruptibles;
import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.Diagnosis;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LockUnavailableException;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.SessionExpiredException;
import io.latchkey.zk.internal.context.ClientConfig;
import io.latchkey.zk.internal.context.ClientContext;
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
import io.latchkey.zk.internal.validity.ClockReading;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The engine of one client: its sessions, one after another, and the {@link LiveRequests requests} that live in them.
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
    private final CompletableFuture<@Nullable Void> firstContact = new CompletableFuture<>();

    /** Written on the serial executor only. */
    private volatile @Nullable SessionQueues queues;

    private final LiveRequests requests = new LiveRequests(this::onRefusal);
    private final Queries queries;
    private final Closing closing;

    public Engine(ClientConfig config) {
        this.config = config;
        this.context = new ClientContext(config, requests::leasesOn, this::bringsAnswers);
        this.queries = new Queries(context, requests, () -> queues);
        this.closing = new Closing(config, context, requests, () -> queues);
    }

    /** Returns what all parts of the client share. */
    public ClientContext context() {
        return context;
    }

    /** Returns the queries of the client, apart from its requests. */
    public Queries queries() {
        return queries;
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
        RequestEvents signals = context.signalsOf(members);
        // Before the timer is set, which may end the request at once.
        signals.requested();
        return start(new Request(context, this, members, waitPolicy, signals));
    }

    /** Starts a request whose events its caller reports. */
    CompletableFuture<Optional<ZkLease>> start(Request request) {
        context.execute(() -> begin(request));
        return request.outcome();
    }

    /** Returns the client's requests that wait or hold. */
    public List<OwnRequest> requests() {
        context.checkMayWait("look at", "the requests of this client");
        CompletableFuture<List<OwnRequest>> all = new CompletableFuture<>();
        context.execute(() -> all.complete(requests.atThisMoment()));
        return all.join();
    }

    @Override
    public Optional<Diagnosis.Own> heldByCallerOf(RequestEvents waiting) {
        return OwnRequest.heldByCallerOf(waiting, requests(), context)
                .map(held -> held.toDiagnosis(context.now(), false));
    }

    /** Returns the ids of the requests that wait or hold. On the serial executor. */
    public Set<String> ownIds() {
        return requests.atThisMoment().stream().map(OwnRequest::id).collect(Collectors.toSet());
    }

    /**
     * Closes the client: waiters fail, leases are lost, and the session is closed. A borrowed session outlives the
     * client, so its nodes are deleted first. If the thread is interrupted or would wait for itself, the close
     * completes without it.
     */
    public void close() {
        closing.close();
    }

    /**
     * Closes the client once its holders have released, and after {@code grace} at the latest. Waiters fail at once.
     * The close completes without the thread as {@link #close()} does, and also in a callback of this client and in a
     * thread that holds a lease, for which it would wait in vain.
     */
    public void close(Duration grace) {
        closing.close(grace);
    }

    /** Runs {@code then} when the client has returned all that it had. */
    public void onceClosed(Runnable then) {
        closing.onceClosed(then);
    }

    // ---- on the serial executor

    @Override
    public void finishWhenIdle() {
        closing.finishWhenIdle();
    }

    void begin(Request request) {
        if (!requests.add(request)) {
            return;
        }
        SessionQueues present = queues;
        if (present != null
                && present.session().connection().hasConnected()
                && !present.session().connection().isOver()) {
            request.begin(present);
        }
    }

    @Override
    public void forget(Request request) {
        requests.remove(request);
        if (closing.isDraining()) {
            context.execute(closing::finishWhenIdle);
        }
    }

    @Override
    public void noticeBegins() {
        closing.noticeBegins();
    }

    @Override
    public void noticeEnds() {
        closing.noticeEnds();
    }

    private final class SessionListener implements ZnodeStore.Listener {
        private final SessionQueues of;

        SessionListener(SessionQueues of) {
            this.of = of;
        }

        @Override
        public ClockReading now() {
            return context.now();
        }

        @Override
        public void connected(int timeoutMillis, Optional<ClockReading> attempted) {
            unlessOver(() -> Engine.this.connected(of, Duration.ofMillis(timeoutMillis), attempted));
        }

        @Override
        public void disconnected() {
            unlessOver(() -> of.session().disconnected());
        }

        @Override
        public void expired() {
            context.execute(() -> sessionOver(of.session()));
        }

        @Override
        public void loginRefused() {
            unlessOver(Engine.this::loginRefused);
        }

        @Override
        public void fired(String path, ZnodeStore.Change change, long zxid) {
            unlessOver(() -> of.session().watches().fired(path, change, zxid));
        }

        /** The handle of a session that is over may report more. */
        private void unlessOver(Runnable task) {
            context.execute(() -> {
                if (!of.session().connection().isOver()) {
                    task.run();
                }
            });
        }
    }

    private void connected(SessionQueues of, Duration timeout, Optional<ClockReading> attempted) {
        of.session().connectedWith(timeout, attempted);
        firstContact.complete(null);
        requests.begin(of);
    }

    @Override
    public void sessionOver(Session of) {
        SessionQueues ended = queues;
        if (of.connection().isOver() || ended == null || !ended.session().equals(of)) {
            return;
        }
        ended.end(ReleaseOutcome.LOST);
        if (of.connection().hasConnected()) {
            context.signals().session(LockObserver.SessionState.EXPIRED);
        }
        if (requests.refusal().isPresent() && !closing.isDraining()) {
            closing.finishWhenIdle();
            return;
        }
        requests.sessionOver();
        queries.failAwaited(new LockUnavailableException(
                "The ZooKeeper session has ended before the servers answered. A change may have been made or not."
                        + " Try again.",
                LockException.Reason.NO_SESSION));
        if (closing.isDraining()) {
            closing.begin();
            return;
        }
        if (!context.makesSessions()) {
            SessionExpiredException gone = new SessionExpiredException(
                    "The session of the borrowed ZooKeeper handle has ended. All leases of this client are lost."
                            + " Create a new handle and a new lock client.");
            requests.refuseAll(gone);
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
        if (requests.refusal().isPresent()) {
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
        requests.refuseAll(loginRefusal());
        // For good: ZooKeeper's client does not connect again. Later: local turns pass the refusal on in a task.
        context.execute(closing::loginRefused);
    }

    /** Returns the error for a client whose login the servers refuse. */
    public static AccessDeniedException loginRefusal() {
        return new AccessDeniedException("ZooKeeper refused the login of this client. The client holds no lease."
                + " Check scheme and credentials, then create a new client.");
    }

    private void onRefusal(LockException error) {
        firstContact.completeExceptionally(error);
        queries.failAwaited(error);
    }
}
