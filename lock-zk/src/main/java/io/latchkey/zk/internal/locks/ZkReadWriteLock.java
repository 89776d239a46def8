// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.locks;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.client.LocalHandOff;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.ZkLease;
import io.latchkey.zk.internal.store.Errors;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;

final class ZkReadWriteLock implements ReadWriteLock {
    private final Engine engine;
    private final LockTarget write;
    private final ZkAcquirable readLock;
    private final ZkAcquirable writeLock;
    private final ThreadHolds holds;
    private final Optional<LocalHandOff> turns;

    ZkReadWriteLock(Engine engine, LockTarget write, ThreadHolds holds, Optional<LocalHandOff> turns) {
        this.engine = engine;
        this.write = write;
        this.writeLock = new ZkAcquirable(engine, List.of(write), turns);
        this.readLock = new ZkAcquirable(engine, List.of(write.as(Recipe.READ)), turns);
        this.holds = holds;
        this.turns = turns;
    }

    @Override
    public ReadWriteLock labelled(String label) {
        return new ZkReadWriteLock(engine, writeLock.withLabel(label).get(0), holds, turns);
    }

    @Override
    public ReadWriteLock heldAtMost(Duration limit) {
        return new ZkReadWriteLock(engine, writeLock.withLimit(limit).get(0), holds, turns);
    }

    @Override
    public Acquirable readLock() {
        return readLock;
    }

    @Override
    public Acquirable writeLock() {
        return writeLock;
    }

    @Override
    public Lease downgrade(Lease lease) {
        ZkLease own = checked(lease);
        engine.context().checkMayWait("downgrade a lease of", this);
        return own.downgradeAndWait(Recipe.READ);
    }

    @Override
    public CompletableFuture<Lease> downgradeAsync(Lease lease) {
        CompletableFuture<Lease> promise = new CompletableFuture<>();
        var unused = checked(lease).downgrade(Recipe.READ).whenComplete((read, error) -> engine.context()
                .callBack(() -> {
                    if (error != null) {
                        promise.completeExceptionally(Errors.own(error));
                    } else if (!promise.complete(read)) {
                        read.abandon();
                    }
                }));
        return promise;
    }

    private ZkLease checked(Lease lease) {
        Objects.requireNonNull(lease, "write");
        if (!(lease instanceof ZkLease own)
                || own.context().events() != engine.context().events()
                || !own.isOf(write)) {
            throw new IllegalArgumentException(
                    "not a write lease of " + writeLock + " from this client: " + lease + ". Nothing was changed.");
        }
        return own;
    }

    @Override
    public Optional<Lease> leaseOfView() {
        return holds.mine(writeLock.holdKey()).map(ThreadHolds.Hold::lease);
    }

    @Override
    public java.util.concurrent.locks.ReadWriteLock asReadWriteLock() {
        return new View(
                new LockView(readLock, holds, ThreadHolds.Side.READ),
                new LockView(writeLock, holds, ThreadHolds.Side.WRITE));
    }

    private record View(Lock readLock, Lock writeLock) implements java.util.concurrent.locks.ReadWriteLock {}

    @Override
    public String toString() {
        return "read-write lock " + write.path().shown();
    }
}
