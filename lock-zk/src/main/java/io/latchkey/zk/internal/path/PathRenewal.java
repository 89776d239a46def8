// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.path;

import io.latchkey.lock.LockException;
import io.latchkey.zk.internal.acquire.State;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.Queue;
import io.latchkey.zk.internal.session.Connection;
import io.latchkey.zk.internal.session.Lists;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.session.Watches;
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
    private final LockPath path;
    private final List<WithdrawnRequest> withdrawn = new ArrayList<>();
    private Runnable stopWatching = () -> {};
    /** Whether a list is already scheduled for the next connection. */
    private boolean waitsForConnection;

    /**
     * A request that waits for the new path.
     *
     * @param since the transaction that created its node, or an earlier one; 0 if unknown
     */
    private record WithdrawnRequest(QueueMember member, long since) {
        boolean waits() {
            return member.state() == State.RENEWING;
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

    PathRenewal(Session session, LockPath path) {
        this.session = session;
        this.path = path;
    }

    void add(QueueMember member, long since) {
        withdrawn.add(new WithdrawnRequest(member, since));
        if (withdrawn.size() == 1) {
            look();
        }
    }

    private void look() {
        if (isAbandoned()) {
            return;
        }
        session.lists().ask(path.node(), Lists.UNKNOWN_LENGTH, () -> !isAbandoned(), this::watch, answer -> {
            if (answer.ok()) {
                resume(each -> each.hasNewPath(answer.get()));
            }
            // Another list may have been answered in between, or all requests may have ended.
            if (!isAbandoned()) {
                looked(answer);
            }
        });
    }

    /** Watches in the flight of the list. The watch brings a list as well, so either may break the connection. */
    private void watch() {
        stopWatching = session.watches().watchForRelease(path.node(), this);
    }

    private void lookOnceConnected() {
        if (!waitsForConnection) {
            waitsForConnection = true;
            session.connection().whenConnected(() -> {
                waitsForConnection = false;
                look();
            });
        }
    }

    private void looked(Response<ZnodeStore.Listing> answer) {
        if (answer.code() == Status.NO_NODE) {
            renewed();
        } else if (answer.ok() && answer.get().children().isEmpty()) {
            stopWatching.run();
            deletePath();
        } else if (answer.ok()
                && answer.get().children().stream().noneMatch(NodeName::isRevocationNode)
                && Queue.of(answer.get().children()).requests().isEmpty()) {
            cannotRenew("foreign children are under it");
        } else if (answer.code().isDisconnected()) {
            lookOnceConnected();
        } else if (answer.code() == Status.TOO_LONG) {
            failAll(Errors.of(path.shown(), Errors.Purpose.toChange("renew the path"), answer));
        } else if (!answer.ok()) {
            cannotRenew(answer.detail());
        }
    }

    /** Removes requests that have ended, and stops watching if none is left. */
    void removeEnded() {
        withdrawn.removeIf(each -> !each.waits());
        if (withdrawn.isEmpty()) {
            stopWatching.run();
        }
    }

    /** Removes requests that have ended, and returns whether none is left. */
    private boolean isAbandoned() {
        removeEnded();
        return withdrawn.isEmpty();
    }

    void sessionOver() {
        withdrawn.clear();
    }

    private void deletePath() {
        session.connection().write(() -> !isAbandoned(), List.of(new ZnodeStore.Write.Delete(path.node())), answer -> {
            Response<ZnodeStore.TransactionResult> plain = Connection.plain(answer);
            switch (plain.code()) {
                case OK, NO_NODE -> renewed();
                case NOT_EMPTY -> look();
                case CONNECTION_LOSS, READ_ONLY -> lookOnceConnected();
                default -> cannotRenew(plain.detail());
            }
        });
    }

    private void renewed() {
        resume(each -> true);
    }

    private void resume(Predicate<WithdrawnRequest> which) {
        forAll(which, QueueMember::renewed);
    }

    private void cannotRenew(String why) {
        failAll(Errors.cannotRenew(path.shown(), why));
    }

    private void failAll(LockException error) {
        forAll(each -> true, member -> member.fail(error));
    }

    private void forAll(Predicate<WithdrawnRequest> which, Consumer<QueueMember> action) {
        List<WithdrawnRequest> all = withdrawn.stream().filter(which).toList();
        withdrawn.removeAll(all);
        all.forEach(each -> action.accept(each.member()));
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
    public void watchLost(Response<?> why) {
        lookOnceConnected();
    }
}
