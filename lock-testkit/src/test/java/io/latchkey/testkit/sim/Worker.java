package io.latchkey.testkit.sim;

import io.latchkey.lock.LockMismatchException;
import io.latchkey.lock.LockUnavailableException;
import io.latchkey.zk.recipe.Recipe;
import io.latchkey.zk.session.Engine;
import io.latchkey.zk.session.ZkLease;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A thread of a client, as it were: it does one task after the other. */
final class Worker {
    private final String name;
    private final Engine engine;
    private final Consumer<String> diary;
    private final Deque<Task> tasks = new ArrayDeque<>();

    private @Nullable Task task;
    private @Nullable CompletableFuture<Optional<ZkLease>> asked;
    private @Nullable ZkLease lease;
    private boolean downgrading;
    private int granted;

    Worker(String name, Engine engine, Consumer<String> diary) {
        this.name = name;
        this.engine = engine;
        this.diary = diary;
    }

    void give(Task next) {
        tasks.add(next);
    }

    boolean isDone() {
        return tasks.isEmpty() && task == null;
    }

    boolean isIdle() {
        return task == null;
    }

    boolean mayBegin() {
        return task == null && !tasks.isEmpty();
    }

    boolean waits() {
        return task != null && lease == null;
    }

    boolean mayRelease() {
        return lease != null && !downgrading;
    }

    boolean mayDowngrade() {
        return lease != null
                && !downgrading
                && lease.isValid()
                && task().members().size() == 1
                && task().members().get(0).recipe().equals(Recipe.WRITE)
                && lease.isOf(task().members().get(0));
    }

    boolean isDowngrading() {
        return downgrading;
    }

    Task task() {
        return Objects.requireNonNull(task);
    }

    Optional<ZkLease> lease() {
        return Optional.ofNullable(lease);
    }

    /** How often it was granted something. */
    int granted() {
        return granted;
    }

    void begin() {
        Task next = tasks.remove();
        task = next;
        diary.accept(name + " asks for " + next);
        CompletableFuture<Optional<ZkLease>> asking = engine.acquire(next.members(), next.patience());
        asked = asking;
        var unused = asking.whenComplete((result, error) -> {
            if (error == null && result.isPresent()) {
                granted(result.get());
            } else {
                refused(error, asking.isCancelled());
            }
        });
    }

    private void granted(ZkLease granted) {
        this.granted++;
        lease = granted;
        diary.accept(name + " holds " + granted);
        var unused = granted.lost().thenAccept(cause -> diary.accept(name + " lost " + granted + ": " + cause));
    }

    private void refused(@Nullable Throwable error, boolean cancelled) {
        diary.accept(name + " got nothing: " + error);
        boolean expected = error == null
                || cancelled
                || error instanceof LockMismatchException
                || error instanceof LockUnavailableException;
        if (!expected) {
            throw new AssertionError("refused", error);
        }
        over();
    }

    void release() {
        diary.accept(name + " releases");
        var unused = Objects.requireNonNull(lease).releaseAsync();
        over();
    }

    void cancel() {
        diary.accept(name + " cancels");
        Objects.requireNonNull(asked).cancel(false);
    }

    void downgrade() {
        diary.accept(name + " downgrades");
        downgrading = true;
        var unused = Objects.requireNonNull(lease).downgrade(Recipe.READ).whenComplete((read, error) -> {
            downgrading = false;
            diary.accept(name + " downgraded: " + (error == null ? read : error));
            if (error == null) {
                lease = read;
            }
        });
    }

    private void over() {
        task = null;
        lease = null;
        asked = null;
    }

    @Override
    public String toString() {
        return name + (task == null ? "" : " with " + task) + (lease == null ? "" : " holding " + lease);
    }
}
