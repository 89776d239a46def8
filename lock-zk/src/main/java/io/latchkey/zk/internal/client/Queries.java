// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.client;

import io.latchkey.lock.LockException;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.path.SessionQueues;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.threads.CallerWait;
import io.latchkey.zk.internal.validity.Clock;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Queries of one client in its current session, apart from its requests: the reads and changes of operators. Each gets
 * an answer: an error if there is no session, or if the time for it has passed.
 */
public final class Queries {
    private final ClientContext context;
    private final LiveRequests requests;
    private final Supplier<@Nullable SessionQueues> queues;

    /** Each fails an answer that an asynchronous caller waits for. */
    private final Set<Consumer<LockException>> awaited = new LinkedHashSet<>();

    /**
     * @param requests say whether the client still accepts queries
     * @param queues those of the current session, if there is one
     */
    Queries(ClientContext context, LiveRequests requests, Supplier<@Nullable SessionQueues> queues) {
        this.context = context;
        this.requests = requests;
        this.queues = queues;
    }

    /** Sends a query in the current session on the serial executor, or fails if there is no session. */
    public <T> CompletableFuture<T> inSession(BiConsumer<Session, CompletableFuture<T>> question) {
        CompletableFuture<T> answer = context.answers().next();
        context.execute(() -> {
            SessionQueues present = queues.get();
            if (requests.refusal().isPresent()) {
                answer.completeExceptionally(requests.refusal().get());
            } else if (present == null || present.session().connection().isOver()) {
                answer.completeExceptionally(new LockServiceUnavailableException(
                        "There is no ZooKeeper session at the moment: the former one has ended and a new one is not"
                                + " connected yet. Nothing was changed. Try again.",
                        LockException.Reason.NO_SESSION));
            } else {
                question.accept(present.session(), answer);
            }
        });
        return answer;
    }

    /**
     * Sends a query in the current session for an asynchronous caller. The future also fails when the session ends or
     * the client is closed.
     */
    public <T> CompletableFuture<T> askLater(BiConsumer<Session, CompletableFuture<T>> question) {
        return inSession((session, then) -> {
            Consumer<LockException> fail = then::completeExceptionally;
            awaited.add(fail);
            var unused = then.whenComplete((answer, error) -> context.execute(() -> awaited.remove(fail)));
            question.accept(session, then);
        });
    }

    /**
     * Sends a query in the current session for an asynchronous caller, which gets an answer within a session timeout.
     *
     * @param path the path that is queried
     * @param purpose the action, for error texts
     */
    public <T> CompletableFuture<T> askLater(
            LockPath path, Errors.Purpose purpose, BiConsumer<Session, CompletableFuture<T>> question) {
        CompletableFuture<T> answer = askLater(question);
        Clock.Timer timer = context.clock()
                .after(
                        context.sessionTimeout(),
                        () -> answer.completeExceptionally(Errors.unavailable(path.shown(), purpose)));
        var unused = answer.whenComplete((value, error) -> timer.cancel());
        return answer;
    }

    /**
     * Sends a query in the current session and waits for the response, for a session timeout at most.
     *
     * @param path the path that is queried
     * @param purpose the action, for error texts
     * @throws LockException if the server does not answer or refuses
     */
    public <T> T ask(LockPath path, Errors.Purpose purpose, BiConsumer<Session, CompletableFuture<T>> question)
            throws InterruptedException {
        context.checkMayWait(purpose.what() + " of", path.shown());
        if (Thread.interrupted()) {
            throw new InterruptedException("interrupted in an attempt to " + purpose.what() + " of " + path.shown());
        }
        CompletableFuture<T> answer = askLater(question);
        try {
            if (!CallerWait.await(answer, context.sessionTimeout())) {
                throw Errors.unavailable(path.shown(), purpose);
            }
            return Errors.valueOf(answer);
        } finally {
            answer.cancel(false);
        }
    }

    /**
     * Returns the user's future of what the answers to queries tell together. Its dependent stages run on the callback
     * executor. If the user completes it, the queries end.
     *
     * @param answers the futures of the queries themselves: to cancel a dependent one ends nothing
     */
    public <A, T extends @Nullable Object> CompletableFuture<T> promise(
            List<CompletableFuture<A>> answers, Function<List<A>, T> told) {
        CompletableFuture<T> promise = new CompletableFuture<>();
        CompletableFuture<T> together = CompletableFuture.allOf(answers.toArray(CompletableFuture<?>[]::new))
                .thenApply(done ->
                        told.apply(answers.stream().map(CompletableFuture::join).toList()));
        var unused = together.whenComplete((value, error) -> context.callBack(() -> {
            if (error == null) {
                promise.complete(value);
            } else {
                promise.completeExceptionally(Errors.own(
                        error instanceof CompletionException ? Objects.requireNonNull(error.getCause()) : error));
            }
        }));
        var unused2 = promise.whenComplete((value, error) -> answers.forEach(answer -> answer.cancel(false)));
        return promise;
    }

    /** Fails the answers that asynchronous callers wait for. On the serial executor. */
    void failAwaited(LockException error) {
        List.copyOf(awaited).forEach(fail -> fail.accept(error));
    }
}
