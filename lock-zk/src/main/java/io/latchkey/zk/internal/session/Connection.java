// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

import com.google.common.collect.Comparators;
import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.validity.ClockReading;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one session and their responses. Each response is handled on the serial executor, extends the
 * session's validity as far as it proves it, and is ignored once the session has ended. Confined to that executor,
 * except for volatile fields.
 */
public final class Connection {
    /** The pause before a throttled request is sent again. It doubles each time, up to the longest one. */
    private static final Duration FIRST_PAUSE = Duration.ofMillis(100);

    private static final Duration LONGEST_PAUSE = Duration.ofMillis(400);
    /** A pause that has doubled so often is beyond the longest one. */
    static final int MOST_DOUBLINGS = 8;

    /** A throttled heartbeat is sent again in time. */
    private static final int PAUSES_IN_A_SESSION = 10;

    private final ClientContext context;
    private final SessionValidity validity;
    private final Consumer<Status> onUnusable;
    private final List<Runnable> onConnected = new ArrayList<>();
    private volatile @Nullable ZnodeStore store;
    /**
     * Counts connects and disconnects: a response proves something only on the connection that its request was sent on.
     */
    private int number;

    /** The server of the present connection, or of the last one; empty if unknown. */
    private Optional<String> server = Optional.empty();

    /** The number of requests that were sent. */
    private long requests;
    /** Counts losses of the connection; several for each, as each lost request reports one. */
    private int losses;
    /** The request that was the first without a response when a usable connection was lost. */
    private long firstUnanswered;

    /** The connection on which the log has said last that the chroot cannot be created. */
    private int rootRefusedOn;

    private volatile boolean connected;
    private boolean over;

    /**
     * @param onUnusable gets the status of each response that says that the connection is lost, the session over or the
     *     login refused; on the serial executor
     */
    Connection(ClientContext context, SessionValidity validity, Consumer<Status> onUnusable) {
        this.context = context;
        this.validity = validity;
        this.onUnusable = onUnusable;
    }

    void open(ZnodeStore opened) {
        store = opened;
    }

    /** Returns whether the handle is open; from any thread. */
    public boolean isOpen() {
        return store != null;
    }

    public ZnodeStore store() {
        return Objects.requireNonNull(store, "the session is not open");
    }

    // ---- the connection

    public boolean connected() {
        return connected;
    }

    public boolean hasConnected() {
        return number > 0;
    }

    public int number() {
        return number;
    }

    /** Returns the server of the present connection, or of the last one; empty if unknown. */
    public Optional<String> server() {
        return server;
    }

    public boolean isOver() {
        return over;
    }

    /** Notes a new connection. Requests sent over the former one may still be applied until a barrier is committed. */
    void newConnection(Optional<String> to) {
        number++;
        server = to;
    }

    /** Notes that the barrier is committed. Earlier requests were applied, or will not be on this connection. */
    void onReconnected() {
        connected = true;
    }

    /** Notes that the connection is lost, and returns whether it could be used until then. */
    boolean lost() {
        number++;
        losses++;
        boolean was = connected;
        connected = false;
        return was;
    }

    /** Runs {@code task} now or after the barrier on the next connection; never once the session has ended. */
    public void whenConnected(Runnable task) {
        if (connected) {
            task.run();
        } else {
            onConnected.add(task);
        }
    }

    /** Runs the tasks that wait for the connection. */
    void runWaiting() {
        List<Runnable> waiting = List.copyOf(onConnected);
        onConnected.clear();
        waiting.forEach(context::execute);
    }

    // ---- requests

    /** Returns the number of the request that was sent last. */
    long lastRequest() {
        return requests;
    }

    /**
     * Returns whether one of the requests from {@code first} to {@code last} may have broken the connection when one
     * was last lost. A server answers in order, so only the first request without a response can have done that.
     */
    boolean mayBeBrokenBy(long first, long last) {
        return first <= firstUnanswered && firstUnanswered <= last;
    }

