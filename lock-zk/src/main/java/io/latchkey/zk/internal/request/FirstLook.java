// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.request;

import io.latchkey.zk.internal.path.CombinedReads;
import io.latchkey.zk.internal.path.QueueReader;
import io.latchkey.zk.internal.queue.Decision;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * A look at the queues of a request that does not wait, before its nodes are created. Most such requests that find a
 * lock busy are polls of a busy lock, and a look writes nothing.
 *
 * <p>It finds that a request which joined the queues now would have to wait, or that it might not. Only the first is
 * final: otherwise the nodes of the request decide (docs/protocol.md, "A try that looks first").
 */
final class FirstLook {
    /** A number behind those of all other requests. */
    private static final String LAST = "2147483646";

    private final List<QueueEntry> entries;
    private final String id;

    /** The result of a look. */
    enum Result {
        BLOCKED,
        /** No request seems to be in the way, or a create has to show what is wrong. */
        FREE,
        /** The connection was lost. */
        LOST
    }

    FirstLook(List<QueueEntry> entries, String id) {
        this.entries = entries;
        this.id = id;
    }

    void look(Session session, BooleanSupplier wanted, Consumer<Result> then) {
        List<QueueReader> readers =
                entries.stream().map(entry -> entry.sessionQueue().reader()).toList();
        CombinedReads.look(readers, session, wanted, answers -> then.accept(result(answers)));
    }

    private Result result(List<Response<ZnodeStore.Listing>> answers) {
        boolean blocked = false;
        for (int i = 0; i < answers.size(); i++) {
            Response<ZnodeStore.Listing> answer = answers.get(i);
            if (answer.code().isDisconnected()) {
                return Result.LOST;
            }
            QueueEntry entry = entries.get(i);
            boolean waits = answer.ok() && isBlocked(entry, answer.get());
            entry.found(waits);
            blocked |= waits;
        }
        return blocked ? Result.BLOCKED : Result.FREE;
    }

    private boolean isBlocked(QueueEntry entry, ZnodeStore.Listing listing) {
        String child = LockPath.nameOf(entry.prefix(id)) + LAST;
        return entry.sessionQueue()
                .reader()
                .queueWith(child, listing, entry.purpose())
                .filter(queue -> queue.otherUse().isEmpty())
                .flatMap(queue ->
                        queue.withId(id).map(me -> entry.recipe().rule().decide(queue, me)))
                .filter(Decision.Wait.class::isInstance)
                .isPresent();
    }
}
