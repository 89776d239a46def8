// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.client.LocalHandOff;
import io.latchkey.zk.internal.context.ClientConfig;
import io.latchkey.zk.internal.events.ClientLog;
import io.latchkey.zk.internal.events.ObserverDispatcher;
import io.latchkey.zk.internal.events.Outbox;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.Namings;
import io.latchkey.zk.internal.queue.OwnerData;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.WaitPolicy;
import io.latchkey.zk.internal.request.ZkLease;
import io.latchkey.zk.internal.store.CountedStore;
import io.latchkey.zk.internal.store.SessionNodes;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.threads.CallbackThreads;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The shipped engine over simulated servers, and its workers. */
final class Client implements ClientConfig.Opener {
    static final Duration SESSION = Duration.ofSeconds(6);

    /** Those that a client closes with: none, short, and longer than a session. */
    static final List<Duration> GRACES =
            List.of(Duration.ZERO, Duration.ofMillis(1), Duration.ofSeconds(2), Duration.ofSeconds(15));

    private final int index;
    private final Leader leader;
    private final Engine engine;
    private final Optional<LocalHandOff> turns;
    private final SimulatedTime.View time;
    private final ObserverRules observer;
    private final Optional<HostileCode> hostile;
    private final List<Worker> workers = new ArrayList<>(2);
    private @Nullable SimulatedStore store;
    private @Nullable SessionNodes nodes;
    private long ids;
    private Duration still = Duration.ZERO;
    /** The time at which its leases end, as it closes; null if it does not. */
    private @Nullable Long graceEnds;

    private boolean closed;

    Client(int index, Leader leader, int mostTurns, Optional<HostileCode> hostile, Consumer<BrokenRuleError> broken) {
        this.index = index;
        this.leader = leader;
        this.ids = (index + 1L) << 32;
        this.time = leader.time().view();
        this.observer = new ObserverRules(broken);
        this.hostile = hostile;
        this.engine = new Engine(new ClientConfig(
                new ClientConfig.Source.Own(this),
                SESSION,
                Optional.empty(),
                new OwnerData("simulated", 1, toString()),
                () -> ids++,
                time,
                hostile.map(this::hostileOutbox).orElseGet(this::outbox),
                Runnable::run,
                Namings.LATCHKEY));
        this.turns =
                mostTurns == 0 ? Optional.empty() : Optional.of(new LocalHandOff(engine, mostTurns, WorldSpec.LONGEST));
        hostile.ifPresent(code -> code.callsBackBy(this::callBack));
    }

    private Outbox outbox() {
        return Outbox.inPlace(Runnable::run, Optional.of(ObserverDispatcher.inPlace(observer)));
    }

    private Outbox hostileOutbox(HostileCode code) {
        return Outbox.inPlace(
                new CallbackThreads(Runnable::run, code.executor(), refused -> {}),
                Optional.of(
                        new ObserverDispatcher(code.observer(observer), code.thread(), ClientLog.inPlace(), () -> {})));
    }

    /** Makes a request beside those of the workers, as users' code may in any callback. */
    private void callBack() {
        var unused = engine.acquire(
                        List.of(new LockTarget(Recipe.MUTEX, new LockPath("/aside"))), new WaitPolicy.Never())
                .thenAccept(lease -> lease.ifPresent(held -> {
                    var unused2 = held.releaseAsync();
                }));
    }

    /** Returns the code of users in its process, if that is hostile. */
    Optional<HostileCode> hostile() {
        return hostile;
    }

    ObserverRules observer() {
        return observer;
    }

    void start() {
        try {
            engine.start();
        } catch (IOException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    @Override
    public ZnodeStore open(ZnodeStore.Listener listener) {
        SimulatedStore sender = new SimulatedStore(leader, SESSION, listener, Runnable::run);
        CountedStore opened = new CountedStore(sender, Long.MAX_VALUE);
        store = sender;
        nodes = opened.nodes();
        return opened;
    }

    /** Returns the ledger of its current session. */
    SessionNodes nodes() {
        return Objects.requireNonNull(nodes);
    }

    Engine engine() {
        return engine;
    }

    /** Begins to close, on its serial executor: there a close does not wait. */
    void close(Duration grace) {
        long ends = time.nanos() + grace.toNanos();
        graceEnds = graceEnds == null ? ends : Math.min(graceEnds, ends);
        engine.onceClosed(() -> closed = true);
        engine.context().execute(() -> engine.close(grace));
    }

    /** Returns whether it has begun to close. */
    boolean isClosing() {
        return graceEnds != null;
    }

    /** Returns whether it closes, and its holders had the whole grace. */
    boolean isPastGrace() {
        Long end = graceEnds;
        return end != null && time.nanos() >= end;
    }

    boolean isClosed() {
        return closed;
    }

    CompletableFuture<Optional<ZkLease>> acquire(List<LockTarget> members, WaitPolicy patience) {
        return turns.isPresent() && members.size() == 1
                ? turns.get().acquire(members.get(0), patience)
                : engine.acquire(members, patience);
    }

    SimulatedTime.View time() {
        return time;
    }

    /** Returns whether one of its timers is due now. */
    boolean hasDue() {
        return nextDue() != null;
    }

    /** Runs the first of its timers that is due now. */
    void runDue() {
        SimulatedTime.PendingTimer timer = nextDue();
        if (timer != null) {
            leader.time().due.remove(timer);
            timer.run();
        }
    }

    private SimulatedTime.@Nullable PendingTimer nextDue() {
        SimulatedTime clock = leader.time();
        SimulatedTime.PendingTimer first = null;
        if (clock.nextAt() > clock.nanos()) {
            return null;
        }
        for (SimulatedTime.PendingTimer timer : clock.due) {
            boolean isMine = timer.owner == time && timer.task != null && timer.nanos <= clock.nanos();
            if (isMine && (first == null || timer.number < first.number)) {
                first = timer;
            }
        }
        return first;
    }

    /** Pauses the client's process until it goes on. */
    void standStill() {
        still = still.minusNanos(time.nanos());
        time.standStill();
        store().time.standStill();
    }

    void goOn() {
        still = still.plusNanos(time.nanos());
        time.goOn();
        store().time.goOn();
    }

    /** Returns the total time of its standstills, once it runs again. */
    Duration stoodStill() {
        return still;
    }

    boolean isStill() {
        return time.isStill();
    }

    /** Returns the handle of its current session. */
    SimulatedStore store() {
        return Objects.requireNonNull(store);
    }

    List<Worker> workers() {
        return workers;
    }

    @Override
    public String toString() {
        return "C" + index;
    }
}
