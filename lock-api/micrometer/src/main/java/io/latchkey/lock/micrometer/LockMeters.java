// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock.micrometer;

import io.latchkey.lock.LockException;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.SessionState;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * An observer that keeps Micrometer meters of one client.
 *
 * <table>
 * <caption>Meters</caption>
 * <tr><th>name</th><th>type, tags</th><th>value</th></tr>
 * <tr><td>{@code latchkey.waiting}</td><td>gauge, {@code lock}</td><td>requests that are not granted yet</td></tr>
 * <tr><td>{@code latchkey.held}</td><td>gauge, {@code lock}</td><td>leases that are neither released nor lost</td></tr>
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
 * <p>After dropped events the two gauges count from zero: earlier requests are left out until they end. Otherwise
 * requests whose end was missed would be counted forever.
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

    private final MeterRegistry meters;
    private final Tags tags;
    private final Map<String, Requests> waiting = new ConcurrentHashMap<>();
    private final Map<String, Requests> held = new ConcurrentHashMap<>();
    private final Gauge connection;
    private volatile boolean connected;

    /**
     * The requests of one kind in one state, which a gauge counts. One thread calls the observer; registries read in
     * others.
     */
    private static final class Requests {
        private final Set<Long> ids = new HashSet<>();
        private final Gauge gauge;

        Requests(MeterRegistry meters, String name, Tags tags) {
            gauge = Gauge.builder(name, this, Requests::count)
                    .tags(tags)
                    .strongReference(true)
                    .register(meters);
        }

        synchronized double count() {
            return ids.size();
        }

        synchronized void add(long id) {
            ids.add(id);
        }

        synchronized void remove(long id) {
            ids.remove(id);
        }

        synchronized void clear() {
            ids.clear();
        }
    }

    private LockMeters(MeterRegistry meters, Tags tags) {
        this.meters = meters;
        this.tags = tags;
        connection = Gauge.builder("latchkey.connected", this, self -> self.connected ? 1 : 0)
                .tags(tags)
                .strongReference(true)
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
        return new LockMeters(meters, Tags.of(tags));
    }

    /** Counts a request that waits. */
    @Override
    public void requested(Request request) {
        in(waiting, "latchkey.waiting", request).add(request.id());
    }

    /** Counts a lease that is held, and records how long its request took. */
    @Override
    public void granted(Request request, long token, Duration waited) {
        in(waiting, "latchkey.waiting", request).remove(request.id());
        in(held, "latchkey.held", request).add(request.id());
        timer("latchkey.wait", request, "granted").record(waited);
    }

    /** Records how long the request took, and counts the reason if it was refused. */
    @Override
    public void notGranted(
            Request request, AcquireFailure failure, Optional<LockException.Reason> reason, Duration waited) {
        in(waiting, "latchkey.waiting", request).remove(request.id());
        timer("latchkey.wait", request, label(failure)).record(waited);
        if (failure == AcquireFailure.REFUSED) {
            count(
                    "latchkey.refused",
                    Tags.of("reason", reason.map(LockMeters::label).orElse("other")),
                    1);
        }
    }

    /** Counts a lease whose connection is lost. */
    @Override
    public void suspect(Request request, long token) {
        count("latchkey.suspect", Tags.empty(), 1);
    }

    /** Counts a lost lease by its cause, and records how long it was held. */
    @Override
    public void lost(Request request, long token, LossCause cause, Duration duration) {
        ended(request, "lost", duration);
        count("latchkey.lost", Tags.of("cause", label(cause)), 1);
    }

    /** Records how long the lease was held. */
    @Override
    public void released(Request request, long token, Duration duration) {
        ended(request, "released", duration);
    }

    /** Also removes the gauges from the registry when the client is closed. */
    @Override
    public void sessionChanged(SessionState state) {
        connected = state == SessionState.CONNECTED;
        count("latchkey.session", Tags.of("state", label(state)), 1);
        if (state == SessionState.CLOSED) {
            waiting.values().forEach(each -> meters.remove(each.gauge));
            held.values().forEach(each -> meters.remove(each.gauge));
            meters.remove(connection);
        }
    }

    /** Counts the events that were dropped, and begins to count requests and leases from zero. */
    @Override
    public void missed(long calls) {
        waiting.values().forEach(Requests::clear);
        held.values().forEach(Requests::clear);
        count("latchkey.missed", Tags.empty(), (double) calls);
    }

    private void ended(Request request, String outcome, Duration duration) {
        in(held, "latchkey.held", request).remove(request.id());
        timer("latchkey.hold", request, outcome).record(duration);
    }

    private Requests in(Map<String, Requests> state, String name, Request request) {
        String kind = request.kind().toString();
        return state.computeIfAbsent(kind, lock -> new Requests(meters, name, tags.and("lock", lock)));
    }

    private Timer timer(String name, Request request, String outcome) {
        return Timer.builder(name)
                .tags(tags.and("lock", request.kind().toString(), "outcome", outcome))
                .serviceLevelObjectives(BUCKETS)
                .register(meters);
    }

    private void count(String name, Tags more, double by) {
        meters.counter(name, tags.and(more)).increment(by);
    }

    private static String label(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
