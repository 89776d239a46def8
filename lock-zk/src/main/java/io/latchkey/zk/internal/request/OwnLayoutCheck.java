// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.request;

import io.latchkey.lock.LockException;
import io.latchkey.zk.internal.acquire.Acquisition;
import io.latchkey.zk.internal.acquire.State;
import io.latchkey.zk.internal.queue.Naming;
import io.latchkey.zk.internal.queue.Namings;
import io.latchkey.zk.internal.queue.OtherUse;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A check for requests of Latchkey's own layout at the path of a lock in another layout: neither would wait for the
 * other. It lists the path in the flight of the create. If the node was not yet known to exist when the response came,
 * the list may be older than the create, so the path is listed again before the grant.
 */
final class OwnLayoutCheck {
    private final LockTarget lock;
    private final Acquisition machine;
    private final Consumer<LockException> refused;
    private final Runnable confirm;
    /** The attempt behind whose node the path was found free of such requests. */
    private String lookedFor = "";
    /** Whether a list of the path is pending. */
    private boolean looking;

    /**
     * @param refused fails the request
     * @param confirm continues the confirmation of a request that only waits for this check
     */
    OwnLayoutCheck(LockTarget lock, Acquisition machine, Consumer<LockException> refused, Runnable confirm) {
        this.lock = lock;
        this.machine = machine;
        this.refused = refused;
        this.confirm = confirm;
    }

    /** Returns whether the path was found free of such requests in the current attempt. */
    boolean isDone() {
        return lookedFor.equals(machine.id());
    }

    void look(Session session) {
        if (looking) {
            return;
        }
        String attempt = machine.id();
        looking = true;
        session.lists().ask(lock.lock().node(), () -> machine.state() != State.ENDED, answer -> {
            looking = false;
            // Whatever attempt asked: such requests refuse any. A request that has ended fails no more.
            Optional<LockException> error = errorIn(session, answer);
            if (error.isPresent()) {
                refused.accept(error.get());
            } else if (answer.ok()) {
                lookedFor = machine.name(0).isPresent() ? attempt : "";
                confirmStill();
            } else {
                session.heartbeat().afterBeat(this::confirmStill);
            }
        });
    }

    private Optional<LockException> errorIn(Session session, Response<ZnodeStore.Listing> answer) {
        String displayPath = session.context().displayPath(lock.lock());
        if (answer.ok()) {
            Optional<OtherUse> own = answer.get().children().stream()
                    .filter(child -> Namings.LATCHKEY.parse(child).isPresent())
                    .findFirst()
                    .map(Naming::ownLayout);
            own.ifPresent(use -> session.context().usedOtherwise(lock.lock(), use));
            return own.map(use -> Errors.mismatch(displayPath, lock.recipe().purpose(), use));
        }
        return answer.code() == Status.NO_AUTH
                ? Optional.<LockException>of(Errors.denied(displayPath, "look for requests of another layout", answer))
                : answer.code() == Status.TOO_LONG
                        ? Optional.<LockException>of(Errors.tooLong(displayPath, answer))
                        : Optional.empty();
    }

    private void confirmStill() {
        if (machine.state() == State.CONFIRMING) {
            confirm.run();
        }
    }

    /** Discards a pending list: the response never arrives once the session has ended. */
    void sessionOver() {
        looking = false;
    }
}