    /** Sends a request that commits nothing; again if the server throttles. */
    public <T> void ask(Consumer<Consumer<Response<T>>> request, Consumer<Response<T>> then) {
        ask(() -> true, request, then);
    }

    /**
     * Sends a request that commits nothing; again if the server throttles, and the response is still wanted. Otherwise
     * {@code then} gets {@link Status#CONNECTION_LOSS}.
     */
    public <T> void ask(BooleanSupplier wanted, Consumer<Consumer<Response<T>>> request, Consumer<Response<T>> then) {
        untilNotThrottled(
                wanted, 0, each -> send(request, each, (sent, now, answer) -> validity.answered(sent, now)), then);
    }

    /** Reads a node as {@link #ask(Consumer, Consumer)}. */
    public void read(String path, Consumer<Response<ZnodeStore.NodeData>> then) {
        read(() -> true, path, then);
    }

    /** Reads a node as {@link #ask(BooleanSupplier, Consumer, Consumer)}. */
    public void read(BooleanSupplier wanted, String path, Consumer<Response<ZnodeStore.NodeData>> then) {
        ask(wanted, done -> store().read(path, done), then);
    }

    /** Checks which nodes exist as {@link #ask(Consumer, Consumer)}. */
    public void exist(List<String> paths, Consumer<Response<List<Status>>> then) {
        ask(done -> store().exist(paths, done), then);
    }

    /**
     * Sends a request that the quorum commits even if the server refuses it. It is not sent again: others may have been
     * executed in between, so {@code then} decides when the server throttles ({@link #afterThrottling}).
     */
    public <T> void askCommitted(Consumer<Consumer<Response<T>>> request, Consumer<Response<T>> then) {
        send(request, then, (sent, now, answer) -> {
            if (answer.ok()) {
                validity.committed(sent, now);
            } else {
                validity.heard(sent, now);
            }
        });
    }

    /** Sends a transaction; again if the server throttles. */
    public void write(List<ZnodeStore.Write> writes, Consumer<Response<ZnodeStore.TransactionResult>> then) {
        write(() -> true, writes, then);
    }

    /**
     * Sends a transaction; again if the server throttles, and the response is still wanted. Otherwise {@code then} gets
     * {@link Status#CONNECTION_LOSS}.
     */
    public void write(
            BooleanSupplier wanted,
            List<ZnodeStore.Write> writes,
            Consumer<Response<ZnodeStore.TransactionResult>> then) {
        untilNotThrottled(wanted, 0, each -> writeOnce(writes, each), then);
    }

    /**
     * Sends a transaction until a server has decided it, and passes the decision on as if the write that made it fail
     * had been sent alone. A lost one may have been executed, so it must be one that can be repeated: {@code decide}
     * takes what the first has left behind, such as {@link Status#NODE_EXISTS}, as done.
     *
     * @param wanted asked before each repetition: if it is not wanted then, {@code decide} is not called
     */
    public void persist(
            BooleanSupplier wanted,
            List<ZnodeStore.Write> writes,
            Consumer<Response<ZnodeStore.TransactionResult>> decide) {
        write(wanted, writes, answer -> {
            Response<ZnodeStore.TransactionResult> plain = plain(answer);
            if (!plain.code().isDisconnected()) {
                decide.accept(plain);
                return;
            }
            whenConnected(() -> {
                if (wanted.getAsBoolean()) {
                    persist(wanted, writes, decide);
                }
            });
        });
    }

    /** Sends a transaction as {@link #askCommitted}. */
    public void writeOnce(List<ZnodeStore.Write> writes, Consumer<Response<ZnodeStore.TransactionResult>> then) {
        askCommitted(done -> store().write(writes, done), then);
    }

