// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.admin;

import io.latchkey.lock.LockException;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.path.ParentNodes;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.OtherUse;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.queue.Queue;
import io.latchkey.zk.internal.session.Connection;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** Reads and changes of a semaphore's capacity. */
public final class SemaphoreCapacity {
    private static final Errors.Purpose READ = Errors.Purpose.toSee("read the capacity");
    private static final Errors.Purpose CHANGE = Errors.Purpose.toChange("change the capacity");

    private final Engine engine;
    private final LockPath path;
    private final PathData asked;

    /**
     * @param asked the expected use of the path
     */
    public SemaphoreCapacity(Engine engine, LockPath path, PathData asked) {
        this.engine = engine;
        this.path = path;
        this.asked = asked;
    }

    /**
     * Returns the capacity at the server, or the declared one if the path does not exist.
     *
     * @throws LockException if the servers do not answer or refuse, or the path has another use
     */
    public int get() throws InterruptedException {
        PathData found = engine.queries().ask(path, READ, (session, then) -> session.connection()
                .read(() -> !then.isDone(), path.node(), answer -> {
                    if (answer.code() == Status.NO_NODE) {
                        then.complete(asked);
                    } else {
                        agreed(READ, answer, then, then::complete);
                    }
                }));
        engine.context().learn(path, found);
        return found.capacity();
    }

    /**
     * Changes the capacity, and creates the path if it does not exist.
     *
     * @throws LockException if the servers do not answer or refuse, or the path has another use
     */
    public void set(int capacity) throws InterruptedException {
        PathData unused = engine.queries().ask(path, CHANGE, (session, then) -> change(session, capacity, then));
    }

    /** Does the same for an asynchronous caller. */
    public CompletableFuture<PathData> setLater(int capacity) {
        return engine.queries().askLater(path, CHANGE, (session, then) -> change(session, capacity, then));
    }

    /** Writes the data that was read, with the new capacity; tries again if another client wrote in between. */
    private void change(Session session, int capacity, CompletableFuture<PathData> then) {
        if (then.isDone()) {
            return; // its caller has gone
        }
        session.connection().read(() -> !then.isDone(), path.node(), answer -> {
            if (answer.code() == Status.NO_NODE) {
                make(session, asked.resized(capacity), then);
                return;
            }
            agreed(CHANGE, answer, then, found -> {
                PathData resized = found.resized(capacity);
                ZnodeStore.Write write = new ZnodeStore.Write.SetData(
                        path.node(), resized.bytes(), answer.get().version());
                unlessUsedOtherwise(session, then, () -> session.connection()
                        .write(
                                () -> !then.isDone(),
                                List.of(write),
                                written -> written(session, written, resized, then)));
            });
        });
    }

    /**
     * Runs {@code then} unless the path's children show another use, as an acquire does: the data of such a path
     * belongs to its users.
     */
    private void unlessUsedOtherwise(Session session, CompletableFuture<?> failing, Runnable then) {
        session.lists().ask(path.node(), () -> !failing.isDone(), answer -> {
            if (failing.isDone()) {
                return;
            }
            List<String> children = answer.ok() ? answer.get().children() : List.of();
            Optional<OtherUse> otherUse = Queue.of(children, asked).otherUse();
            if (otherUse.isPresent()) {
                engine.context().usedOtherwise(path, otherUse.get());
                failing.completeExceptionally(Errors.mismatch(path.shown(), asked, otherUse.get()));
            } else if (answer.ok() || answer.code() == Status.NO_NODE) {
                then.run();
            } else {
                failing.completeExceptionally(Errors.of(path.shown(), CHANGE, answer));
            }
        });
    }

    private void make(Session session, PathData made, CompletableFuture<PathData> then) {
        if (then.isDone()) {
            return;
        }
        List<ZnodeStore.Write> writes = List.of(
                new ZnodeStore.Write.CreatePath(path.node()),
                new ZnodeStore.Write.SetData(path.node(), made.bytes(), 0));
        session.connection().write(() -> !then.isDone(), writes, answer -> {
            if (Connection.plain(answer).code() == Status.NO_NODE) {
                makeLevels(session, made, then);
            } else {
                written(session, answer, made, then);
            }
        });
    }

    private void makeLevels(Session session, PathData made, CompletableFuture<PathData> then) {
        new ParentNodes(session, () -> !then.isDone()).makeAbove(path, answer -> {
            switch (answer.code()) {
                case OK -> make(session, made, then);
                case NO_NODE -> then.completeExceptionally(Errors.noChroot(path.shown()));
                default -> then.completeExceptionally(Errors.of(path.shown(), CHANGE, answer));
            }
        });
    }

    private void written(
            Session session,
            Response<ZnodeStore.TransactionResult> answer,
            PathData written,
            CompletableFuture<PathData> then) {
        Response<ZnodeStore.TransactionResult> plain = Connection.plain(answer);
        switch (plain.code()) {
            case OK -> {
                engine.context().learn(path, written);
                then.complete(written);
            }
            case BAD_VERSION, NO_NODE, NODE_EXISTS -> change(session, written.capacity(), then);
            default -> then.completeExceptionally(Errors.of(path.shown(), CHANGE, plain));
        }
    }

    private void agreed(
            Errors.Purpose purpose,
            Response<ZnodeStore.NodeData> answer,
            CompletableFuture<?> failing,
            Consumer<PathData> then) {
        if (!answer.ok()) {
            failing.completeExceptionally(Errors.of(path.shown(), purpose, answer));
            return;
        }
        byte[] data = answer.get().data();
        // An operator created the path by hand; its first use decides its kind.
        PathData.parse(data.length == 0 ? asked.bytes() : data)
                .filter(asked::agreesWith)
                .ifPresentOrElse(then, () -> failing.completeExceptionally(Errors.mismatch(path.shown(), asked, data)));
    }
}
