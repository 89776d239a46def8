// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.workload;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockUnavailableException;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.history.History;
import io.latchkey.testkit.history.LockClaim;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** One actor's turns on recorded locks. */
final class ActorRun {
    private final FaultyClient client;
    private final History history;
    private final String base;

    ActorRun(FaultyClient client, History history, String base) {
        this.client = client;
        this.history = history;
        this.base = base;
    }

    Void takeTurns(List<Turn> turns) throws InterruptedException, ExecutionException {
        for (Turn turn : turns) {
            Thread.sleep(turn.pauseMillis());
            Acquirable plain = turn.lock().of(client.client(), base);
            Acquirable lock =
                    history.recorded(client, plain, turn.lock().claims(base).toArray(LockClaim[]::new));
            Optional<Lease> granted = ask(lock, turn);
            if (granted.isPresent()) {
                holdAndRelease(granted.get(), turn);
            }
        }
        return null;
    }

    private static Optional<Lease> ask(Acquirable lock, Turn turn) throws InterruptedException, ExecutionException {
        return switch (turn.form()) {
            case ACQUIRE, DOWNGRADE -> Optional.of(lock.acquire());
            case TRY_NOW -> unlessUnreachable(lock::tryAcquire);
            case TRY_WITHIN -> unlessUnreachable(() -> lock.tryAcquire(Duration.ofMillis(turn.patienceMillis())));
            case CANCEL -> askAndCancel(lock, turn.patienceMillis());
        };
    }

    private interface Trying {
        Optional<Lease> ask() throws InterruptedException;
    }

    /** A try that reaches no server may throw: no grant, and no error of the lock. */
    private static Optional<Lease> unlessUnreachable(Trying trying) throws InterruptedException {
        try {
            return trying.ask();
        } catch (LockUnavailableException unreachable) {
            return Optional.empty();
        }
    }

    /** A grant that comes while it is cancelled is given back by the lock itself. */
    private static Optional<Lease> askAndCancel(Acquirable lock, int afterMillis)
            throws InterruptedException, ExecutionException {
        CompletableFuture<Lease> asked = lock.acquireAsync();
        try {
            return Optional.of(asked.get(afterMillis, TimeUnit.MILLISECONDS));
        } catch (TimeoutException late) {
            return asked.cancel(false) ? Optional.empty() : Optional.of(asked.get());
        } catch (CancellationException cancelled) {
            return Optional.empty();
        }
    }

    private void holdAndRelease(Lease lease, Turn turn) throws InterruptedException {
        hold(lease, turn);
        if (turn.form() == Turn.Form.DOWNGRADE && turn.lock() instanceof LockSpec.Write write) {
            ReadWriteLock lock = client.client().readWriteLock(base + write.path());
            try {
                Lease read = History.downgrade(lock, lease);
                hold(read, turn);
                release(read);
                return;
            } catch (LeaseLostException lost) {
                // It was the write lease that was lost; its loss is recorded.
            } catch (UnsupportedOperationException lacking) {
                history.note(client.name(), "goes on without a downgrade: " + lacking.getMessage());
            }
        }
        release(lease);
    }

    private static void hold(Lease lease, Turn turn) throws InterruptedException {
        if (lease.isValid()) {
            Thread.sleep(turn.holdMillis());
        }
    }

    /** Releases a valid lease only: a lost one stays lost in the history. */
    private static void release(Lease lease) {
        if (lease.isValid()) {
            lease.close();
        }
    }
}
