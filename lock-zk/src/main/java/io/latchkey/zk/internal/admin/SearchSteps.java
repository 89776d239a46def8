// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.admin;

import io.latchkey.lock.LockException;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.session.Connection;
import io.latchkey.zk.internal.session.ReadsInTurn;
import io.latchkey.zk.internal.session.RestartableTimer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The steps of a search, of which a limited number is begun at a time. Each has few requests on the wire: it reads long
 * queues {@linkplain ReadsInTurn in turn}. So heartbeats do not wait behind thousands. Confined to the serial
 * executor.
 */
final class SearchSteps {
    /** Each path before those below it, siblings in alphabetical order: no path contains the character zero. */
    static final Comparator<String> PARENTS_FIRST = Comparator.comparing(path -> path.replace('/', '\0'));

    private static final int MOST_AT_A_TIME = 100;

    private final ClientContext context;
    private final Connection connection;
    private final boolean waitsLonger;
    private final Search search;
    private final RestartableTimer silence;

    private final Deque<Step> next = new ArrayDeque<>();
    private final Set<Step> asked = new LinkedHashSet<>();
    /** The steps that were lost with their connection, and are asked again. */
    private final Deque<Step> lost = new ArrayDeque<>();

    /**
     * A step of a search. It gets an action on the search, which is carried out on the serial executor, or an error.
     *
     * @param node the node that is missing from the result if the step fails
     * @param otherwise the action if it fails
     */
    record Step(String node, Supplier<CompletableFuture<Runnable>> ask, Runnable otherwise) {
        Step(String node, Supplier<CompletableFuture<Runnable>> ask) {
            this(node, ask, () -> {});
        }
    }

    /** The search whose steps these are. */
    interface Search {
        /** Returns whether it needs no more answers. */
        boolean isOver();

        /** Leaves the node out of the result. */
        void omit(String node, LockException why);

        /** No step is left, or no server answers. */
        void end();
    }

    /**
     * @param waitsLonger whether each answer gives the servers another session timeout
     */
    SearchSteps(ClientContext context, Connection connection, boolean waitsLonger, Search search) {
        this.context = context;
        this.connection = connection;
        this.waitsLonger = waitsLonger;
        this.search = search;
        this.silence = new RestartableTimer(context, this::unanswered);
    }

    void add(Step step) {
        next.add(step);
    }

    /** Begins, and ends if no server answers for {@code patience}. */
    void begin(Duration patience) {
        silence.set(patience);
        goOn();
    }

    /**
     * Sends the next steps. Steps that were lost are sent again one at a time: if the connection is lost again, it is
     * because of that one.
     */
    private void goOn() {
        while (!next.isEmpty() && lost.isEmpty() && asked.size() < MOST_AT_A_TIME) {
            send(next.remove(), false);
        }
        if (asked.isEmpty() && !lost.isEmpty()) {
            send(lost.remove(), true);
        }
        if (asked.isEmpty()) {
            end();
        }
    }

    private void send(Step step, boolean again) {
        asked.add(step);
        connection.whenConnected(() -> {
            var unused = step.ask()
                    .get()
                    .whenComplete((action, error) -> context.execute(() -> answered(step, again, action, error)));
        });
    }

    /** A server has answered. */
    void heard() {
        if (waitsLonger && !search.isOver()) {
            silence.set(context.sessionTimeout());
        }
    }

    private void answered(Step step, boolean again, @Nullable Runnable action, @Nullable Throwable error) {
        if (search.isOver()) {
            silence.cancel();
            return;
        }
        asked.remove(step);
        Throwable why = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        if (!(why instanceof LockServiceUnavailableException)) {
            heard();
        }
        if (action != null) {
            action.run();
        } else if (why instanceof LockServiceUnavailableException && !again) {
            lost.add(step);
        } else {
            search.omit(step.node(), reason(why));
            step.otherwise().run();
        }
        goOn();
    }

    private static LockException reason(@Nullable Throwable error) {
        if (error instanceof LockServiceUnavailableException) {
            return new LockException("The connection breaks whenever this node is read. If more nodes are below it than"
                    + " fit a packet of ZooKeeper, raise jute.maxbuffer.");
        }
        return error instanceof LockException refused ? refused : new LockException(String.valueOf(error), error);
    }

    private void unanswered() {
        Stream.of(asked, lost, next)
                .flatMap(steps -> steps.stream().map(Step::node))
                .min(PARENTS_FIRST)
                .ifPresent(first -> search.omit(
                        first,
                        new LockServiceUnavailableException(
                                "No server has answered in time. Some of the paths after it are left out, too."
                                        + " Try again.")));
        end();
    }

    private void end() {
        silence.cancel();
        search.end();
    }
}
