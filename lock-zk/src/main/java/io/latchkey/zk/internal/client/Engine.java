// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.client;

import com.google.common.base.Throwables;
import io.latchkey.lock.ClientClosedException;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.SessionState;
import io.latchkey.zk.internal.context.ClientConfig;
import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.context.HeldLeases;
import io.latchkey.zk.internal.events.ClientEvents;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.request.AcquireFuture;
import io.latchkey.zk.internal.request.OwnRequest;
import io.latchkey.zk.internal.request.WaitPolicy;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.threads.CallerWait;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The engine of one client: its {@link ClientCore core}, and the next one should that fail.
 *
 * <p><b>An unexpected error ends a core.</b> A step that throws, for lack of memory, by a class that is missing, or by
 * a bug, has left the core's state unknown: which requests are in which queue, and which nodes are to be deleted. So
 * nothing of it is used again. The rest of the work needs none of it:
 *
 * <ol>
 *   <li>All its leases are invalid, by one flag; no further step runs.
 *   <li>The owners of the leases are notified, for a twentieth of the session timeout at most. All answers that callers
 *       wait for fail with the error as cause. The error is logged once.
 *   <li>Then the handle goes, and with its session every node. A borrowed handle stays: the nodes that the client knows
 *       are deleted by their paths, and the log names what it may have left.
 * </ol>
 *
 * <p>So no request is granted by a state that is not known, and nothing is held by no one for longer than the session.
 * The next core of a client with sessions of its own begins with an empty state and a new session. If it fails as well
 * before it has granted anything, or if the handle is borrowed, the client is closed with the error, and each call says
 * so.
 */
public final class Engine {
    /** The share of the session timeout that owners have to be notified before the handle is closed. */
    private static final int NOTICE = 20;

    private final ClientConfig config;
    private final ClientEvents events;
    private final ClientContext.CallbackMark callback = new ClientContext.CallbackMark();
    private final CompletableFuture<@Nullable Void> firstContact = new CompletableFuture<>();
    /** Completes when the client has returned all that it had. */
    private final CompletableFuture<@Nullable Void> closed = new CompletableFuture<>();

    private volatile ClientCore core;
    /** The number of cores that still need the timer. A failed one gives its handle back, beside the next one. */
    private final AtomicInteger unreturned = new AtomicInteger(1);
    /** Whether a close has begun. A close reads the core after this write; a failure reads this after a new core. */
    private volatile boolean closing;

    public Engine(ClientConfig config) {
        this.config = config;
        this.events = new ClientEvents(
                config.outbox(),
                config.time(),
                config.sessionTimeout(),
                config.owner().label());
        this.core = newCore(false);
    }

    private ClientCore newCore(boolean behindAFailure) {
        return new ClientCore(
                config, events, callback, firstContact, closed, behindAFailure, this::coreReturned, this::failed);
    }

    /** The timer is the last that ends: a handle that is closed may wait for a thread, and a failed core for owners. */
    private void coreReturned() {
        if (unreturned.decrementAndGet() == 0) {
            config.time().close();
        }
    }

    /** Returns what all parts of the present core share. */
    public ClientContext context() {
        return core.context();
    }

    /** Returns the queries of the client, apart from its requests. */
    public Queries queries() {
        return core.queries();
    }

    ClientCore core() {
        return core;
    }

    /**
     * Opens the first session, which connects in the background. Throws what opening its handle throws, including
     * errors.
     */
    public void start() throws IOException {
        CompletableFuture<@Nullable Void> opening = core.open();
        CallerWait.awaitUninterruptibly(opening);
        try {
            CallerWait.valueOf(opening);
        } catch (ExecutionException failed) {
            Throwable cause = Objects.requireNonNull(failed.getCause());
            Throwables.throwIfInstanceOf(cause, IOException.class);
            Throwables.throwIfUnchecked(cause);
            throw new IllegalStateException(cause);
        }
    }

    /**
     * Waits for the first connection, for {@code limit} at most, and returns whether it was established.
     *
     * @throws LockException if the client can never connect, as after a refused login
     */
    public boolean awaitConnection(Duration limit) throws InterruptedException {
        if (!CallerWait.await(firstContact, limit)) {
            return false;
        }
        Errors.valueOf(firstContact);
        return true;
    }

    /** Starts a request. The returned future completes when it is granted, times out or fails. */
    public AcquireFuture acquire(List<LockTarget> members, WaitPolicy waitPolicy) {
        return core.acquire(members, waitPolicy);
    }

    /**
     * Returns the client's requests that wait or hold.
     *
     * @throws LockException if the engine does not answer within a session timeout, or has failed
     */
    public List<OwnRequest> requests() {
        return core.requests();
    }

