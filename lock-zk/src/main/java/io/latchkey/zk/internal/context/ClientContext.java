// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.context;

import io.latchkey.zk.internal.events.ClientEvents;
import io.latchkey.zk.internal.events.RequestEvents;
import io.latchkey.zk.internal.queue.Naming;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.OtherUse;
import io.latchkey.zk.internal.queue.Owner;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.threads.SerialExecutor;
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
import java.util.function.ToLongFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What all parts of one client share: its executor, clock, names and events, and what it knows of its paths. */
public final class ClientContext {
    private static final Logger LOG = LoggerFactory.getLogger(ClientContext.class);
    /** Queues remember their path's kind; this many are kept when nothing goes on in them. */
    private static final int LANES_TO_KEEP = 10_000;

    /** Of the default tick, two seconds. */
    private static final Duration TWO_THIRDS_OF_A_TICK = Duration.ofMillis(1_334);

    private final ClientConfig config;
    private final SerialExecutor serial;
    private final byte[] ownerData;
    private final ClientEvents signals;
    private final ToLongFunction<String> leasesOn;
    private final BooleanSupplier bringsAnswers;

    /** Of semaphores that were resized. */
    private final Map<String, Integer> capacities = new ConcurrentHashMap<>();

    /** Paths of which the log says that others use them in another way. */
    private final Set<String> usedOtherwise = new HashSet<>(0);

    /**
     * @param leasesOn how many leases of the client a path has; asked on the serial executor
     * @param bringsAnswers whether the current thread is the event thread of the client's ZooKeeper handle
     */
    public ClientContext(ClientConfig config, ToLongFunction<String> leasesOn, BooleanSupplier bringsAnswers) {
        this.config = config;
        this.serial = new SerialExecutor(config.relief());
        this.ownerData = config.owner().data();
        this.signals = new ClientEvents(config.observer(), config.time(), config.sessionTimeout());
        this.leasesOn = leasesOn;
        this.bringsAnswers = bringsAnswers;
    }

    public String newId() {
        return HexFormat.of().toHexDigits(config.ids().getAsLong(), NodeName.ID_LENGTH);
    }

    /** How requests are named at all paths of this client, and with whom they share them. */
    public Naming naming() {
        return config.naming();
    }

    public ClientEvents signals() {
        return signals;
    }

    /** News of a caller that waits elsewhere for what {@code members} are. */
    public RequestEvents signalsOf(List<LockTarget> members) {
        return new RequestEvents(signals, members, shown(members.get(0).lock()));
    }

    public byte[] ownerData() {
        return ownerData;
    }

    /** For a node of a request with a label of its own; an empty one is the client's. */
    public byte[] ownerData(String label) {
        return label.isEmpty() ? ownerData : config.owner().withLabel(label).data();
    }

    /** For a node whose lease has another token than its own number. */
    public byte[] ownerDataWith(long token, String label) {
        Owner owner = config.owner().withToken(token);
        return (label.isEmpty() ? owner : owner.withLabel(label)).data();
    }

    public Clock time() {
        return config.time();
    }

    public ClockReading now() {
        return ClockReading.of(config.time());
    }

    /** Whether its sessions are its own; a borrowed one was made by somebody else, nobody knows when. */
    public boolean makesSessions() {
        return config.source() instanceof ClientConfig.Source.Own;
    }

    /** The time-out that was asked for. */
    public Duration sessionTimeout() {
        return config.sessionTimeout();
    }

    /**
     * How long a touch may take from a server to the leader, which asks for touches every half tick. A client does not know the tick;
     * a session has two of them at least, unless a server is set otherwise. A quarter of the time-out leaves nothing to spare in the
     * smallest session, a third a sixth of a tick, for pings and answers that are
     * late. The session is the smallest where the server made it longer than asked for, and may be where it is short.
     */
    public Duration margin(Duration sessionTimeout) {
        long nanos = sessionTimeout.toNanos();
        long most = nanos / 3;
        boolean lengthened = makesSessions() && sessionTimeout.compareTo(config.sessionTimeout()) > 0;
        long ours = lengthened ? most : Math.max(nanos / 4, TWO_THIRDS_OF_A_TICK.toNanos());
        return Duration.ofNanos(
                Math.min(most, config.margin().map(Duration::toNanos).orElse(ours)));
    }

    public int lanesToKeep() {
        return LANES_TO_KEEP;
    }

    /** What is known of a semaphore's capacity: nothing while it is as declared. */
    public Optional<Integer> knownCapacity(String path) {
        return Optional.ofNullable(capacities.get(path));
    }

    public void learn(String path, PathData data) {
        if (data.capacity() == data.declared()) {
            capacities.remove(path);
        } else {
            capacities.put(path, data.capacity());
        }
    }

    /**
     * A list showed that others use the path in another way. Requests that wait or come get an error. A holder may have been there
     * first: the log is what tells its users. On the serial executor.
     */
    public void usedOtherwise(String path, OtherUse otherUse) {
        if (usedOtherwise.size() < LANES_TO_KEEP && usedOtherwise.add(path)) {
            LOG.warn(Errors.usedTwice(shown(path), leasesOn.applyAsLong(path), otherUse));
        }
    }

    /** The path as the user named it. */
    public String shown(String path) {
        return config.shown().apply(path);
    }
    /** Runs {@code task} on the serial executor. */
    public void serially(Runnable task) {
        serial.execute(task);
    }

    /** Runs a user's callback where it can do no harm. */
    public void callBack(Runnable task) {
        config.callbacks().execute(task);
    }

    /**
     * Whether the current thread is one that has to bring what a blocking call would wait for: the event thread of the
     * ZooKeeper handle, on which a user's own watcher of a borrowed handle runs, or one that is in a step of the engine.
     */
    public boolean wouldWaitForItself() {
        return serial.isRunningHere() || bringsAnswers.getAsBoolean();
    }

    /**
     * To be called before waiting.
     *
     * @param verb what the caller is about to do
     * @param object to what
     * @throws IllegalStateException if that would never end
     */
    public void checkMayWait(String verb, Object object) {
        if (wouldWaitForItself()) {
            throw new IllegalStateException("Cannot " + verb + " " + object + " on this thread, "
                    + Thread.currentThread().getName()
                    + ": it is the thread that brings ZooKeeper's answers, so the call would wait for itself. Nothing was"
                    + " sent. Use an asynchronous form, or another thread.");
        }
    }
}
