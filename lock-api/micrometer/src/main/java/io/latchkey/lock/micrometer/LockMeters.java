// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock.micrometer;

import io.latchkey.lock.LockException;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.SessionState;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An observer that keeps Micrometer meters of one client. All are registered at once, with the value zero and for all
 * values of their tags, so that the first loss is an increase.
 *
 * <table>
 * <caption>Meters</caption>
 * <tr><th>name</th><th>type, tags</th><th>value</th></tr>
 * <tr><td>{@code latchkey.waiting}</td><td>gauge, {@code lock}</td><td>requests that are not granted yet</td></tr>
 * <tr><td>{@code latchkey.waiting.age}</td><td>gauge, {@code lock}</td>
 *     <td>how long the oldest of them has waited; 0 if none waits</td></tr>
 * <tr><td>{@code latchkey.held}</td><td>gauge, {@code lock}</td><td>leases that are neither released nor lost</td></tr>
 * <tr><td>{@code latchkey.held.age}</td><td>gauge, {@code lock}</td>
 *     <td>how long the oldest of them has been held; 0 if none is</td></tr>
 * <tr><td>{@code latchkey.connected}</td><td>gauge</td><td>1 while the session is connected, else 0</td></tr>
 * <tr><td>{@code latchkey.wait}</td><td>timer, {@code lock}, {@code outcome}</td>
 *     <td>how long requests took: {@code granted}; {@code busy}, as others were ahead of a try that does not wait;
 *     {@code timed_out} while others were ahead; {@code no_answer} of a server; {@code throttled}; {@code cancelled};
 *     {@code refused}</td></tr>
 * <tr><td>{@code latchkey.refused}</td><td>counter, {@code reason}</td><td>requests with the outcome {@code refused},
 *     by the reason of their error</td></tr>
 * <tr><td>{@code latchkey.hold}</td><td>timer, {@code lock}, {@code outcome}</td>
 *     <td>how long leases were held: {@code released} or {@code lost}</td></tr>
 * <tr><td>{@code latchkey.lost}</td><td>counter, {@code cause}</td><td>lost leases</td></tr>
 * <tr><td>{@code latchkey.suspect}</td><td>counter</td>
 *     <td>leases whose connection was lost while they were held</td></tr>
 * <tr><td>{@code latchkey.session}</td><td>counter, {@code state}</td><td>changes of the session</td></tr>
 * <tr><td>{@code latchkey.missed}</td><td>counter</td>
 *     <td>events that were dropped because the observer was too slow</td></tr>
 * </table>
 *
 * <p>The tag {@code lock} is the {@link io.latchkey.lock.LockObserver.Kind} in words. Paths are not used as tags. The
 * values of {@code reason}, {@code cause} and {@code state} are the constants of {@link LockException.Reason}, {@link
 * LossCause} and {@link SessionState} in lower case. The timers have buckets from one millisecond to ten minutes.
 *
 * <p>With a function from paths to names there are meters by name beside these, with the tag {@code name} in place of
 * {@code lock}: {@code latchkey.named.waiting}, {@code .waiting.age}, {@code .held}, {@code .held.age}, {@code .wait},
 * {@code .hold} and {@code .lost}. Their timers have no buckets. Those of a name are registered at its first request,
 * for all values of their other tags. Names after the first hundred are counted as {@code (others)}.
 *
 * <p>A registry has one gauge of a name and of values of its tags. It is that of the newest observer: if the client of an
 * earlier one was not opened, or is not closed yet, the gauges show the next client.
 *
 * <p>After dropped events the gauges count from zero: earlier requests are left out until they end. Otherwise requests
 * whose end was missed would be counted forever.
 */
public final class LockMeters implements LockObserver {
    private static final Duration[] BUCKETS = {
        Duration.ofMillis(1),
        Duration.ofMillis(5),
        Duration.ofMillis(10),
        Duration.ofMillis(50),
        Duration.ofMillis(100),
        Duration.ofMillis(500),
        Duration.ofSeconds(1),
        Duration.ofSeconds(5),
        Duration.ofSeconds(30),
        Duration.ofMinutes(2),
        Duration.ofMinutes(10)
    };

    private static final String PREFIX = "latchkey.";

    private final MeterRegistry meters;
    private final OwnGauges gauges;
    private final Map<Kind, LockSeries> kinds = new EnumMap<>(Kind.class);
    private final NamedSeries names;
    private final Map<LockException.Reason, Counter> refused;
    private final Map<LossCause, Counter> lost;
    private final Map<SessionState, Counter> sessions;
    private final Counter suspect;
    private final Counter missed;
    private volatile boolean connected;