    /** Returns the ids of the requests that wait or hold. On the serial executor. */
    public Set<String> ownIds() {
        return core.ownIds();
    }

    /**
     * Closes the client: waiters fail, leases are lost, and the session is closed. A borrowed session outlives the
     * client, so its nodes are deleted first. If the thread is interrupted or would wait for itself, the close
     * completes without it.
     */
    public void close() {
        closing = true;
        core.shutdown().close();
    }

    /**
     * Closes the client once its holders have released, and after {@code grace} at the latest. Waiters fail at once.
     * The close completes without the thread as {@link #close()} does, and also in a callback of this client and in a
     * thread that holds a lease, for which it would wait in vain.
     */
    public void close(Duration grace) {
        closing = true;
        core.shutdown().close(grace);
    }

    /** Runs {@code then} when the client has returned all that it had. */
    public void onceClosed(Runnable then) {
        var unused = closed.thenRun(then);
    }

    // ---- the end of a core

    /** Not in the failed step: its stack and its locks are as unknown as its state. */
    private void failed(ClientCore over, Throwable why) {
        try {
            config.outbox().handles().execute(() -> failStop(over, why));
        } catch (Throwable noRoom) {
            failStop(over, why);
        }
    }

    private void failStop(ClientCore over, Throwable why) {
        boolean goesOn = !closing && over.context().makesSessions() && !over.isUseless();
        attempt(() -> config.outbox()
                .log()
                .error(
                        Engine.class,
                        "Unexpected error in the lock engine; please report it. The leases of this client are lost, and {}.",
                        goesOn ? "it continues with a new session" : "it is closed",
                        why));
        if (goesOn) {
            unreturned.incrementAndGet(); // for the next core, before this one is given back
        }
        CompletableFuture<@Nullable Void> notified = notifyOwners(over.context().held());
        attempt(() -> over.context().answers().failAll(() -> goesOn ? interruptedBy(why) : closedBy(why)));
        var unused = notified.thenRun(
                () -> config.outbox().handles().execute(() -> over.giveBack(goesOn ? () -> {} : this::allIsReturned)));
        attempt(() -> config.time().after(config.sessionTimeout().dividedBy(NOTICE), () -> notified.complete(null)));
        if (goesOn) {
            attempt(() -> events.session(SessionState.EXPIRED));
            try {
                core = newCore(true);
                core.openInBackground();
                if (closing) {
                    core.shutdown().close();
                }
                return;
            } catch (Throwable again) {
                ClientCore last = core;
                attempt(() -> over.context().answers().failAll(() -> closedBy(again)));
                attempt(() -> last.context().answers().failAll(() -> closedBy(again)));
                attempt(last.equals(over) ? this::coreReturned : () -> last.giveBack(() -> {}));
                attempt(this::allIsReturned);
            }
        }
        attempt(() -> firstContact.completeExceptionally(closedBy(why)));
        attempt(() -> events.session(SessionState.CLOSED));
    }

    private void allIsReturned() {
        closed.complete(null);
    }

    private static LockException interruptedBy(Throwable why) {
        LockException error = new LockServiceUnavailableException(
                "An unexpected error ended the session of this lock client: " + why + ". Nothing is held by this call."
                        + " Please report the error. The client continues with a new session: try again.",
                LockException.Reason.CLIENT_FAILED);
        Throwable unused = error.initCause(why);
        return error;
    }

    private static LockException closedBy(Throwable why) {
        LockException error = new ClientClosedException("The lock client is closed, as an unexpected error ended it: "
                + why + ". Nothing is held by this call. Please report the error, and create a new client.");
        Throwable unused = error.initCause(why);
        return error;
    }

    /** First no lease is valid, then each owner is notified. Returns a future that completes when all are. */
    private static CompletableFuture<@Nullable Void> notifyOwners(HeldLeases held) {
        List<HeldLeases.HeldLease> lost = held.all();
        lost.forEach(lease -> {
            if (lease.end(LossCause.CLIENT_FAILED)) {
                attempt(() -> lease.notifyOwner(LossCause.CLIENT_FAILED));
            }
        });
        CompletableFuture<@Nullable Void> notified = new CompletableFuture<>();
        var unused = CompletableFuture.allOf(
                        lost.stream().map(HeldLeases.HeldLease::notified).toArray(CompletableFuture[]::new))
                .thenRun(() -> notified.complete(null));
        return notified;
    }

    /** A failure of one part must not keep the other parts from being done. */
    private static void attempt(Runnable part) {
        try {
            part.run();
        } catch (Throwable again) {
            // The first error is the one that is reported.
        }
    }
}
