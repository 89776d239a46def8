// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.client;

import io.latchkey.lock.LockException;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.SessionExpiredException;
import io.latchkey.lock.SessionState;
import io.latchkey.zk.internal.context.ClientConfig;
import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.events.ClientEvents;
import io.latchkey.zk.internal.events.RequestEvents;
import io.latchkey.zk.internal.path.SessionQueues;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.request.AcquireFuture;
import io.latchkey.zk.internal.request.OwnRequest;
import io.latchkey.zk.internal.request.Request;
import io.latchkey.zk.internal.request.WaitPolicy;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.threads.CallerWait;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The core of a client's engine: its sessions, one after another, and the {@link LiveRequests requests} that live in
 * them.
 *
 * <p>All decisions run on a serial executor without a thread of its own: the thread that brings an event (ZooKeeper's,
 * the timer's or a caller's) runs its task, or leaves it to the thread that is already draining the queue. No task
 * blocks, and none runs code that is not the engine's own, so only one change of threads is between a ZooKeeper event
 * and the waiting caller.
 *
 * <p>The class is long because a session is opened, watched, renewed and given back here.
 */
final class ClientCore implements Session.Client, Request.Client {
    private static final Duration RENEWAL_PAUSE = Duration.ofMillis(500);

    private final ClientConfig config;
    private final ClientContext context;
    private final CompletableFuture<@Nullable Void> firstContact;
    /** Whether the core before this one has failed. */
    private final boolean behindAFailure;

    /** Written on the serial executor only. */
    private volatile @Nullable SessionQueues queues;

    /**
     * The handle that was opened last. It is known before the step that hands it to its session, which is dropped if
     * the core fails: whichever comes first, the failure or this, the handle is given back.
     */
    private volatile @Nullable ZnodeStore handle;

    private final Runnable onReturned;
    private final AtomicBoolean isReturned = new AtomicBoolean();

    private final LiveRequests requests = new LiveRequests(this::onRefusal);
    private final Queries queries;
    private final ClientShutdown shutdown;

    /**
     * @param firstContact completes with the first connection of the client
     * @param closed completes when the client has returned all that it had
     * @param behindAFailure whether the core before this one has failed
     * @param onReturned runs once this core needs the timer no more, as it has closed its handle or given it back
     * @param onFailure gets this core and what a step of it has thrown: nothing of it may be used any more; on any
     *     thread, once
     */
    ClientCore(
            ClientConfig config,
            ClientEvents events,
            ClientContext.CallbackMark callback,
            CompletableFuture<@Nullable Void> firstContact,
            CompletableFuture<@Nullable Void> closed,
            boolean behindAFailure,
            Runnable onReturned,
            BiConsumer<ClientCore, Throwable> onFailure) {
        this.config = config;
        this.firstContact = firstContact;
        this.behindAFailure = behindAFailure;
        this.context = new ClientContext(
                config,
                events,
                callback,
                requests::leasesOn,
                this::bringsAnswers,
                unexpected -> onFailure.accept(this, unexpected));
        this.queries = new Queries(context, requests, () -> queues);
        this.onReturned = onReturned;
        this.shutdown = new ClientShutdown(config, context, requests, () -> queues, closed, this::returned);
    }

    ClientContext context() {
        return context;
    }

    Queries queries() {
        return queries;
    }

    ClientShutdown shutdown() {
        return shutdown;
    }

    private boolean bringsAnswers() {
        SessionQueues present = queues;
        return present != null
                && present.session().connection().isOpen()
                && present.session().connection().store().answersOn(Thread.currentThread());
    }

    // ---- opening

    /**
     * Opens a session, not in a step: the constructor of a handle starts threads, logs and reads what users configured.
     * Events that come before the handle is known to the session wait for it.
     *
     * @return completes when the handle is open, or with what opening it has thrown
     */
    CompletableFuture<@Nullable Void> open() {
        SessionQueues next = new SessionQueues(new Session(context, this));
        SessionListener listener = new SessionListener(context, this, next, this::connected);
        CompletableFuture<@Nullable Void> opening = context.answers().<@Nullable Void>next();
        config.outbox().handles().execute(() -> {
            try {
                ZnodeStore opened = config.source().opener().open(listener);
                handle = opened;
                if (context.hasFailed()) {
                    opened.close(() -> {});
                }
                context.execute(() -> {
                    opened(next, opened, listener);
                    opening.complete(null);
                });
            } catch (Throwable cannot) {
                opening.completeExceptionally(cannot);
            }
        });
        return opening;
    }

    private void opened(SessionQueues next, ZnodeStore opened, SessionListener listener) {
        if (requests.refusal().isPresent()) {
            opened.close(() -> {}); // the client was closed in between
            return;
        }
        next.session().open(opened);
        queues = next;
        listener.opened(opened);
    }

    /** Opens a session, and tries again as long as that fails. */
    void openInBackground() {
        try {
            var unused = open().whenComplete((opened, cannot) -> {
                if (cannot != null) {
                    openLater(cannot);
                }
            });
        } catch (Throwable cannot) {
            openLater(cannot);
        }
    }

