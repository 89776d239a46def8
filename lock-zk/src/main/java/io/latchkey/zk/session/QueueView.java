package io.latchkey.zk.session;

import io.latchkey.lock.Contender;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockUnavailableException;
import io.latchkey.zk.queue.Decision;
import io.latchkey.zk.queue.NodeName;
import io.latchkey.zk.queue.Owner;
import io.latchkey.zk.queue.Queue;
import io.latchkey.zk.recipe.Recipe;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Reads who holds and who waits at one path, for people: the list and then every node, in two flights. */
public final class QueueView {
    private final Engine engine;
    private final Recipe recipe;
    private final String path;

    public QueueView(Engine engine, Recipe recipe, String path) {
        this.engine = engine;
        this.recipe = recipe;
        this.path = path;
    }

    /**
     * The queue as the server knew it a moment ago; requests that went meanwhile are left out.
     *
     * @throws LockException if the servers do not answer or refuse
     */
    public List<Contender> read() {
        CompletableFuture<List<Contender>> answer =
                engine.query((port, then) -> port.list(path, listing -> listed(port, listing, then)));
        try {
            return answer.get(engine.sessionTimeout().toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new LockUnavailableException("Interrupted while reading the queue of " + engine.shown(path) + ".");
        } catch (TimeoutException late) {
            throw unavailable();
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof LockException error) {
                throw error;
            }
            throw new IllegalStateException(failed.getCause());
        }
    }

    private LockUnavailableException unavailable() {
        return new LockUnavailableException("No answer from the ZooKeeper servers while reading the queue of "
                + engine.shown(path) + ". Nothing was changed. Try again.");
    }

    private void listed(ZooPort port, Answer<ZooPort.Listing> listing, CompletableFuture<List<Contender>> then) {
        if (listing.code() == Code.NO_NODE) {
            then.complete(List.of());
            return;
        }
        if (!listing.ok()) {
            fail(listing, then);
            return;
        }
        Queue queue = Queue.of(listing.get().children());
        if (queue.requests().isEmpty()) {
            then.complete(List.of());
            return;
        }
        List<@Nullable Contender> found = new ArrayList<>();
        int last = queue.requests().size() - 1;
        for (int i = 0; i <= last; i++) {
            int index = i;
            NodeName name = queue.requests().get(i);
            found.add(null);
            port.read(path + '/' + name.text(), answer -> {
                if (answer.ok()) {
                    found.set(index, contender(queue, name, answer.get()));
                } else if (answer.code() != Code.NO_NODE && answer.code() != Code.NO_AUTH) {
                    fail(answer, then);
                } else if (answer.code() == Code.NO_AUTH) {
                    found.set(index, contender(queue, name, new ZooPort.NodeData(new byte[0], 0, 0, 0, 0)));
                }
                if (index == last) {
                    then.complete(found.stream()
                            .<Contender>mapMulti((contender, next) -> {
                                if (contender != null) {
                                    next.accept(contender);
                                }
                            })
                            .toList());
                }
            });
        }
    }

    private void fail(Answer<?> answer, CompletableFuture<List<Contender>> then) {
        then.completeExceptionally(
                switch (answer.code()) {
                    case NO_AUTH -> Errors.denied(engine.shown(path), "read the queue", answer);
                    case CONNECTION_LOSS, SESSION_EXPIRED, READ_ONLY -> unavailable();
                    default -> Errors.refused(engine.shown(path), answer);
                });
    }

    private Contender contender(Queue queue, NodeName name, ZooPort.NodeData data) {
        Owner owner = Owner.parse(data.data());
        boolean holds = recipe.rule().decide(queue, name) instanceof Decision.Hold;
        return new Contender(
                holds ? Contender.Standing.HOLDS : Contender.Standing.WAITS,
                owner.label(),
                owner.host(),
                owner.processId(),
                Instant.ofEpochMilli(data.ctimeMillis()),
                data.czxid(),
                name.permits());
    }
}
