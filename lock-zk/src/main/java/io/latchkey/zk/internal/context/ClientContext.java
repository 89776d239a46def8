// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.context;

import io.latchkey.lock.Owner;
import io.latchkey.zk.internal.events.ClientEvents;
import io.latchkey.zk.internal.events.ClientLog;
import io.latchkey.zk.internal.events.Outbox;
import io.latchkey.zk.internal.events.RequestEvents;
import io.latchkey.zk.internal.queue.Kind;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.Naming;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.OtherUse;
import io.latchkey.zk.internal.queue.OwnerData;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.threads.OpenAnswers;
import io.latchkey.zk.internal.threads.SerialExecutor;
import io.latchkey.zk.internal.threads.StackRoom;
import io.latchkey.zk.internal.validity.Clock;
import io.latchkey.zk.internal.validity.ClockReading;
import java.time.Duration;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The state that all parts of one client share: its executor, clock, names and events, and what it has learned of its
 * paths.
 */
public final class ClientContext {
    /**
     * The maximum number of things of one kind that are remembered: of a session its unused queues, which know the kind
     * of their path, lost creates and lost lists; of the client capacities and paths with another use.
     */
    public static final int MOST_REMEMBERED = 10_000;

    /** Two thirds of the default tick of two seconds. */
    private static final Duration TWO_THIRDS_OF_A_TICK = Duration.ofMillis(1_334);

    private final ClientConfig config;
    private final SerialExecutor serial;
    private final byte[] ownerData;
    private final ClientEvents events;
    private final ToLongFunction<LockPath> leasesOn;
    private final BooleanSupplier onEventThread;
    private final CallbackMark callback;
    private final OpenAnswers answers = new OpenAnswers();
    private final HeldLeases held = new HeldLeases();
    /** Whether a step has failed, so that the state of the engine is unknown, and all leases are invalid. */
    private volatile boolean failed;

    /** The capacities of the semaphores whose paths were read. */
    private final Map<LockPath, Integer> capacities = new ConcurrentHashMap<>();

    /** Paths whose other use has been logged. */
    private final Set<LockPath> usedOtherwise = new HashSet<>(0);

    /**
     * @param events takes the events of the client
     * @param callback marks the threads that run a callback of the client
     * @param leasesOn returns the number of this client's leases on a path; called on the serial executor
     * @param onEventThread whether the current thread is the event thread of the client's ZooKeeper handle
     * @param onFailure takes what a step has thrown; on any thread, once
     */
    public ClientContext(
            ClientConfig config,
            ClientEvents events,
            CallbackMark callback,
            ToLongFunction<LockPath> leasesOn,
            BooleanSupplier onEventThread,
            Consumer<Throwable> onFailure) {
        this.config = config;
        this.serial = new SerialExecutor(config.relief(), unexpected -> {
            failed = true;
            onFailure.accept(unexpected);
        });
        this.ownerData = config.owner().data();
        this.events = events;
        this.callback = callback;
        this.leasesOn = leasesOn;
        this.onEventThread = onEventThread;
    }

    /** The mark of threads that run a callback of one client: a callback may close another one. */
    public static final class CallbackMark {
        @SuppressWarnings("ThreadLocalUsage") // one for each client
        private final ThreadLocal<@Nullable Boolean> marked = new ThreadLocal<>();
    }

    /** Returns the name of this client in its nodes. */
    public OwnerData owner() {
        return config.owner();
    }

    public String newId() {
        return HexFormat.of().toHexDigits(config.ids().getAsLong(), NodeName.ID_LENGTH);
    }

    /** Returns the naming of requests at all paths of this client. */
    public Naming naming() {
        return config.naming();
    }

    public ClientEvents events() {
        return events;
    }

    /** Returns the events of a request for {@code members}. */
    public RequestEvents eventsOf(List<LockTarget> members) {
        return new RequestEvents(events, members);
    }

    public byte[] ownerData() {
        return ownerData;
    }

    /** Returns the owner that a node's data names, as users see it. */
    public static Owner shown(OwnerData owner) {
        return new Owner(owner.label(), owner.host(), owner.processId());
    }

    /** Returns the data for the node of a request with a label of its own; an empty label means the client's. */
    public byte[] ownerData(String label) {
        return label.isEmpty() ? ownerData : config.owner().withLabel(label).data();
    }

    /** Returns the data for a node whose lease has another token than the node's czxid. */
    public byte[] ownerDataWith(long token, String label) {
        OwnerData owner = config.owner().withToken(token);
        return (label.isEmpty() ? owner : owner.withLabel(label)).data();
    }

    public Clock clock() {
        return config.time();
    }

    public ClockReading now() {
        return ClockReading.of(config.time());
    }

    /** Returns whether this client opens its sessions. The age of a borrowed session is unknown. */
    public boolean makesSessions() {
        return config.source() instanceof ClientConfig.Source.Own;
    }

    /** Returns the timeout that the client asks for. */
    public Duration sessionTimeout() {
        return config.sessionTimeout();
    }

