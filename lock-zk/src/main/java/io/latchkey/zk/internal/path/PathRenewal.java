// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.path;

import io.latchkey.lock.LockException;
import io.latchkey.zk.internal.acquire.State;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.Queue;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.session.Watches;
import io.latchkey.zk.internal.session.Wire;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The renewal of a path whose counter is near its end: waits until the queue is empty, deletes the path, and then lets
 * the withdrawn requests create it again. A path can be deleted only when it is empty, and then it has no holder
 * (docs/protocol.md, "Counter overflow").
 */
final class PathRenewal implements Watches.Listener {
    private final Session session;
    private final String path;
    private final List<SteppedBack> steppedBack = new ArrayList<>();
    private Runnable stopWatching = () -> {};
    /** Whether a list is already scheduled for the next connection. */
    private boolean waitsForConnection;

    /**
     * A request that waits for the new path.
     *
     * @param since the transaction that created its node, or an earlier one; 0 if unknown
     */
    private record SteppedBack(QueueMember member, long since) {
        boolean waits() {
            return member.state() == State.DRAINING;
        }

        /**
         * Returns whether another client has created the path since: a new path is written after all nodes of the
         * former one were created. A request that waited for the new path to be empty might wait forever, and would
         * delete the path while others use it. A resize has the same effect here; the request then withdraws again.
         */
        boolean hasNewPath(ZnodeStore.Listing path) {
            return since != 0 && path.mzxid() > since;
        }
    }

    PathRenewal(Session session, String path) {
        this.session = session;
        this.path = path;
    }

    boolean idle() {
        return steppedBack.isEmpty();
    }

    void await(QueueMember member, long since) {
        steppedBack.add(new SteppedBack(member, since));
        if (steppedBack.size() == 1) {
            look();
        }
    }

    private void look() {
        if (nobodyWaits()) {
            return;
        }
        session.lists().ask(path, () -> !nobodyWaits(), this::watchAndList, answer -> {
            if (answer.ok()) {
                goOn(each -> each.hasNewPath(answer.get()));
            }
            // Another list may have been answered in between, or all requests may have ended.
            if (!nobodyWaits()) {
                looked(answer);
            }
        });
    }

    /** Watches and lists in one flight. The watch brings a list as well; both are counted as one. */
    private void watchAndList(Consumer<Response<ZnodeStore.Listing>> then) {
        stopWatching = session.watches().watchForRelease(path, this);
        session.wire().ask(done -> session.wire().port().list(path, done), then);
    }

    private void lookOnceConnected() {
        if (!waitsForConnection) {
            waitsForConnection = true;
            session.wire().whenConnected(() -> {
                waitsForConnection = false;
                look();
            });
        }
    }

    private void looked(Response<ZnodeStore.Listing> answer) {
        if (answer.code() == Status.NO_NODE) {
            stopWatching.run();
            drained();
        } else if (answer.ok() && answer.get().children().isEmpty()) {
            stopWatching.run();
            deletePath();
        } else if (answer.ok()
                && answer.get().children().stream().noneMatch(NodeName::isEar)
                && Queue.of(answer.get().children()).requests().isEmpty()) {
            stopWatching.run();
            cannotRenew("foreign children are under it");
        } else if (answer.code() == Status.CONNECTION_LOSS || answer.code() == Status.READ_ONLY) {
            lookOnceConnected();
        } else if (answer.code() == Status.TOO_LONG) {
            stopWatching.run();
            failAll(Errors.tooLong(session.context().shown(path), answer));
        } else if (!answer.ok()) {
            stopWatching.run();
            cannotRenew(answer.detail());
        }
    }

    /** Removes requests that have ended. */
    void forgetThoseGone() {
        if (!idle()) {
            var unused = nobodyWaits();
        }
    }

    /** Removes requests that have ended, stops watching if none is left, and returns whether none is left. */
    private boolean nobodyWaits() {
        steppedBack.removeIf(each -> !each.waits());
        if (steppedBack.isEmpty()) {
            stopWatching.run();
        }
        return steppedBack.isEmpty();
    }

    private void deletePath() {
        session.wire().write(List.of(new ZnodeStore.Write.Delete(path)), answer -> {
            switch (Wire.codeOf(answer)) {
                case OK, NO_NODE -> drained();
                case NOT_EMPTY -> look();
                case CONNECTION_LOSS, READ_ONLY -> lookOnceConnected();
                default -> cannotRenew(Wire.plain(answer).detail());
            }
        });
    }

    private void drained() {
        goOn(each -> true);
    }

    private void goOn(Predicate<SteppedBack> which) {
        forAll(which, QueueMember::drained);
    }

    private void cannotRenew(String why) {
        failAll(Errors.cannotRenew(session.context().shown(path), why));
    }

    private void failAll(LockException error) {
        forAll(each -> true, member -> member.fail(error));
    }

    private void forAll(Predicate<SteppedBack> which, Consumer<QueueMember> action) {
        List<SteppedBack> all = steppedBack.stream().filter(which).toList();
        steppedBack.removeAll(all);
        for (SteppedBack each : all) {
            if (each.waits()) {
                action.accept(each.member());
            }
        }
    }

    @Override
    public void released() {
        look();
    }

    @Override
    public void gone() {
        look();
    }

    @Override
    public void childrenChanged() {
        look();
    }

    @Override
    public void blind(Response<?> why) {
        lookOnceConnected();
    }
}
