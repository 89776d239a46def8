// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.client;

import io.latchkey.zk.internal.acquire.State;
import io.latchkey.zk.internal.events.RequestEvents;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.request.AcquireFuture;
import io.latchkey.zk.internal.request.Request;
import io.latchkey.zk.internal.request.WaitPolicy;
import io.latchkey.zk.internal.request.ZkLease;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A request for permits in the layout of Curator's semaphore. It may be in the queue only while its client also holds a
 * mutex, which is released once the request is granted or has ended: that is how Curator keeps the order. A request
 * that loses the mutex while it waits leaves the queue and acquires the mutex again. Otherwise two of Curator's
 * requests could wait there at the same time, each for the other. Confined to the engine's serial executor, except for
 * {@link #acquire}.
 *
 * <b>Latchkey's own layout.</b> Its requests for permits of the same path are children of the path itself. They do not
 * count the requests here, and these do not count them. So each side creates first and then looks, at every acquire: a
 * request of the own layout lists the path behind its create, and is refused if Curator's {@code leases} is there. A
 * request here lists the path behind its create, and is refused if one of the own layout is there. Whichever node was
 * first, the other side's list is behind both creates and shows it as long as it exists. The request for the mutex
 * looks as well, so that a client with the wrong layout does not leave {@code leases} behind. Curator itself does not
 * look.
 */
public final class CuratorSemaphoreRequest {
    private final ClientCore core;
    private final LockTarget mutex;
    private final LockTarget wanted;
    private final WaitPolicy waitPolicy;
    private final long asked;
    /**
     * Events of the whole request. Its two parts announce only that it is queued, by the first of them that has to
     * wait.
     */
    private final RequestEvents signals;

    private final AcquireFuture outcome;

    private @Nullable Request mutexRequest;
    private @Nullable Request request;
    private boolean abandoned;

    private CuratorSemaphoreRequest(ClientCore core, LockTarget mutex, LockTarget wanted, WaitPolicy waitPolicy) {
        this.core = core;
        this.mutex = mutex;
        this.wanted = wanted;
        this.waitPolicy = waitPolicy;
        this.asked = core.context().time().nanos();
        this.signals = core.context().signalsOf(List.of(wanted));
        this.outcome = new AcquireFuture(core.context(), signals, waitPolicy, this::abandon);
        this.outcome.open();
    }

    /** Acquires {@code wanted} as {@link Engine#acquire} does, while the client holds {@code mutex}. */
    public static AcquireFuture acquire(Engine engine, LockTarget mutex, LockTarget wanted, WaitPolicy waitPolicy) {
        CuratorSemaphoreRequest request = new CuratorSemaphoreRequest(engine.core(), mutex, wanted, waitPolicy);
        request.signals.requested();
        request.core.context().execute(request::start);
        return request.outcome;
    }

    private void start() {
        Request next = part(mutex, true);
        next.looksFor(wanted);
        mutexRequest = next;
        request = null;
        core.begin(next);
        var unused = next.outcome()
                .whenComplete((lease, error) -> core.context().execute(() -> {
                    if (error != null) {
                        outcome.fail(error);
                    } else if (lease.isEmpty()) {
                        outcome.answer(lease);
                    } else {
                        hasMutex(next, lease.get());
                    }
                }));
    }

    private Request part(LockTarget member, boolean tellsQueued) {
        List<LockTarget> members = List.of(member);
        return new Request(core.context(), core, members, remainingWait(), signals.ofPart(members, tellsQueued));
    }

    /** Returns what is left of the caller's time. */
    private WaitPolicy remainingWait() {
        if (waitPolicy instanceof WaitPolicy.AtMost atMost) {
            Duration left = atMost.timeout().minusNanos(core.context().time().nanos() - asked);
            return new WaitPolicy.AtMost(left.isNegative() ? Duration.ZERO : left);
        }
        return waitPolicy;
    }

    private void hasMutex(Request mine, ZkLease lease) {
        if (abandoned) {
            mine.release(ignored -> {});
            outcome.answer(Optional.empty());
            return;
        }
        if (mine.state() != State.HELD) {
            start();
            return;
        }
        // From here on the lease has no owner, and its loss is not reported.
        var unused = lease.handOver();
        Request next = part(wanted, !mine.hasWaited());
        next.looksFor(wanted);
        request = next;
        mine.onceEnded(() -> {
            if (next.state() != State.HELD) {
                next.abandon();
            }
        });
        core.begin(next);
        var unused2 = next.outcome()
                .whenComplete((granted, error) -> core.context().execute(() -> {
                    boolean mutexLost = mine.state() != State.HELD;
                    mine.release(ignored -> {});
                    if (error != null) {
                        outcome.fail(error);
                    } else if (granted.isEmpty() && mutexLost && !abandoned) {
                        start();
                    } else {
                        granted.ifPresent(held -> held.goesTo(signals));
                        outcome.answer(granted);
                    }
                }));
    }

    /** Gives the request up, as its caller no longer waits. */
    private void abandon() {
        abandoned = true;
        if (request != null) {
            request.abandon();
        } else if (mutexRequest != null && mutexRequest.state() != State.HELD) {
            mutexRequest.abandon();
        }
    }
}
