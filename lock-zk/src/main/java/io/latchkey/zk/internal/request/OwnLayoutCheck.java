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
 * Looks whether requests of Latchkey's own layout stand at the path of a lock that is asked for in another layout, in which neither
 * would wait for the other. It lists the path in the flight of the create; and again before the grant if the node was not yet known to be
 * there when the answer came, since then that may show a moment before the create.
 */
final class OwnLayoutCheck {
    private final LockTarget lock;
    private final Acquisition machine;
    private final Consumer<LockException> refused;
    private final Runnable confirm;
    /** The attempt behind whose node the path was seen to be free. */
    private String lookedFor = "";
    /** A look at the path is on its way. */
    private boolean looking;

    /**
     * @param refused the request cannot be served
     * @param confirm goes on with the confirmation of a request that may be granted but for this
     */
    OwnLayoutCheck(LockTarget lock, Acquisition machine, Consumer<LockException> refused, Runnable confirm) {
        this.lock = lock;
        this.machine = machine;
        this.refused = refused;
        this.confirm = confirm;
    }

    /** Whether the path was seen to be free in the present attempt. */
    boolean isDone() {
        return lookedFor.equals(machine.id());
    }

    void look(Session session) {
        if (looking) {
            return;
        }
        String attempt = machine.id();
        looking = true;
        session.lists().ask(lock.lock(), () -> isStillPlaced(attempt), answer -> {
            looking = false;
            if (isStillPlaced(attempt)) {
                Optional<LockException> error = errorIn(session, answer);
                if (error.isPresent()) {
                    refused.accept(error.get());
                    return;
                }
                if (answer.ok()) {
                    lookedFor = machine.name(0).isPresent() ? attempt : "";
                }
            }
            if (machine.state() == State.CONFIRMING && answer.ok()) {
                confirm.run();
            } else if (machine.state() == State.CONFIRMING) {
                session.tryAgain(this::confirmStill);
            }
        });
    }

    private Optional<LockException> errorIn(Session session, Response<ZnodeStore.Listing> answer) {
        String shown = session.context().shown(lock.lock());
        if (answer.ok()) {
            Optional<OtherUse> own = answer.get().children().stream()
                    .filter(child -> Namings.LATCHKEY.parse(child).isPresent())
                    .findFirst()
                    .map(Naming::ownLayout);
            own.ifPresent(use -> session.context().usedOtherwise(lock.lock(), use));
            return own.map(use -> Errors.mismatch(shown, lock.recipe().purpose(), use));
        }
        return answer.code() == Status.NO_AUTH
                ? Optional.<LockException>of(Errors.denied(shown, "look for requests of another layout", answer))
                : answer.code() == Status.TOO_LONG
                        ? Optional.<LockException>of(Errors.tooLong(shown, answer))
                        : Optional.empty();
    }

    /** Whether the attempt goes on whose nodes are there or on their way. */
    private boolean isStillPlaced(String attempt) {
        State state = machine.state();
        return machine.id().equals(attempt)
                && (state == State.QUEUED || state == State.CONFIRMING || state == State.ENQUEUEING);
    }

    private void confirmStill() {
        if (machine.state() == State.CONFIRMING && !looking) {
            confirm.run();
        }
    }

    /** No answer of it comes any more. */
    void sessionOver() {
        looking = false;
    }
}
