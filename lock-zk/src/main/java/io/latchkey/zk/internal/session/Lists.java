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
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * The requests for lists of children in one session, with protection against lists that exceed a packet.
 *
 * <p>Such a list breaks the connection each time it is requested, with all other requests on it, and no response shows
 * its length. A server answers in order. So when a connection is lost, only its first request without a response can
 * have broken it: such losses of a list are counted for its path, and all other lists are requested again as usual.
 * After a counted loss the number of children is read first, which may show that the list is too long. Otherwise the
 * list is requested at a time when leases survive the loss of the connection. Only after the first loss, a list that
 * seems to be short needs neither (docs/protocol.md, "Lists that break the connection").
 *
 * <p>A list that is lost {@link #LOST_BY_LENGTH} times in a row in this way, each time right after other responses on
 * the connection, is too long. It is then not requested during a pause, and its requesters get {@link Status#TOO_LONG}.
 */
public final class Lists {
    /** The length of a list of which nothing is known. */
    public static final long UNKNOWN_LENGTH = Integer.MAX_VALUE;

    private static final int LOST_BY_LENGTH = 5;
    /** A list that seems to fill no more than this fraction of a packet is short. */
    private static final int PART_OF_PACKET = 4;
    /** The longest pause before such a list is requested again. */
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

    private final ClientContext context;
    private final Connection connection;
    private final Heartbeat heartbeat;
    /** The number of consecutive lists of a path that may have broken their connection. */
    private final Map<String, LossCount> lost = new LinkedHashMap<>(0);

    private record LossCount(int times, ClockReading last) {}

    Lists(ClientContext context, Connection connection, Heartbeat heartbeat) {
        this.context = context;
        this.connection = connection;
        this.heartbeat = heartbeat;
    }

    /** Requests a path's children without a request ahead. Nothing is known of the length of the list. */
    public void ask(String path, BooleanSupplier wanted, Consumer<Response<ZnodeStore.Listing>> then) {
        ask(path, UNKNOWN_LENGTH, wanted, () -> {}, then);
    }

    /**
     * Requests a path's children.
     *
     * @param bytes the length that the list seems to have at most. It may be wrong: that costs one connection more
     * @param wanted returns whether the list is still needed when it can be requested, or again as the server throttles;
     *     if not, {@code then} gets {@link Status#CONNECTION_LOSS}
     * @param ahead sends requests ahead of that, which may break the connection for the same reason
     */
    public void ask(
            String path,
            long bytes,
            BooleanSupplier wanted,
            Runnable ahead,
            Consumer<Response<ZnodeStore.Listing>> then) {
        if (!mayBeTooLong(path, bytes)) {
            send(path, wanted, ahead, then);
            return;
        }
        connection.read(wanted, path, answer -> {
            if (answer.code().isDisconnected()) {
                then.accept(Response.failed(answer.code(), answer.detail()));
            } else if (answer.ok() && !mayFit(path, answer.get().children())) {
                then.accept(tooLong(answer.get().children()));
            } else {
                risk(path, wanted, ahead, then);
            }
        });
    }

    /** Requests a path's children when their number has just been read. */
    public void askCounted(
            String path, int children, BooleanSupplier wanted, Consumer<Response<ZnodeStore.Listing>> then) {
        if (!mayFit(path, children)) {
            then.accept(tooLong(children));
        } else if (mayBeTooLong(path, UNKNOWN_LENGTH)) {
            risk(path, wanted, () -> {}, then);
        } else {
            send(path, wanted, () -> {}, then);
        }
    }

    /** Requests the children of several paths in one request, with a response for each, in their order. */
    public void askTogether(
            List<String> paths, BooleanSupplier wanted, Consumer<List<Response<ZnodeStore.Listing>>> then) {
        SentList sent = new SentList();
        connection.<List<Response<ZnodeStore.Listing>>>ask(
                wanted,
                done -> {
                    sent.again();
                    connection.store().lists(paths, done);
                },
                answer -> {
                    List<Response<ZnodeStore.Listing>> each = answer.ok()
                            ? answer.get()
                            : Collections.nCopies(paths.size(), Response.failed(answer.code(), answer.detail()));
                    for (int i = 0; i < paths.size(); i++) {
                        count(paths.get(i), each.get(i), sent);
                    }
                    then.accept(each);
                });
    }

    private void risk(
            String path, BooleanSupplier wanted, Runnable ahead, Consumer<Response<ZnodeStore.Listing>> then) {
        heartbeat.risk(() -> {
            if (wanted.getAsBoolean()) {
                send(path, wanted, ahead, then);
            } else {
                then.accept(Response.failed(Status.CONNECTION_LOSS, "not asked for"));
            }
        });
    }

    private void send(
            String path, BooleanSupplier wanted, Runnable ahead, Consumer<Response<ZnodeStore.Listing>> then) {
        SentList sent = new SentList();
        ahead.run();
        connection.<ZnodeStore.Listing>ask(
                wanted,
                done -> {
                    sent.again();
                    connection.store().list(path, done);
                },
                answer -> {
                    count(path, answer, sent);
                    then.accept(answer);
                });
    }

    /** A list and the requests ahead of it, as they were sent last: a throttled one is sent again, without them. */
    private final class SentList {
        private long first = connection.lastRequest() + 1;
        private long last;

        void again() {
            if (last != 0) {
                first = connection.lastRequest();
            }
            last = connection.lastRequest();
        }

        boolean mayHaveBrokenTheConnection() {
            return connection.mayBeBrokenBy(first, last);
        }
    }

    /** Counts a list whose loss may be due to its length: that of the first request without a response. */
    private void count(String path, Response<ZnodeStore.Listing> answer, SentList sent) {
        if (answer.code() != Status.CONNECTION_LOSS) {
            lost.remove(path);
        } else if (sent.mayHaveBrokenTheConnection()) {
            lost.merge(
                    path,
                    new LossCount(1, context.now()),
                    (earlier, now) -> new LossCount(earlier.times() + 1, now.last()));
            if (lost.size() > ClientContext.MOST_REMEMBERED) {
                lost.remove(lost.keySet().iterator().next());
            }
        }
    }

    /** Returns whether the path's last list may have broken its connection. */
    public boolean wasLost(String path) {
        return lost.containsKey(path);
    }

    /** Returns whether so many of the path's lists were lost in a row that the list is too long. */
    public boolean isUnreadable(String path) {
        return times(path) >= LOST_BY_LENGTH;
    }

    /** Returns whether a list of so many bytes is far from filling a packet. */
    public boolean isShort(long bytes) {
        return bytes <= connection.store().longestAnswer() / PART_OF_PACKET;
    }

    private int times(String path) {
        LossCount counted = lost.get(path);
        return counted == null ? 0 : counted.times();
    }

    private boolean mayBeTooLong(String path, long bytes) {
        return times(path) > 1 || (wasLost(path) && !isShort(bytes));
    }

    /** Children of other clients may have longer names than requests have: then only the lost lists show the length. */
    private boolean mayFit(String path, int children) {
        if (Errors.exceedsAPacket(children, connection.store().longestAnswer())) {
            return false;
        }
        LossCount counted = lost.get(path);
        return counted == null
                || counted.times() < LOST_BY_LENGTH
                || context.now().since(counted.last()).compareTo(pause(counted)) > 0;
    }

    /** The pause doubles each time, since each lost list costs all requests of the client a reconnect. */
    private Duration pause(LossCount counted) {
        int times = 1 << Math.min(counted.times() - LOST_BY_LENGTH, Connection.MOST_DOUBLINGS);
        Duration pause = context.sessionTimeout().multipliedBy(times);
        return Comparators.min(pause, LONGEST_PAUSE);
    }

    private static <T> Response<T> tooLong(int children) {
        return Response.failed(Status.TOO_LONG, String.valueOf(children));
    }
}