    private LockMeters(MeterRegistry meters, Tags tags, Function<String, @Nullable String> nameOf) {
        this.meters = meters;
        gauges = new OwnGauges(meters);
        for (Kind kind : Kind.values()) {
            kinds.put(kind, new LockSeries(meters, gauges, PREFIX, tags.and("lock", kind.toString()), BUCKETS));
        }
        names = new NamedSeries(meters, gauges, tags, nameOf);
        String connection = PREFIX + "connected";
        gauges.add(connection, tags, () -> Gauge.builder(connection, this, self -> self.connected ? 1 : 0)
                .description("1 while the session is connected, else 0")
                .tags(tags)
                .strongReference(true)
                .register(meters));
        refused = LockSeries.counters(
                LockException.Reason.class,
                meters,
                PREFIX + "refused",
                tags,
                "reason",
                "Requests that failed, by the reason of their error");
        lost = LockSeries.losses(meters, PREFIX, tags);
        sessions = LockSeries.counters(
                SessionState.class, meters, PREFIX + "session", tags, "state", "Changes of the session to a state");
        suspect = counter("suspect", tags, "Leases whose connection was lost while they were held");
        missed = counter("missed", tags, "Events that were dropped because the observer was too slow");
    }

    private Counter counter(String name, Tags tags, String description) {
        return Counter.builder(PREFIX + name)
                .description(description)
                .tags(tags)
                .register(meters);
    }

    /**
     * Creates an observer for the only client with meters in a registry.
     *
     * @param meters the registry
     * @return the observer, for one client
     */
    public static LockMeters of(MeterRegistry meters) {
        return of(meters, Tags.empty());
    }

    /**
     * Creates an observer for one of several clients.
     *
     * @param meters the registry
     * @param tags the tags of all meters, such as the client's name; another client with meters in this registry needs
     *     other values
     * @return the observer, for one client
     */
    public static LockMeters of(MeterRegistry meters, Iterable<Tag> tags) {
        return of(meters, tags, path -> null);
    }

    /**
     * Creates an observer for the only client with meters in a registry, with meters by name as well.
     *
     * @param meters the registry
     * @param nameOf the name of a lock, by its path: one of few values, such as {@code orders} for all paths below
     *     {@code /orders}; null or empty for a lock without meters of its own. It is called for each event, and has to
     *     give the same name each time
     * @return the observer, for one client
     */
    public static LockMeters of(MeterRegistry meters, Function<String, @Nullable String> nameOf) {
        return of(meters, Tags.empty(), nameOf);
    }

    /**
     * Creates an observer for one of several clients, with meters by name as well.
     *
     * @param meters the registry
     * @param tags the tags of all meters
     * @param nameOf the name of a lock, by its path; null or empty for none
     * @return the observer, for one client
     */
    public static LockMeters of(MeterRegistry meters, Iterable<Tag> tags, Function<String, @Nullable String> nameOf) {
        return new LockMeters(meters, Tags.of(tags), Objects.requireNonNull(nameOf, "nameOf"));
    }

    /** Counts a request that waits. */
    @Override
    public void requested(Request request) {
        count(request, series -> series.waiting.add(request.id()));
    }

    /** Counts a lease that is held, and records how long its request took. */
    @Override
    public void granted(Request request, long token, Duration waited) {
        count(request, series -> {
            series.waiting.remove(request.id());
            series.held.add(request.id());
            series.granted.record(waited);
        });
    }

    /** Records how long the request took, and counts the reason if it was refused. */
    @Override
    public void notGranted(
            Request request, AcquireFailure failure, Optional<LockException.Reason> reason, Duration waited) {
        if (failure == AcquireFailure.REFUSED) {
            increment(refused, reason.orElse(LockException.Reason.OTHER));
        }
        count(request, series -> {
            series.waiting.remove(request.id());
            Optional.ofNullable(series.notGranted.get(failure)).ifPresent(timer -> timer.record(waited));
        });
    }

    /** Counts a lease whose connection is lost. */
    @Override
    public void suspect(Request request, long token) {
        suspect.increment();
    }

    /** Counts a lost lease by its cause, and records how long it was held. */
    @Override
    public void lost(Request request, long token, LossCause cause, Duration duration) {
        increment(lost, cause);
        count(request, series -> {
            series.held.remove(request.id());
            series.lost.record(duration);
        });
        names.of(request.path()).ifPresent(named -> increment(named.lost(), cause));
    }

    /** Records how long the lease was held. */
    @Override
    public void released(Request request, long token, Duration duration) {
        count(request, series -> {
            series.held.remove(request.id());
            series.released.record(duration);
        });
    }

    /**
     * Also removes the gauges from the registry when the client is closed. They are there again from the first event of
     * another client on, such as that of the next attempt to open one.
     */
    @Override
    public void sessionChanged(SessionState state) {
        connected = state == SessionState.CONNECTED;
        increment(sessions, state);
        if (state == SessionState.CLOSED) {
            gauges.remove();
            all(LockSeries::clear);
        } else {
            gauges.restore();
        }
    }

    /** Counts the events that were dropped, and begins to count requests and leases from zero. */
    @Override
    public void missed(long calls) {
        gauges.restore();
        all(LockSeries::clear);
        missed.increment((double) calls);
    }

    /** First by kind: the function for names is not ours. */
    private void count(Request request, Consumer<LockSeries> action) {
        gauges.restore();
        Optional.ofNullable(kinds.get(request.kind())).ifPresent(action);
        names.of(request.path()).ifPresent(named -> action.accept(named.series()));
    }

    private void all(Consumer<LockSeries> action) {
        kinds.values().forEach(action);
        names.forEach(action);
    }

    private static <E> void increment(Map<E, Counter> counters, E which) {
        Optional.ofNullable(counters.get(which)).ifPresent(Counter::increment);
    }
}
