// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.history.HistoryEvent;
import io.latchkey.testkit.history.HistoryEvent.EventType;
import io.latchkey.testkit.history.LockClaim;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.request.WaitPolicy;
import io.latchkey.zk.internal.request.ZkLease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * The history of one schedule for the kit's checkers: actions and notifications of its workers, in virtual time. Steps
 * at the same virtual time are a nanosecond apart.
 */
final class ScheduleHistory {
    /** The note of an attempt whose time was over, see {@code RecordedLock}. */
    private static final String OUT_OF_TIME = "out of time";

    private static final String WORLD = "world";
    private static final String DOWNGRADE = "downgrade";
    private static final String FOUND_BY_RELEASE = "found by the release";

    private final SimulatedTime time;
    private final List<Line> lines = new ArrayList<>();
    /** When each of the leader's transactions was written. */
    private final List<Long> written = new ArrayList<>();

    private final Map<Long, Client> sessions = new HashMap<>();
    /** The largest number of permits that the path ever had. */
    private final Map<String, Integer> most = new HashMap<>();

    private final Map<Worker, Ask> asks = new HashMap<>();
    private long last;
    private long attempts;
    private long healed;
    private boolean deleted;

    /** An attempt of a worker. */
    private record Ask(String client, long attempt, List<TaskTarget> wishes) {}

    /** An event whose claims are known at the end, when all capacities are. */
    private record Line(long nanos, Ask ask, EventType type, long token, long session, String note) {}

    ScheduleHistory(SimulatedTime time, WorldSpec spec) {
        this.time = time;
        for (WorldSpec.Plan plan : spec.plans()) {
            for (Task task : plan.tasks()) {
                for (LockTarget member : task.members()) {
                    most.merge(member.path().node(), member.recipe().purpose().declared(), Math::max);
                }
            }
        }
    }

    /** Now; no two events are at the same moment. */
    long now() {
        last = Math.max(last + 1, time.nanos());
        return last;
    }

    private void add(long nanos, Ask ask, EventType type, ZkLease lease, String note) {
        long session = lease.store() instanceof SimulatedStore store ? store.session() : 0;
        lines.add(new Line(nanos, ask, type, lease.token(), session, note));
    }

    private Ask begin(Worker worker) {
        Ask ask = new Ask(worker.client().toString(), ++attempts, worker.wishes());
        asks.put(worker, ask);
        return ask;
    }

    private Ask ask(Worker worker) {
        return Objects.requireNonNull(asks.get(worker));
    }

    // ---- workers

    void requested(Worker worker) {
        WaitPolicy patience = worker.task().patience();
        String given = patience instanceof WaitPolicy.AtMost most
                ? most.timeout().toString()
                : patience instanceof WaitPolicy.Never ? Duration.ZERO.toString() : "";
        lines.add(new Line(now(), begin(worker), EventType.REQUESTED, 0, 0, given));
    }

    void granted(Worker worker, ZkLease lease) {
        if (lease.token() > 0 && lease.token() <= written.size()) {
            add(written.get((int) lease.token() - 1), ask(worker), EventType.PLACED, lease, "");
        }
        add(now(), ask(worker), EventType.GRANTED, lease, "");
    }

    /** {@code why} is empty if time was over. */
    void gotNothing(Worker worker, String why) {
        lines.add(new Line(now(), ask(worker), EventType.GAVE_UP, 0, 0, why.isEmpty() ? OUT_OF_TIME : why));
    }

    void looked(Worker worker, ZkLease lease) {
        add(now(), ask(worker), EventType.VALID, lease, "");
    }

    /** Returns the consumer of the release's outcome. */
    Consumer<ReleaseOutcome> releasing(Worker worker, ZkLease lease) {
        Ask ask = ask(worker);
        add(now(), ask, EventType.RELEASING, lease, "");
        return outcome -> {
            boolean lost = outcome == ReleaseOutcome.LOST;
            add(
                    now(),
                    ask,
                    lost ? EventType.LOST : EventType.RELEASED,
                    lease,
                    lost ? FOUND_BY_RELEASE : outcome.name());
        };
    }

    void lost(Worker worker, ZkLease lease, LossCause cause) {
        add(now(), ask(worker), EventType.LOST, lease, cause.name());
    }

