// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.client;

import com.google.common.collect.Comparators;
import io.latchkey.lock.ClientClosedException;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.SessionState;
import io.latchkey.zk.internal.context.ClientConfig;
import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.path.SessionQueues;
import io.latchkey.zk.internal.request.Request;
import io.latchkey.zk.internal.threads.CallerWait;
import io.latchkey.zk.internal.threads.ThreadIdentity;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The end of one client: at once, or when its holders have released within a grace. It is complete when the owners of
 * lost leases are notified and the session is closed, or nothing of the client is left in a borrowed one.
 */
final class ClientShutdown {
    /** How long a close waits for the last lines of the log, which a program that ends now would not write. */
    private static final Duration LAST_LINES = Duration.ofMillis(200);

    private final ClientConfig config;
    private final ClientContext context;
    private final LiveRequests requests;
    private final Supplier<@Nullable SessionQueues> queues;

    /** Whether no request is accepted, and holders may finish. */
    private boolean draining;
    /** The number of lost leases whose nodes are not deleted before their owners are notified. */
    private int notices;

    /** Whether a timer runs at whose end {@link #awaitsReleases} is asked again. */
    private boolean willLook;

    private boolean closing;
    /** Whether the handle never had a session: nothing at a server is closed, and an attempt to connect may take long. */
    private volatile boolean isUnconnected;

    private boolean mayCloseSession;
    /** Completes when the client has returned all that it had. */
    private final CompletableFuture<@Nullable Void> closed;

    private final Runnable onReturned;

    /**
     * @param queues those of the last session, if there was one
     * @param closed completes when the client has returned all that it had
     * @param onReturned runs when nothing needs the timer any more
     */
    ClientShutdown(
            ClientConfig config,
            ClientContext context,
            LiveRequests requests,
            Supplier<@Nullable SessionQueues> queues,
            CompletableFuture<@Nullable Void> closed,
            Runnable onReturned) {
        this.config = config;
        this.context = context;
        this.requests = requests;
        this.queues = queues;
        this.closed = closed;
        this.onReturned = onReturned;
    }

    // ---- from any thread

    void close() {
        context.execute(this::begin);
        if (!context.wouldWaitForItself()) {
            awaitClosed(config.sessionTimeout());
        }
    }

    void close(Duration grace) {
        boolean callerHolds = context.held().anyOf(ThreadIdentity.current());
        context.execute(() -> beginToDrain(grace));
        if (!context.wouldWaitForItself() && !context.isInCallback() && !callerHolds) {
            Duration longest = Duration.ofNanos(Long.MAX_VALUE).minus(config.sessionTimeout());
            awaitClosed(Comparators.min(grace, longest).plus(config.sessionTimeout()));
        }
    }

    private void awaitClosed(Duration longest) {
        try {
            if (!isUnconnected && !CallerWait.await(closed, longest)) {
                context.log()
                        .warn(
                                ClientShutdown.class,
                                "The ZooKeeper session is not closed yet, or has nodes that are not deleted yet."
                                        + " They are deleted when it ends.");
            }
            context.log().awaitWritten(LAST_LINES);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    // ---- on the serial executor

    /** Returns whether the client waits for its holders. */
    boolean isDraining() {
        return draining;
    }

    private void beginToDrain(Duration grace) {
        boolean begins = requests.refusal().isEmpty();
        draining |= begins;
        if (!draining || grace.isZero()) {
            begin();
            return;
        }
        var unused = config.time().after(grace, () -> context.execute(this::begin));
        if (begins) {
            List<Request> holders =
                    requests.refuseWaiting(new ClientClosedException("The lock client is closing: it accepts no"
                            + " request, and its leases may be released. Nothing was sent. Create a new client."));
            holders.forEach(Request::askToRelease);
            context.afterEachStep(this::finishWhenIdle);
        }
    }

    /** Begins to close, without a grace or after it. */
    void begin() {
        if (closing) {
            return;
        }
        closing = true;
        draining = false;
        try {
            requests.refuseAll(
                    new ClientClosedException("The lock client is closed and holds no lease. Create a new client."));
        } finally {
            // Later: local turns pass the refusal on to their callers in a task, and the observer hears of that first.
            context.execute(() -> {
                mayCloseSession = true;
                context.afterEachStep(this::finishWhenIdle);
            });
        }
    }

    /** Closes the session and completes the close, without waiting. */
    private void closeSession() {
        end();
        SessionQueues last = queues.get();
        if (last == null) {
            returned();
            return;
        }
        isUnconnected = !last.session().connection().hasConnected();
        if (context.makesSessions()) {
            last.session().connection().store().close(this::returned);
        } else {
            // A borrowed handle may never answer again, and nothing of the client is left there.
            onReturned.run();
            last.session().connection().store().close(() -> closed.complete(null));
        }
    }

    private void returned() {
        onReturned.run();
        closed.complete(null);
    }

    /**
     * Ends the session for good: nothing is sent any more. Also when the servers have refused a login: ZooKeeper's
     * client reports no end then, and nodes in a borrowed session are deleted with it.
     */
    void end() {
        live().ifPresent(last -> last.end(ReleaseOutcome.PENDING));
        announceEnd();
    }

    /** The last event of all: the ends of requests come before, and later requests are not reported. */
    private void announceEnd() {
        context.events().session(SessionState.CLOSED);
    }

    /**
     * Finishes closing once the owners of lost leases are notified and nothing of the client is left in a borrowed
     * session. Begins to close once no request holds, if the client waits for that. Runs after each step from the
     * beginning of the close, so whatever a step ends is noticed.
     *
     * <p>Nodes of lost creates may still appear with each new connection while the session lives. Then close() returns,
     * and the closed client keeps listening to the session. As an open client does, it lists these paths behind the
     * barrier of each new connection, until the last node is found or the session has ended.
     */
    private void finishWhenIdle() {
        Optional<SessionQueues> live = live();
        if (notices > 0 && live.isPresent()) {
            return;
        }
        if (draining) {
            // Nodes of waiting requests, lost leases and lost creates are not waited for, as no server may answer for
            // the whole grace: they go with an own session, and in another one the rest of the close deletes them.
            if (!requests.anyHolds() && live.filter(this::awaitsReleases).isEmpty()) {
                begin();
            }
            return;
        }
        Optional<SessionQueues> borrowed = context.makesSessions() ? Optional.empty() : live;
        if (mayCloseSession && borrowed.filter(SessionQueues::hasPendingWork).isEmpty()) {
            if (borrowed.filter(on -> on.session().looksForLostCreates()).isPresent()) {
                announceEnd();
                closed.complete(null);
                return;
            }
            mayCloseSession = false;
            closeSession();
        }
    }

    /**
     * Returns whether the response to a release is waited for: not past the time at which its lease would be lost. A
     * release that no server can take by then saves other clients little, since the session ends soon.
     */
    private boolean awaitsReleases(SessionQueues on) {
        if (!on.hasPendingReleases()) {
            return false;
        }
        Duration left = on.session().validity().period().remaining();
        if (left.isZero()) {
            return false;
        }
        if (!willLook) {
            willLook = true;
            var unused = config.time().after(left, () -> context.execute(() -> willLook = false));
        }
        return true;
    }

    /** Returns the queues of the present session, if there is one and it has not ended. */
    private Optional<SessionQueues> live() {
        return Optional.ofNullable(queues.get())
                .filter(last -> !last.session().connection().isOver());
    }

    void noticeBegins() {
        notices++;
    }

    void noticeEnds() {
        notices--;
    }
}
