// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.validity.ClockReading;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one session and their answers: each answer proves what it may, and is taken on the serial executor, until the session is
 * over. Confined to it, but for what is volatile.
 */
public final class Wire {
    private final ClientContext context;
    private final SessionValidity validity;
    private final Listener listener;
    private final List<Runnable> onConnected = new ArrayList<>();

    private @Nullable ZnodeStore port;
    /** Counts every coming and going of the connection: an answer proves something only within one of them. */
    private int connection;

    private volatile boolean connected;
    private boolean over;

    /** What answers tell of the session. On the serial executor. */
    interface Listener {
        /** The connection is lost, or was not there. */
        void outOfTouch();

        /** The server has ended the session. */
        void sessionOver();

        /** The servers refuse the client's login. */
        void loginRefused();

        /** An answer was handled. */
        void answered();
    }

    Wire(ClientContext context, SessionValidity validity, Listener listener) {
        this.context = context;
        this.validity = validity;
        this.listener = listener;
    }

    void open(ZnodeStore opened) {
        port = opened;
    }

    public ZnodeStore port() {
        return Objects.requireNonNull(port, "the session is not open");
    }

    // ---- the connection

    public boolean connected() {
        return connected;
    }

    public boolean hasConnected() {
        return connection > 0;
    }

    int connection() {
        return connection;
    }

    public boolean isOver() {
        return over;
    }

    /** There is a connection. What was sent over the former one may still be carried out: only a barrier ends that. */
    void newConnection() {
        connection++;
    }

    /** What was sent before this has been carried out, or is not going to be on this connection. */
    void backInTouch() {
        connected = true;
    }

    /** The connection is lost; says whether there was one that could be used. */
    boolean lost() {
        connection++;
        boolean was = connected;
        connected = false;
        return was;
    }

    /** Runs {@code task} now, or once a barrier on a new connection has been committed; never after the session. */
    public void whenConnected(Runnable task) {
        if (connected) {
            task.run();
        } else {
            onConnected.add(task);
        }
    }

    /** Has everything go on that waits for the connection. */
    void runWaiting() {
        List<Runnable> waiting = List.copyOf(onConnected);
        onConnected.clear();
        waiting.forEach(context::serially);
    }

    // ---- asking the server

    /** A request that commits nothing. */
    public <T> void ask(Consumer<Consumer<Response<T>>> request, Consumer<Response<T>> then) {
        send(request, then, (sent, now, answer) -> validity.answered(sent, now));
    }

    /** A request that the quorum commits, even when it refuses it. */
    public <T> void askCommitted(Consumer<Consumer<Response<T>>> request, Consumer<Response<T>> then) {
        send(request, then, (sent, now, answer) -> {
            if (answer.ok()) {
                validity.committed(sent, now);
            } else {
                validity.heard(sent, now);
            }
        });
    }

    public void write(List<ZnodeStore.Write> writes, Consumer<Response<ZnodeStore.Written>> then) {
        askCommitted(done -> port().write(writes, done), then);
    }

    private <T> void send(
            Consumer<Consumer<Response<T>>> request, Consumer<Response<T>> then, Proof<Response<T>> proof) {
        if (over) {
            return;
        }
        ClockReading sent = context.now();
        int on = connection;
        request.accept(answer -> context.serially(() -> {
            if (over) {
                return;
            }
            switch (answer.code()) {
                case CONNECTION_LOSS, READ_ONLY -> listener.outOfTouch();
                case SESSION_EXPIRED -> listener.sessionOver();
                case LOGIN_REFUSED -> listener.loginRefused();
                default -> {
                    if (on == connection) {
                        proof.take(sent, context.now(), answer);
                    } else {
                        validity.heard(sent, context.now());
                    }
                }
            }
            if (!over) {
                then.accept(answer);
            }
            listener.answered();
        }));
    }

    @FunctionalInterface
    private interface Proof<A> {
        void take(ClockReading sent, ClockReading now, A answer);
    }

    /** What became of a transaction: its own code, or that of the write that made it fail. */
    public static Status codeOf(Response<ZnodeStore.Written> answer) {
        return plain(answer).code();
    }

    /** The answer as if the write that made a transaction fail had been sent alone. */
    public static Response<ZnodeStore.Written> plain(Response<ZnodeStore.Written> answer) {
        return answer.ok()
                ? answer.get()
                        .failedAt()
                        .map(refusal -> Response.<ZnodeStore.Written>failed(refusal.code(), refusal.detail()))
                        .orElse(answer)
                : answer;
    }

    /** The session is over: nothing is sent any more, and no answer taken. */
    void end() {
        over = true;
        connected = false;
        onConnected.clear();
    }
}
