// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Contender;
import io.latchkey.lock.Lease;
import io.latchkey.zk.session.Engine;
import io.latchkey.zk.session.Errors;
import io.latchkey.zk.session.Member;
import io.latchkey.zk.session.Patience;
import io.latchkey.zk.session.QueueView;
import io.latchkey.zk.session.ZkLease;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import java.util.stream.Collectors;

/** One recipe at one path, or several: the synchronous and the asynchronous door to the same request. */
class ZkAcquirable implements Acquirable {
    private static final Patience FOREVER = new Patience.Forever();
    private static final Patience NEVER = new Patience.Never();

    private final Engine engine;
    private final List<Member> members;

    ZkAcquirable(Engine engine, Member only) {
        this(engine, List.of(only));
    }

    ZkAcquirable(Engine engine, List<Member> members) {
        this.engine = engine;
        this.members = members;
    }

    @Override
    public Lease acquire() throws InterruptedException {
        return await(FOREVER).orElseThrow();
    }

    @Override
    public Optional<Lease> tryAcquire() throws InterruptedException {
        return await(NEVER);
    }

    @Override
    public Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException {
        return await(Patience.of(checked(timeout)));
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        return promise(FOREVER, Optional::orElseThrow);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration timeout) {
        return promise(Patience.of(checked(timeout)), lease -> lease);
    }

    @Override
    public List<Contender> queue() {
        return members.stream()
                .flatMap(member ->
                        new QueueView(engine, member.path(), member.recipe().purpose()).read().stream())
                .toList();
    }

    private Optional<Lease> await(Patience patience) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("interrupted before acquiring " + this);
        }
        CompletableFuture<Optional<ZkLease>> request = startToWait(patience);
        try {
            return request.get().map(ZkLease::received);
        } catch (InterruptedException interrupted) {
            if (!request.cancel(false) && !request.isCompletedExceptionally()) {
                request.join().ifPresent(ZkLease::abandon);
            }
            throw interrupted;
        } catch (ExecutionException failed) {
            throw Errors.toCaller(failed);
        }
    }

    /** For a caller that waits on the current thread. */
    CompletableFuture<Optional<ZkLease>> startToWait(Patience patience) {
        engine.checkMayWait("acquire", this);
        return start(patience);
    }

    CompletableFuture<Optional<ZkLease>> start(Patience patience) {
        return engine.acquire(members, patience);
    }

    /** The user's future: what depends on it runs where callbacks run, and completing it otherwise gives up the request. */
    private <T> CompletableFuture<T> promise(Patience patience, Function<Optional<Lease>, T> shape) {
        CompletableFuture<T> promise = new CompletableFuture<>();
        CompletableFuture<Optional<ZkLease>> request = start(patience);
        var unused = request.whenComplete((lease, error) -> engine.callBack(() -> {
            if (error != null) {
                promise.completeExceptionally(Errors.own(error));
            } else if (!promise.complete(shape.apply(lease.map(ZkLease::received)))) {
                lease.ifPresent(ZkLease::abandon);
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

    List<Member> asked() {
        return members;
    }

    /** What is held by whoever holds it through a view, whichever side of it. */
    String holdKey() {
        Member only = members.get(0);
        return only.recipe().purpose().kind() + only.path();
    }

    /** The first member's path. */
    String path() {
        return members.get(0).path();
    }

    @Override
    public String toString() {
        return members.stream().map(this::describe).collect(Collectors.joining(" + "));
    }

    private String describe(Member member) {
        return member.recipe().describe() + " " + engine.shown(member.path());
    }
}