    /** Also after an error: a lack of threads or memory may pass, and without an attempt no request is served again. */
    private void openLater(Throwable cannot) {
        if (context.hasFailed()) {
            return;
        }
        try {
            context.log().warn(ClientCore.class, "Cannot open a new ZooKeeper session; trying again", cannot);
            config.time().after(RENEWAL_PAUSE, () -> context.execute(this::reopen));
        } catch (Throwable again) {
            context.fail(again);
        }
    }

    private void reopen() {
        if (requests.refusal().isEmpty()) {
            openInBackground();
        }
    }

    // ---- the end by an error, not on the serial executor, which runs nothing any more

    /** Returns whether this core was to replace a failed one, and has granted nothing. */
    boolean isUseless() {
        return behindAFailure && !context.held().hasGranted();
    }

    private void returned() {
        if (isReturned.compareAndSet(false, true)) {
            onReturned.run();
        }
    }

    /** Returns the handle, and runs {@code next}: closes it, or leaves it without nodes of this client. */
    void giveBack(Runnable next) {
        Runnable then = () -> {
            returned();
            next.run();
        };
        ZnodeStore last = handle;
        if (last == null) {
            then.run();
            return;
        }
        if (context.makesSessions()) {
            last.close(then);
            return;
        }
        List<String> maybe = last.nodes().open();
        if (!maybe.isEmpty()) {
            context.log()
                    .warn(
                            ClientCore.class,
                            "This client may leave nodes on the borrowed handle, until its session ends. Their paths"
                                    + " begin like these: {}",
                            maybe);
        }
        for (String node : last.nodes().known()) {
            last.write(List.of(new ZnodeStore.Write.Delete(node)), answer -> {
                if (answer.code().outcome() == Status.Outcome.OPEN) {
                    context.log()
                            .warn(
                                    ClientCore.class,
                                    "The node {} may be left on the borrowed handle, until its session ends ({})",
                                    node,
                                    answer.detail());
                }
            });
        }
        // It may never answer again, and nothing needs the timer any more.
        returned();
        last.close(next);
    }

    // ---- entry points, from any thread

    /** Starts a request. The returned future completes when it is granted, times out or fails. */
    AcquireFuture acquire(List<LockTarget> members, WaitPolicy waitPolicy) {
        RequestEvents events = context.eventsOf(members);
        // Before the timer is set, which may end the request at once.
        events.requested();
        try {
            return start(new Request(context, this, waitPolicy, events));
        } catch (Throwable notBegun) {
            events.failed(notBegun);
            throw notBegun;
        }
    }

    /** Starts a request whose events its caller reports, for a thread that has tried its stack. */
    AcquireFuture start(Request request) {
        context.executeWithRoom(() -> begin(request));
        return request.outcome();
    }

    /** Returns the client's requests that wait or hold. */
    List<OwnRequest> requests() {
        context.checkMayWait("look at", "the requests of this client");
        CompletableFuture<List<OwnRequest>> all = context.answers().next();
        context.execute(() -> all.complete(requests.atThisMoment()));
        if (!CallerWait.awaitUninterruptibly(all, context.sessionTimeout())) {
            boolean unused = all.cancel(false);
            throw new LockServiceUnavailableException("The lock client has not answered within "
                    + context.sessionTimeout().toMillis() + " ms: its threads have no processor time.");
        }
        return Errors.valueOf(all);
    }

    /** Returns the ids of the requests that wait or hold. On the serial executor. */
    Set<String> ownIds() {
        return requests.atThisMoment().stream().map(OwnRequest::id).collect(Collectors.toSet());
    }

    // ---- on the serial executor

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
    }

    @Override
    public void noticeBegins() {
        shutdown.noticeBegins();
    }

    @Override
    public void noticeEnds() {
        shutdown.noticeEnds();
    }

    private void connected(SessionQueues of, Duration timeout, Optional<ZnodeStore.Attempt> attempt) {
        of.session().connectedWith(timeout, attempt);
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
            context.events().session(SessionState.EXPIRED);
        }
        if (requests.refusal().isPresent() && !shutdown.isDraining()) {
            return;
        }
        requests.sessionOver();
        queries.failAwaited(new LockServiceUnavailableException(
                "The ZooKeeper session has ended before the servers answered. A change may have been made or not."
                        + " Try again.",
                LockException.Reason.NO_SESSION));
        if (shutdown.isDraining()) {
            shutdown.begin();
            return;
        }
        if (!context.makesSessions()) {
            SessionExpiredException gone = new SessionExpiredException(
                    "The session of the borrowed ZooKeeper handle has ended. All leases of this client are lost."
                            + " Create a new handle and a new lock client.");
            requests.refuseAll(gone);
        } else {
            context.log().info(ClientCore.class, "The ZooKeeper session has ended; opening a new one");
            // Closed without waiting, since its server may answer late or never.
            of.connection().store().close(() -> {});
            context.execute(this::reopen);
        }
    }

    @Override
    public void loginRefused() {
        requests.refuseAll(Errors.loginRefused());
        // For good: ZooKeeper's client does not connect again. Later: local turns pass the refusal on in a task.
        context.execute(shutdown::end);
    }

    private void onRefusal(LockException error) {
        firstContact.completeExceptionally(error);
        queries.failAwaited(error);
    }
}