    /**
     * Returns how long a touch may take from a server to the leader, which asks for touches every half tick. A client
     * does not know the tick. A session has at least two of them, unless a server is configured otherwise. In the
     * shortest session, a quarter of the timeout is exactly half a tick and allows for no late ping or response; a
     * third leaves a sixth of a tick for them. The session is the shortest if the server lengthened the timeout, and
     * may be if the timeout is short.
     */
    public Duration margin(Duration sessionTimeout) {
        long nanos = sessionTimeout.toNanos();
        long most = nanos / 3;
        boolean lengthened = makesSessions() && sessionTimeout.compareTo(config.sessionTimeout()) > 0;
        long ours = lengthened ? most : Math.max(nanos / 4, TWO_THIRDS_OF_A_TICK.toNanos());
        return Duration.ofNanos(
                Math.min(most, config.margin().map(Duration::toNanos).orElse(ours)));
    }

    /** Returns the capacity of a semaphore as it was last read; empty if it was not read, or too many were since. */
    public Optional<Integer> knownCapacity(LockPath path) {
        return Optional.ofNullable(capacities.get(path));
    }

    public void learn(LockPath path, PathData data) {
        if (data.kind() == Kind.SEMAPHORE) {
            if (capacities.size() >= MOST_REMEMBERED && !capacities.containsKey(path)) {
                // It is read again with the path.
                capacities.clear();
            }
            capacities.put(path, data.capacity());
        }
    }

    /**
     * Notes another use of the path that a list has shown, on the serial executor. Requests that wait or are made later
     * get an error. A holder may have been there before; only the log notifies its users.
     */
    public void usedOtherwise(LockPath path, OtherUse otherUse) {
        if (usedOtherwise.size() < MOST_REMEMBERED && usedOtherwise.add(path)) {
            log().warn(ClientContext.class, Errors.usedTwice(path.shown(), leasesOn.applyAsLong(path), otherUse));
        }
    }

    public void execute(Runnable task) {
        serial.execute(task);
    }

    /** Executes for a thread that has room on its stack; see {@link SerialExecutor#executeWithRoom}. */
    public void executeWithRoom(Runnable task) {
        serial.executeWithRoom(task);
    }

    /** Runs {@code task} at the end of each step from now on, in place of one that was given before. In a step. */
    public void afterEachStep(Runnable task) {
        serial.afterEachTask(task);
    }

    /** Ends the engine, as what submits its steps has failed, so that one of them may be missing. */
    public void fail(Throwable why) {
        serial.fail(why);
    }

    /**
     * Returns whether a step has failed: then no further one runs, and no lease is valid, since nothing extends or ends
     * it any more.
     */
    public boolean hasFailed() {
        return failed;
    }

    /** Returns the answers that callers wait for. */
    public OpenAnswers answers() {
        return answers;
    }

    /**
     * Returns the lease that the thread waiting for {@code waiting} holds itself, so that it waits forever, if there is
     * one.
     */
    public Optional<RequestEvents> heldByCallerOf(RequestEvents waiting) {
        return held.blocking(waiting, this::knownCapacity);
    }

    /** Returns the leases that have not ended. */
    public HeldLeases held() {
        return held;
    }

    /** Returns the exits for code that is not the engine's own. */
    public Outbox outbox() {
        return config.outbox();
    }

    public ClientLog log() {
        return config.outbox().log();
    }

    /**
     * Runs {@code task}, which may end in the engine, here or on the relief thread if the stack of this one has too
     * little room.
     *
     * @throws StackOverflowError if it has not even room for that; the task will not run
     */
    public void runWithRoom(Runnable task) {
        if (StackRoom.isEnough()) {
            task.run();
        } else {
            StackRoom.checkForAPool();
            config.relief().execute(task);
        }
    }

    /** Runs the stages of a user's future where they cannot block the engine. */
    public void callBack(Runnable task) {
        Runnable marked = () -> {
            // In another one, if the executor runs tasks where they are submitted.
            boolean nested = isInCallback();
            callback.marked.set(true);
            try {
                task.run();
            } finally {
                if (!nested) {
                    callback.marked.remove();
                }
            }
        };
        outbox().callbacks().execute(marked);
    }

    /** Returns whether the current thread is running a callback of this client. */
    public boolean isInCallback() {
        return Boolean.TRUE.equals(callback.marked.get());
    }

    /**
     * Returns whether a blocking call on the current thread would wait for itself. That is so on the event thread of
     * the ZooKeeper handle, where watchers of a borrowed handle run, and on a thread that is running a task of the
     * engine.
     */
    public boolean wouldWaitForItself() {
        return serial.isRunningHere() || onEventThread.getAsBoolean();
    }

    /**
     * Checks that the current thread may wait; called before each wait.
     *
     * @param verb the action that the caller is about to take
     * @param object the object of that action
     * @throws IllegalStateException if the wait would never end
     */
    public void checkMayWait(String verb, Object object) {
        if (wouldWaitForItself()) {
            throw new IllegalStateException("Cannot " + verb + " " + object + " on this thread, "
                    + Thread.currentThread().getName()
                    + ": it is the thread that delivers ZooKeeper's responses, so the call would wait for itself. Nothing was"
                    + " sent. Use an asynchronous form, or another thread.");
        }
    }
}
