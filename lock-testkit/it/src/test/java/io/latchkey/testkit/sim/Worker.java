// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.lock.ClientClosedException;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockMismatchException;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.SimulatedBody;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.ZkLease;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A thread of a client: it performs one task after the other. */
final class Worker {
    private static final String BODY = "a body is interrupted when its lease is lost";
    private static final String LIMIT = "a lease is held for its limit and no longer";

    private final String name;
    private final Client client;
    private final List<Task> tasks;
    private final World world;

    private int next;
    private @Nullable Task task;
    private @Nullable CompletableFuture<Optional<ZkLease>> asked;
    private @Nullable ZkLease lease;
    private boolean downgrading;
    private boolean knowsOfLoss;
    /** Of the present lease, in worlds that have bodies. */
    private @Nullable SimulatedBody body;
    /** The time of the grant. */
    private long heldSince;

    private List<TaskTarget> wishes = List.of();

    Worker(String name, Client client, List<Task> tasks, World world) {
        this.name = name;
        this.client = client;
        this.tasks = tasks;
        this.world = world;
    }

    Client client() {
        return client;
    }

    boolean isDone() {
        return task == null && next == tasks.size();
    }

    boolean mayBegin() {
        return task == null && next < tasks.size() && !client.isStill();
    }

    boolean waits() {
        return task != null && lease == null;
    }

    boolean mayCancel() {
        return waits() && !client.isStill();
    }

    boolean mayRelease() {
        return lease != null && !downgrading && !client.isStill();
    }

    boolean mayDowngrade() {
        ZkLease held = lease;
        return held != null
                && !downgrading
                && !client.isStill()
                && task().members().size() == 1
                && task().members().get(0).recipe().equals(Recipe.WRITE)
                && wishes.get(0).sort() == RequestNode.Sort.WRITE
                && held.isValid();
    }

    boolean hasValidLease() {
        return lease != null && lease.isValid();
    }

    /** Returns whether it runs a body under its lease that has not been interrupted. */
    boolean runsOn() {
        return body != null && !body.isInterrupted();
    }

    boolean isDowngrading() {
        return downgrading;
    }

    /** Returns whether it has been notified that its lease is lost. */
    boolean knowsOfLoss() {
        return knowsOfLoss;
    }

    /** Returns the targets that it waits for or holds; those of its task, until it downgrades. */
    List<TaskTarget> wishes() {
        return wishes;
    }

    Task task() {
        return Objects.requireNonNull(task);
    }

    @Nullable
    ZkLease lease() {
        return lease;
    }

    /** Whether it is at {@code path}, waiting or holding. */
    boolean isAt(String path) {
        if (task == null) {
            return false;
        }
        for (TaskTarget wish : wishes) {
            if (wish.path().equals(path)) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether it holds by the same nodes. */
    boolean isAtNodesOf(ZkLease other) {
        return lease != null && lease.nodePaths().equals(other.nodePaths());
    }

    void begin() {
        Task begun = tasks.get(next++);
        task = begun;
        wishes = begun.wishes();
        knowsOfLoss = false;
        world.requested(this);
        CompletableFuture<Optional<ZkLease>> asking = client.acquire(begun.members(), begun.patience());
        asked = asking;
        client.hostile().ifPresent(code -> {
            var unused = asking.thenRun(code::attack);
        });
        var unused = asking.whenComplete((result, error) -> {
            if (error == null && result.isPresent()) {
                granted(result.get());
            } else {
                refused(error, asking.isCancelled());
            }
        });
    }

    private void granted(ZkLease granted) {
        client.hostile().ifPresent(code -> {
            var unused = granted.lost().thenRun(code::attack);
        });
        lease = granted;
        heldSince = world.now();
        beginBody(granted);
        world.granted(this, granted);
        listen(granted);
    }

    private void beginBody(ZkLease granted) {
        body = world.spec().closes() > 0
                ? client.hostile()
                        .map(code -> new SimulatedBody(granted, code.bodyThread()))
                        .orElseGet(() -> new SimulatedBody(granted))
                : null;
    }

    private void listen(ZkLease granted) {
        var unused = granted.lost().thenAccept(cause -> {
            if (cause == LossCause.CLIENT_FAILED) {
                world.broke(new BrokenRuleError("no unexpected error", name + " lost by a failure: " + granted));
            }
            if (granted.equals(lease)) {
                knowsOfLoss = true;
                if (runsOn()) {
                    world.broke(new BrokenRuleError(BODY, name + " is notified of a loss before its body: " + granted));
                }
                if (cause == LossCause.HELD_TOO_LONG && !isPastLimit(Duration.ofMillis(-1))) {
                    world.broke(new BrokenRuleError(LIMIT, name + " lost in its time: " + granted));
                }
            }
            world.lost(this, granted, cause);
        });
    }

    private void refused(@Nullable Throwable error, boolean cancelled) {
        world.note(() -> this + " got nothing: " + error);
        world.gotNothing(this, error == null ? "" : error.getClass().getSimpleName());
        boolean expected = error == null
                || cancelled
                || (error instanceof ClientClosedException && client.isClosing())
                || error instanceof LockMismatchException
                || (error instanceof LockServiceUnavailableException unavailable
                        && unavailable.reason() != LockException.Reason.CLIENT_FAILED);
        if (!expected) {
            world.broke(new BrokenRuleError("no unexpected error", name + " was refused with " + error));
        }
        over();
    }

    void release() {
        ZkLease released = Objects.requireNonNull(lease);
        if (isPastLimit(Duration.ZERO) && released.isValid()) {
            world.broke(new BrokenRuleError(LIMIT, name + " holds after its time: " + released));
        }
        if (released.isValid() && body != null && body.isInterrupted()) {
            world.broke(new BrokenRuleError(BODY, name + " is interrupted under a valid lease: " + released));
        }
        Consumer<ReleaseOutcome> then = world.releasing(this, released);
        var unused = released.releaseAsync().thenAccept(then);
        over();
    }

    void cancel() {
        Objects.requireNonNull(asked).cancel(false);
    }

    void downgrade() {
        downgrading = true;
        ZkLease write = Objects.requireNonNull(lease);
        long since = world.now();
        var unused = write.downgrade(Recipe.READ).whenComplete((read, error) -> {
            downgrading = false;
            world.note(() -> name + " downgraded: " + (error == null ? read : error));
            if (error == null) {
                lease = read;
                beginBody(read);
                wishes = List.of(wishes.get(0).downgraded());
                listen(read);
                world.downgraded(this, write, read, since);
            }
        });
    }

    /** Returns whether the limit of its task and {@code more} have passed since the grant. */
    private boolean isPastLimit(Duration more) {
        return task().members().stream()
                .flatMap(member -> member.limit().stream())
                .anyMatch(limit -> world.now() - heldSince >= limit.plus(more).toNanos());
    }

    private void over() {
        task = null;
        lease = null;
        body = null;
        asked = null;
    }

    String name() {
        return name;
    }

    @Override
    public String toString() {
        return name + (task == null ? "" : " with " + task) + (lease == null ? "" : " holding " + lease);
    }
}