    /**
     * The worker's wishes are those of the reader by now.
     *
     * @param since a moment before the downgrade was begun, of {@link #now}
     */
    void downgraded(Worker worker, ZkLease read, long since) {
        add(since, ask(worker), EventType.RELEASING, read, DOWNGRADE);
        add(since, ask(worker), EventType.RELEASED, read, DOWNGRADE);
        Ask reader = begin(worker);
        add(since, reader, EventType.REQUESTED, read, DOWNGRADE);
        add(since, reader, EventType.GRANTED, read, DOWNGRADE);
    }

    // ---- what happens to them

    void connected(Client client) {
        sessions.putIfAbsent(client.store().session(), client);
    }

    /** The leader wrote it; {@code how} is how a session has ended if it has. */
    void wrote(Tree.Txn txn, ExpiryOrder how) {
        written.add(now());
        Client client = sessions.get(txn.ended());
        if (client != null) {
            for (EventType type : List.of(EventType.SESSION_ENDING, EventType.SESSION_ENDED)) {
                lines.add(new Line(now(), nobody(client.toString()), type, 0, txn.ended(), how.name()));
            }
        }
    }

    void fault(String what) {
        lines.add(new Line(now(), nobody(WORLD), EventType.NOTE, 0, 0, what));
    }

    private static Ask nobody(String client) {
        return new Ask(client, 0, List.of());
    }

    /**
     * Records that an operator has deleted a request's node, which its owner cannot know and no event of a history
     * shows.
     */
    void nodeDeleted() {
        deleted = true;
        fault("an operator deletes a node");
    }

    void resized(String path, SemaphoreState to) {
        most.merge(path, to.most(), Math::max);
        resized(path, to.now());
    }

    private void resized(String path, int to) {
        Ask ask = new Ask(WORLD, ++attempts, List.of(new TaskTarget(path, RequestNode.Sort.PERMITS, to)));
        lines.add(new Line(now(), ask, EventType.RESIZING, 0, 0, ""));
        lines.add(new Line(now(), ask, EventType.RESIZED, 0, 0, ""));
    }

    /** A semaphore's path that is created again has the declared number of permits. */
    void reaped(String path, SemaphoreState room) {
        if (room.now() != room.declared()) {
            resized(path, room.declared());
        }
    }

    /** No more faults from here on, and time goes on only when nothing else can. */
    void heals() {
        fault("no more faults");
        healed = last;
    }

    // ---- for checkers

    boolean isTampered() {
        return deleted;
    }

    List<HistoryEvent> events() {
        List<HistoryEvent> events = new ArrayList<>(lines.size());
        for (Line line : lines) {
            events.add(event(line, line.nanos()));
        }
        events.sort(Comparator.comparingLong(HistoryEvent::nanos));
        return events;
    }

    /**
     * The same on a clock that starts only after all faults have healed: before that, messages may be delayed for any
     * time, and there are no promises.
     */
    List<HistoryEvent> eventsOnceHealed() {
        List<HistoryEvent> events = new ArrayList<>(lines.size());
        List<Line> inOrder = new ArrayList<>(lines);
        inOrder.sort(Comparator.comparingLong(Line::nanos));
        long count = 0;
        for (Line line : inOrder) {
            count++;
            events.add(event(line, line.nanos() < healed ? count : inOrder.size() + line.nanos() - healed));
        }
        return events;
    }

    private HistoryEvent event(Line line, long nanos) {
        Ask ask = line.ask();
        List<LockClaim> claims = new ArrayList<>(ask.wishes().size());
        for (TaskTarget wish : ask.wishes()) {
            claims.add(
                    switch (wish.sort()) {
                        case WRITE -> LockClaim.exclusive(wish.path());
                        case READ -> LockClaim.shared(wish.path());
                        case PERMITS -> LockClaim.permits(wish.path(), wish.permits(), most(line, wish));
                    });
        }
        return new HistoryEvent(
                nanos, ask.client(), ask.attempt(), claims, line.type(), line.token(), line.session(), line.note());
    }

    private int most(Line line, TaskTarget wish) {
        boolean resize = line.type() == EventType.RESIZING || line.type() == EventType.RESIZED;
        return resize ? wish.permits() : most.getOrDefault(wish.path(), wish.permits());
    }
}
