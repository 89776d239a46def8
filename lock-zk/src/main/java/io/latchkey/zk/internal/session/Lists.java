// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

import com.google.common.collect.Comparators;
import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.validity.ClockReading;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * The requests for lists of children in one session, with protection against lists that exceed a packet.
 *
 * <p>Such a list breaks the connection each time it is requested, with all other requests on it, and no response shows
 * its length. So lost lists are counted for each path. After a loss the number of children is read first, which may
 * show that the list is too long. Otherwise the list is requested alone, at a time when leases survive the loss of the
 * connection.
 *
 * <p>A list that is lost {@link #LOST_BY_LENGTH} times in a row in this way, each time right after other responses on
 * the connection, is too long. It is then not requested during a pause, and its requesters get {@link Status#TOO_LONG}.
 */
public final class Lists {
    private static final int LOST_BY_CHANCE = 2;
    private static final int LOST_BY_LENGTH = 5;
    /** The longest pause before such a list is requested again. */
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

    private final ClientContext context;
    private final Connection connection;
    private final SessionValidity validity;
    private final Heartbeat heartbeat;
    /** The number of consecutive lists of a path that were lost with their connection. */
    private final Map<String, Lost> lost = new LinkedHashMap<>(0);

    private record Lost(int times, ClockReading last) {}

    Lists(ClientContext context, Connection connection, SessionValidity validity, Heartbeat heartbeat) {
        this.context = context;
        this.connection = connection;
        this.validity = validity;
        this.heartbeat = heartbeat;
    }

    /**
     * Requests a path's children.
     *
     * @param wanted returns whether the list is still needed when it can be requested; if not, {@code then} gets {@link
     *     Status#CONNECTION_LOSS}
     */
    public void ask(String path, BooleanSupplier wanted, Consumer<Response<ZnodeStore.Listing>> then) {
        ask(path, wanted, done -> list(path, done), then);
    }

    /**
     * Requests a path's children by a request of the caller's.
     *
     * @param request sends the request, and any other that may break the connection for the same reason
     */
    public void ask(
            String path,
            BooleanSupplier wanted,
            Consumer<Consumer<Response<ZnodeStore.Listing>>> request,
            Consumer<Response<ZnodeStore.Listing>> then) {
        if (!mayBeTooLong(path)) {
            request.accept(counted(path, then));
            return;
        }
        connection.<ZnodeStore.NodeData>ask(done -> connection.port().read(path, done), answer -> {
            if (answer.code() == Status.CONNECTION_LOSS || answer.code() == Status.READ_ONLY) {
                then.accept(Response.failed(answer.code(), answer.detail()));
            } else if (answer.ok() && !mayFit(path, answer.get().children())) {
                then.accept(tooLong(answer.get().children()));
            } else {
                askAlone(path, wanted, request, then);
            }
        });
    }

    /** Requests a path's children when their number has just been read. */
    public void ask(String path, int children, BooleanSupplier wanted, Consumer<Response<ZnodeStore.Listing>> then) {
        if (!mayFit(path, children)) {
            then.accept(tooLong(children));
        } else if (mayBeTooLong(path)) {
            askAlone(path, wanted, done -> list(path, done), then);
        } else {
            list(path, counted(path, then));
        }
    }

    private void list(String path, Consumer<Response<ZnodeStore.Listing>> then) {
        connection.ask(done -> connection.port().list(path, done), then);
    }

    private void askAlone(
            String path,
            BooleanSupplier wanted,
            Consumer<Consumer<Response<ZnodeStore.Listing>>> request,
            Consumer<Response<ZnodeStore.Listing>> then) {
        heartbeat.risk(done -> {
            if (wanted.getAsBoolean()) {
                request.accept(counted(path, then).andThen(answered -> done.run()));
            } else {
                done.run();
                then.accept(Response.failed(Status.CONNECTION_LOSS, "not asked for"));
            }
        });
    }

    private Consumer<Response<ZnodeStore.Listing>> counted(String path, Consumer<Response<ZnodeStore.Listing>> then) {
        return answer -> {
            answered(path, answer);
            then.accept(answer);
        };
    }

    /** Counts a list of the path that was answered or lost. */
    public void answered(String path, Response<ZnodeStore.Listing> answer) {
        if (answer.code() == Status.CONNECTION_LOSS) {
            lost.merge(path, new Lost(1, context.now()), (before, now) -> new Lost(before.times() + 1, now.last()));
            if (lost.size() > context.queuesToKeep()) {
                lost.remove(lost.keySet().iterator().next());
            }
        } else {
            lost.remove(path);
        }
    }

    /** Returns whether the path's last list was lost. */
    public boolean wasLost(String path) {
        return lost.containsKey(path);
    }

    /** Returns whether so many of the path's lists were lost in a row that the list is too long. */
    public boolean isUnreadable(String path) {
        return times(path) >= LOST_BY_LENGTH;
    }

    private int times(String path) {
        Lost counted = lost.get(path);
        return counted == null ? 0 : counted.times();
    }

    private boolean mayBeTooLong(String path) {
        return times(path) >= LOST_BY_CHANCE || (wasLost(path) && validity.hasHolders());
    }

    /** Children of other clients may have longer names than requests have: then only the lost lists show the length. */
    private boolean mayFit(String path, int children) {
        if (Errors.exceedsAPacket(children, connection.port().longestAnswer())) {
            return false;
        }
        Lost counted = lost.get(path);
        return counted == null
                || counted.times() < LOST_BY_LENGTH
                || context.now().since(counted.last()).compareTo(pause(counted)) > 0;
    }

    /** The pause doubles each time, since each lost list costs all requests of the client a reconnect. */
    private Duration pause(Lost counted) {
        int times = 1 << Math.min(counted.times() - LOST_BY_LENGTH, Byte.SIZE);
        Duration pause = context.sessionTimeout().multipliedBy(times);
        return Comparators.min(pause, LONGEST_PAUSE);
    }

    private static <T> Response<T> tooLong(int children) {
        return Response.failed(Status.TOO_LONG, String.valueOf(children));
    }
}
