// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.locks;

import com.google.common.collect.Comparators;
import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.admin.Contender;
import io.latchkey.zk.internal.admin.QueueInspector;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.client.LocalHandOff;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.PrintableText;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.request.AcquireFuture;
import io.latchkey.zk.internal.request.WaitPolicy;
import io.latchkey.zk.internal.request.ZkLease;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.threads.StackRoom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;

/** A lock of one recipe at one path, or of several, with its synchronous and asynchronous methods. */
class ZkAcquirable implements Acquirable {
    private static final WaitPolicy FOREVER = new WaitPolicy.Forever();
    private static final WaitPolicy NEVER = new WaitPolicy.Never();

    private static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE);

    private final Engine engine;
    private final List<LockTarget> members;
    /** The local turns of the lock, if they are enabled. */
    private final Optional<LocalHandOff> turns;

    ZkAcquirable(Engine engine, List<LockTarget> members, Optional<LocalHandOff> turns) {
        this.engine = engine;
        this.members = members;
        this.turns = turns;
    }

    @Override
    public Lease acquire() throws InterruptedException {
        return await(FOREVER).orElseThrow();
    }

    @Override
    public Lease acquire(Duration timeout) throws InterruptedException {
        WaitPolicy waitPolicy = WaitPolicy.of(checked(timeout));
        checkNotInterrupted();
        AcquireFuture request = startToWait(waitPolicy);
        return request.await(true).orElseThrow(request::whyNotGranted);
    }

    @Override
    public Lease acquireUninterruptibly() {
        return awaitUninterruptibly(FOREVER).orElseThrow();
    }

    Optional<ZkLease> awaitUninterruptibly(WaitPolicy waitPolicy) {
        try {
            return startToWait(waitPolicy).await(false);
        } catch (InterruptedException impossible) {
            throw new IllegalStateException("an uninterruptible wait was interrupted", impossible);
        }
    }

    @Override
    public Optional<Lease> tryAcquire() throws InterruptedException {
        return await(NEVER);
    }

    @Override
    public Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException {
        return await(WaitPolicy.of(checked(timeout)));
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        return promise(FOREVER, Optional::orElseThrow, true);
    }

    @Override
    public CompletableFuture<Lease> acquireAsync(Duration timeout) {
        return promise(WaitPolicy.of(checked(timeout)), Optional::orElseThrow, true);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration timeout) {
        return promise(WaitPolicy.of(checked(timeout)), lease -> lease, false);
    }

    @Override
    public Acquirable labelled(String label) {
        return new ZkAcquirable(engine, withLabel(label), turns);
    }

    List<LockTarget> withLabel(String label) {
        PrintableText.checkLabel("label", label);
        return members.stream().map(member -> member.labelled(label)).toList();
    }

    @Override
    public Acquirable heldAtMost(Duration limit) {
        return new ZkAcquirable(engine, withLimit(limit), turns);
    }

    List<LockTarget> withLimit(Duration limit) {
        Duration positive = positive(limit);
        return members.stream().map(member -> member.heldAtMost(positive)).toList();
    }

    private static Duration positive(Duration limit) {
        Objects.requireNonNull(limit, "limit");
        if (limit.isNegative() || limit.isZero()) {
            throw new IllegalArgumentException("the limit must be positive, not " + limit);
        }
        return Comparators.min(limit, LONGEST);
    }

    @Override
    public List<Contender> queue() throws InterruptedException {
        List<Contender> all = new ArrayList<>();
        for (LockTarget member : members) {
            all.addAll(inspector(member).read());
        }
        return List.copyOf(all);
    }

    @Override
    public CompletableFuture<List<Contender>> queueAsync() {
        return engine.queries()
                .promise(
                        members.stream()
                                .map(member -> inspector(member).readLater())
                                .toList(),
                        queues -> queues.stream().flatMap(List::stream).toList());
    }

    QueueInspector inspector(LockTarget member) {
        return new QueueInspector(engine, member.path(), member.recipe().purpose());
    }

    private Optional<Lease> await(WaitPolicy waitPolicy) throws InterruptedException {
        checkNotInterrupted();
        return startToWait(waitPolicy).await(true).map(lease -> lease);
    }

    private void checkNotInterrupted() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("interrupted before acquiring " + this);
        }
    }

    /** Starts a request for a caller that waits on the current thread. */
    private AcquireFuture startToWait(WaitPolicy waitPolicy) {
        engine.context().checkMayWait("acquire", this);
        return start(waitPolicy);
    }

    /** Starts a request, unless the stack has too little room to begin one. */
    AcquireFuture start(WaitPolicy waitPolicy) {
        StackRoom.check();
        return turns.isPresent()
                ? turns.get().acquire(members.get(0), waitPolicy)
                : engine.acquire(members, waitPolicy);
    }

    /**
     * Returns the user's future. Its dependent stages run on the callback executor. If the user completes it, the
     * request is given up.
     */
    private <T> CompletableFuture<T> promise(
            WaitPolicy waitPolicy, Function<Optional<Lease>, T> shape, boolean orFails) {
        CompletableFuture<T> promise = new CompletableFuture<>();
        AcquireFuture request = start(waitPolicy);
        var unused = request.whenComplete((lease, error) -> engine.context().callBack(() -> {
            boolean handedOver = false;
            try {
                if (error != null) {
                    promise.completeExceptionally(Errors.own(error));
                } else if (orFails && lease.isEmpty()) {
                    promise.completeExceptionally(request.whyNotGranted());
                } else {
                    handedOver = promise.complete(shape.apply(lease.map(ZkLease::received)));
                }
            } finally {
                if (error == null && !handedOver) {
                    lease.ifPresent(ZkLease::abandon);
                }
            }
        }));
        var unused2 = promise.whenComplete((lease, error) -> request.cancel(false));
        return promise;
    }

    private static Duration checked(Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("timeout is negative: " + timeout + "; zero means now or never");
        }
        return timeout;
    }

    Engine engine() {
        return engine;
    }

    Optional<LocalHandOff> turns() {
        return turns;
    }

    List<LockTarget> asked() {
        return members;
    }

    /** Returns the key of a thread's hold through a view, which both sides of a read-write lock share. */
    String holdKey() {
        LockTarget only = members.get(0);
        return only.recipe().purpose().kind() + only.path().node();
    }

    /** Returns the first member's path. */
    LockPath path() {
        return members.get(0).path();
    }

    @Override
    public String toString() {
        return members.stream().map(this::describe).collect(Collectors.joining(" + "));
    }

    private String describe(LockTarget member) {
        return member.recipe().describe() + " " + member.path().shown();
    }
}
