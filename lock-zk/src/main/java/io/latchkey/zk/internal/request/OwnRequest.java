// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.request;

import io.latchkey.lock.Diagnosis;
import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.events.RequestEvents;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.validity.ClockReading;
import java.util.List;
import java.util.Optional;

/**
 * A snapshot of a request of this client.
 *
 * @param id the id of its current attempt
 * @param paths the paths of its members, as the ZooKeeper handle sees them
 */
public record OwnRequest(RequestEvents signals, boolean holds, String id, List<LockPath> paths) {
    public Diagnosis.Own toDiagnosis(ClockReading now, boolean waitsForItself) {
        return new Diagnosis.Own(signals.about(), signals.since(now), signals.thread(), waitsForItself);
    }

    /**
     * Returns the request by which the thread that waits for {@code waiting} blocks itself, if there is one.
     *
     * <p>Which thread has a lease is known only of callers that wait. A semaphore may have room beside the permits that
     * the waiter itself holds. At any other path, all requests behind a holder are blocked until that holder releases.
     */
    public static Optional<OwnRequest> heldByCallerOf(
            RequestEvents waiting, List<OwnRequest> all, ClientContext context) {
        List<OwnRequest> held = all.stream()
                .filter(request -> request.holds() && waiting.sameCaller(request.signals()))
                .toList();
        for (LockTarget wanted : waiting.members()) {
            int permits = 0;
            for (OwnRequest one : held) {
                for (LockTarget member : one.signals().members()) {
                    permits += member.path().equals(wanted.path())
                            ? member.recipe().permits()
                            : 0;
                }
                int capacity = context.knownCapacity(wanted.path())
                        .orElse(wanted.recipe().purpose().capacity());
                if (permits > 0 && permits > capacity - wanted.recipe().permits()) {
                    return Optional.of(one);
                }
            }
        }
        return Optional.empty();
    }
}