    /**
     * Sends a request until the server does not throttle it: then nothing was done for it. If the connection is lost in
     * between, the request counts as lost with it.
     */
    private <T> void untilNotThrottled(
            BooleanSupplier wanted, int times, Consumer<Consumer<Response<T>>> send, Consumer<Response<T>> then) {
        int on = number;
        send.accept(answer -> {
            if (answer.code() != Status.THROTTLED) {
                then.accept(answer);
                return;
            }
            afterThrottling(times, () -> {
                if (on == number && wanted.getAsBoolean()) {
                    untilNotThrottled(wanted, times + 1, send, then);
                } else {
                    then.accept(Response.failed(Status.CONNECTION_LOSS, answer.detail()));
                }
            });
        });
    }

    /**
     * Runs {@code task} after a pause that the server may need, as it throttles; never once the session has ended.
     *
     * @param times how often in a row it has throttled before
     */
    public void afterThrottling(int times, Runnable task) {
        Duration longest = Comparators.min(LONGEST_PAUSE, validity.timeout().dividedBy(PAUSES_IN_A_SESSION));
        Duration pause = Comparators.min(longest, FIRST_PAUSE.multipliedBy(1L << Math.min(times, MOST_DOUBLINGS)));
        var unused = context.clock()
                .after(
                        pause,
                        () -> context.execute(() -> {
                            if (!over) {
                                task.run();
                            }
                        }));
    }

    private <T> void send(
            Consumer<Consumer<Response<T>>> sending, Consumer<Response<T>> then, Proof<Response<T>> proof) {
        if (over) {
            return;
        }
        ClockReading sent = context.now();
        int on = number;
        long request = ++requests;
        int lossesBefore = losses;
        boolean usable = connected;
        // Responses come on the thread of ZooKeeper's client that begins with them.
        sending.accept(answer -> context.executeWithRoom(() -> {
            if (over) {
                return;
            }
            if (answer.code() == Status.CONNECTION_LOSS && usable && lossesBefore == losses) {
                firstUnanswered = request;
            }
            switch (answer.code()) {
                case CONNECTION_LOSS, READ_ONLY, SESSION_EXPIRED, LOGIN_REFUSED -> onUnusable.accept(answer.code());
                case SESSION_FULL -> {
                    // Nothing was sent, so the answer proves nothing.
                }
                default -> {
                    if (on == number) {
                        proof.take(sent, context.now(), answer);
                    } else {
                        validity.heard(sent, context.now());
                    }
                }
            }
            if (!over) {
                then.accept(answer);
            }
        }));
    }

    @FunctionalInterface
    private interface Proof<A> {
        void take(ClockReading sent, ClockReading now, A answer);
    }

    /**
     * Creates the chroot of the handle again, through another handle. If no server accepts that, {@code then} gets {@link
     * Status#CONNECTION_LOSS} after a pause, since this connection may be there: a caller tries again at once.
     */
    public void makeRoot(Consumer<Response<Boolean>> then) {
        store().makeRoot(answer -> context.execute(() -> {
            if (over) {
                return;
            }
            if (answer.code() != Status.CONNECTION_LOSS) {
                then.accept(answer);
                return;
            }
            if (rootRefusedOn != number) {
                rootRefusedOn = number;
                context.log().warn(Connection.class, answer.detail());
            }
            afterThrottling(MOST_DOUBLINGS, () -> then.accept(answer));
        }));
    }

    /** Returns the response as if the write that made a transaction fail had been sent alone. */
    public static Response<ZnodeStore.TransactionResult> plain(Response<ZnodeStore.TransactionResult> answer) {
        return answer.ok()
                ? answer.get()
                        .failedAt()
                        .map(refusal -> Response.<ZnodeStore.TransactionResult>failed(refusal.code(), refusal.detail()))
                        .orElse(answer)
                : answer;
    }

    /** Ends the connection: no request is sent and no response handled any more. */
    void end() {
        over = true;
        connected = false;
        onConnected.clear();
    }
}
