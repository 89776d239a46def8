// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.client;

import io.latchkey.lock.LockException;
import io.latchkey.zk.internal.acquire.State;
import io.latchkey.zk.internal.path.SessionQueues;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.request.OwnRequest;
import io.latchkey.zk.internal.request.Request;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one client that wait or hold, and those that have ended but whose callers wait until their nodes are
 * deleted. Confined to the serial executor.
 */
final class LiveRequests {
    private final Set<Request> live = new LinkedHashSet<>();
    private final Consumer<LockException> onRefusal;

    /** The reason why no request is accepted any more. */
    private @Nullable LockException refusal;

    /**
     * @param onRefusal takes the reason when no request is accepted any more, before the requests end
     */
    LiveRequests(Consumer<LockException> onRefusal) {
        this.onRefusal = onRefusal;
    }

    /** Returns the reason why no request is accepted, if none is. */
    Optional<LockException> refusal() {
        return Optional.ofNullable(refusal);
    }

    /** Adds a request that may begin, and returns whether it may. */
    boolean add(Request request) {
        if (refusal != null) {
            request.close(refusal);
            return false;
        }
        // Otherwise its time ran out before it began.
        return request.state() == State.NEW && live.add(request);
    }

    void remove(Request ended) {
        live.remove(ended);
    }

    void begin(SessionQueues queues) {
        List.copyOf(live).forEach(request -> request.begin(queues));
    }

    void sessionOver() {
        List.copyOf(live).forEach(Request::sessionOver);
    }

    /** Accepts no further request, and ends all. */
    void refuseAll(LockException error) {
        refuseWaiting(error).forEach(request -> request.close(error));
    }

    /** Accepts no further request, ends those that wait, and returns those that hold. */
    List<Request> refuseWaiting(LockException error) {
        refusal = error;
        onRefusal.accept(error);
        // Waiting requests end first. Otherwise the end of a holder would grant a neighbour that is about to fail.
        List<Request> holders = new ArrayList<>();
        List.copyOf(live).forEach(request -> {
            if (request.state() == State.HELD) {
                holders.add(request);
            } else {
                request.close(error);
            }
        });
        return holders;
    }

    boolean anyHolds() {
        return live.stream().anyMatch(request -> request.state() == State.HELD);
    }

    long leasesOn(LockPath path) {
        return live.stream()
                .filter(request -> request.state() == State.HELD && request.isFor(path))
                .count();
    }

    /** Returns those that wait or hold. */
    List<OwnRequest> atThisMoment() {
        return live.stream()
                .filter(request -> request.state() != State.ENDED)
                .flatMap(Request::atThisMoment)
                .toList();
    }
}
