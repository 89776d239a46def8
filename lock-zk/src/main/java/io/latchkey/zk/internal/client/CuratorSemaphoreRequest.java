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
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A request that may stand in its queue only while it is its turn: while its client holds a mutex besides, which it lets
 * go once the request is granted or over. That is how Curator's semaphore keeps order. Whoever loses its turn while it
 * waits leaves the queue and takes another turn: two of Curator's that waited there at once would wait for each other.
 * Confined to the engine's serial executor, but for {@link #acquire}.
 *
 * <p><b>Beside Latchkey's own layout.</b> Its requests for permits of the same path stand under the path itself and count
 * none of these; nor do these count them. So each side creates first and looks then, at every acquire. A request of the
 * own layout lists the path behind its create, and is refused if Curator's {@code leases} is there. Each request here
 * lists the path behind its create, and is refused if one of the own layout is there. Whichever node came first, the
 * other side's list is behind both creates and shows it, as long as it is there. The turn looks as well, so that a client with the wrong
 * layout does not leave {@code leases} behind. Curator itself does not look.
 */
public final class CuratorSemaphoreRequest {
    private final Engine engine;
    private final LockTarget mutex;
    private final LockTarget wanted;
    private final WaitPolicy patience;
    private final long asked;
    /** News of the whole; its two requests tell nothing but that it is queued, by the first of them that has to wait. */
    private final RequestEvents signals;

    private final AcquireFuture outcome;

    private @Nullable Request turn;
    private @Nullable Request request;
    private boolean abandoned;

    private CuratorSemaphoreRequest(Engine engine, LockTarget mutex, LockTarget wanted, WaitPolicy patience) {
        this.engine = engine;
        this.mutex = mutex;
        this.wanted = wanted;
        this.patience = patience;
        this.asked = engine.context().time().nanos();
        this.signals = engine.context().signalsOf(List.of(wanted));
        this.outcome = new AcquireFuture(engine.context(), engine::heldByCallerOf, signals, this::abandon);
    }

    /** As {@link Engine#acquire} for {@code wanted}, which may be asked for only while the client holds {@code mutex}. */
    public static CompletableFuture<Optional<ZkLease>> acquire(
            Engine engine, LockTarget mutex, LockTarget wanted, WaitPolicy patience) {
        CuratorSemaphoreRequest request = new CuratorSemaphoreRequest(engine, mutex, wanted, patience);
        request.signals.requested();
        engine.context().serially(request::start);
        return request.outcome;
    }

    private void start() {
        Request next = part(mutex, true);
        next.looksFor(wanted);
        turn = next;
        request = null;
        engine.begin(next);
        var unused = next.outcome()
                .whenComplete((lease, error) -> engine.context().serially(() -> {
                    if (error != null) {
                        outcome.fail(error);
                    } else if (lease.isEmpty()) {
                        outcome.answer(lease);
                    } else {
                        hasTurn(next, lease.get());
                    }
                }));
    }

    private Request part(LockTarget member, boolean tellsQueued) {
        List<LockTarget> members = List.of(member);
        return new Request(engine.context(), engine, members, patienceLeft(), signals.ofPart(members, tellsQueued));
    }

    /** What is left of the caller's time. */
    private WaitPolicy patienceLeft() {
        if (patience instanceof WaitPolicy.AtMost atMost) {
            Duration left = atMost.timeout().minusNanos(engine.context().time().nanos() - asked);
            return new WaitPolicy.AtMost(left.isNegative() ? Duration.ZERO : left);
        }
        return patience;
    }

    private void hasTurn(Request mine, ZkLease lease) {
        if (abandoned) {
            mine.release(ignored -> {});
            outcome.answer(Optional.empty());
            return;
        }
        if (mine.state() != State.HELD) {
            start();
            return;
        }
        // From here on it is nobody's lease; its loss is no news to anybody.
        var unused = lease.handOver();
        Request next = part(wanted, !mine.hasWaited());
        next.looksFor(wanted);
        request = next;
        mine.onceEnded(() -> {
            if (next.state() != State.HELD) {
                next.abandon();
            }
        });
        engine.begin(next);
        var unused2 = next.outcome()
                .whenComplete((granted, error) -> engine.context().serially(() -> {
                    boolean turnLost = mine.state() != State.HELD;
                    mine.onceEnded(() -> {});
                    mine.release(ignored -> {});
                    if (error != null) {
                        outcome.fail(error);
                    } else if (granted.isEmpty() && turnLost && !abandoned) {
                        start();
                    } else {
                        granted.ifPresent(held -> held.goesTo(signals));
                        outcome.answer(granted);
                    }
                }));
    }

    /** Nobody wants the outcome any more. */
    private void abandon() {
        abandoned = true;
        if (request != null) {
            request.abandon();
        } else if (turn != null && turn.state() != State.HELD) {
            turn.abandon();
        }
    }
}
