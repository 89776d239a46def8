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
 * Makes room where a path's counter is near its end: waits until nobody is in the queue, deletes the path, and lets the
 * requests that stepped back make it anew. A path is deleted only when it is empty, and then nobody holds
 * (docs/protocol.md, "Counter overflow").
 */
final class PathRenewal implements Watches.Listener {
    private final Session session;
    private final String path;
    private final List<SteppedBack> steppedBack = new ArrayList<>();
    private Runnable stopWatching = () -> {};
    /** The next connection brings one look, however much was lost with the former. */
    private boolean waitsForConnection;

    /**
     * A request that waits.
     *
     * @param since the transaction that made its node, or one before that; 0 if none is known
     */
    private record SteppedBack(QueueMember member, long since) {
        boolean waits() {
            return member.state() == State.DRAINING;
        }

        /**
         * Whether the path was made anew since, by somebody else: a new path is written after all nodes of the former one. Who waited for it
         * to be empty once more might wait forever, and would delete it under those who go on with it. (After a resize the request is told so
         * too; it steps back again.)
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
            // Another look may have been answered meanwhile, or all have given up.
            if (!nobodyWaits()) {
                looked(answer);
            }
        });
    }

    /** In one flight, since the watch brings the children as well: lists are counted once for both. */
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

    /** Somebody's request is over. */
    void forgetThoseGone() {
        if (!idle()) {
            var unused = nobodyWaits();
        }
    }

    /** Forgets those that have given up; if nobody is left, there is nothing to watch. */
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
