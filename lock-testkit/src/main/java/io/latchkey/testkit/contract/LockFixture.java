// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import io.latchkey.lock.LockClient;
import io.latchkey.testkit.time.Slowness;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * What the contracts need of an implementation: clients, and ways to do to one of them what servers and networks do.
 * One fixture serves all tests of a class, also several at once. Every test takes paths and clients of its own.
 *
 * <p>Locks that are kept in ZooKeeper need none of their own: {@link ServerFixture} does all of this for the clients
 * that it is given, and {@link SimulatedFixture} for clients that wrap those of the shipped locks. A fixture that
 * cannot do what a method with a default is about leaves it out and declares the feature as
 * {@linkplain #lacking lacking}; the default throws {@link UnsupportedOperationException}. Every client that a method
 * is given is one that this fixture has made, and none is closed.
 */
public interface LockFixture extends AutoCloseable {
    /**
     * {@return a new connected client with a session of its own, which outlives the time that a client takes to
     * reconnect}
     */
    LockClient newClient();

    /** {@return a new connected client whose session is as short as can be, for tests that wait for its end by time} */
    LockClient newBriefClient();

    /**
     * Ends the client's session at the server. It has ended, with all its requests, when this returns. The client
     * learns of it by itself, later; one that owns its session opens another.
     *
     * @param client whose session
     * @throws InterruptedException if interrupted while waiting
     */
    void expire(LockClient client) throws InterruptedException;

    /**
     * From now on nothing passes between the client and any server, without notice to either, until {@link #heal}.
     *
     * @param client the client to cut off
     */
    void cutOff(LockClient client);

    /**
     * Breaks the client's connection, and refuses others until {@link #heal}. The client knows at once, or within 0.2
     * s.
     *
     * @param client whose connection
     */
    void disconnect(LockClient client);

    /**
     * Ends {@link #cutOff} and {@link #disconnect}, and cancels pending faults; has no effect without them. The client
     * comes back by itself. Called for each client after its test.
     *
     * @param client whose faults
     */
    void heal(LockClient client);

    /**
     * Loses the client's next request to stand in a queue, and the connection with it. The server never sees it.
     *
     * @param client whose request
     * @return completes when that has happened
     */
    default CompletableFuture<?> loseNextCreate(LockClient client) {
        throw undeclared(Feature.WIRE_FAULTS);
    }

    /**
     * Loses the answer to the client's next request to stand in a queue, and the connection with it. The server has
     * done it.
     *
     * @param client whose request
     * @return completes when that has happened
     */
    default CompletableFuture<?> loseAnswerOfNextCreate(LockClient client) {
        throw undeclared(Feature.WIRE_FAULTS);
    }

    /**
     * Loses the answer to the client's next request to leave a queue, and the connection with it. The server has done
     * it.
     *
     * @param client whose request
     * @return completes when that has happened
     */
    default CompletableFuture<?> loseAnswerOfNextDelete(LockClient client) {
        throw undeclared(Feature.WIRE_FAULTS);
    }

    /**
     * Holds back the answers to the client's requests to stand in a queue, and whatever comes behind them. Signs of
     * life still pass, so that the session lives on.
     *
     * @param client whose answers
     * @return in force until it is closed
     */
    default MessageHold holdAnswersOfCreates(LockClient client) {
        throw undeclared(Feature.WIRE_FAULTS);
    }

    /**
     * Holds back what the server tells the client of its own accord, and whatever comes behind it. Signs of life still
     * pass, so that the session lives on.
     *
     * @param client whose events
     * @return in force until it is closed
     */
    default MessageHold holdEvents(LockClient client) {
        throw undeclared(Feature.WIRE_FAULTS);
    }

    /** Something that is held back. */
    interface MessageHold extends AutoCloseable {
        /** {@return completes when something is held back: the server has done its part} */
        CompletableFuture<?> caught();

        /** Lets it go, in order, and holds nothing from now on. Does nothing the second time. */
        @Override
        void close();
    }

    /**
     * Deletes a request behind its owner's back, as an operator can. It is gone when this returns.
     *
     * @param path the lock's
     * @param place 0 for the first in the queue
     */
    default void deleteRequest(String path, int place) {
        throw undeclared(Feature.OPERATOR);
    }

    private static UnsupportedOperationException undeclared(Feature feature) {
        return new UnsupportedOperationException("offer it, or declare " + feature + " as lacking");
    }

    /**
     * {@return the features that are missing, each with the reason, which is reported with the tests that are skipped
     * for it} The result is constant, and empty by default.
     */
    default Map<Feature, String> lacking() {
        return Map.of();
    }

    /**
     * {@return how long a test waits at most for what is due, on an idle machine; 10 s unless a fixture says otherwise}
     * {@link Slowness} stretches it.
     */
    default Duration patience() {
        return Duration.ofSeconds(10);
    }

    /** Ends what the fixture began. Called once, after the last test of the class; clients are closed already. */
    @Override
    void close();

    /** What an implementation of lock-api, or its fixture, may lack. */
    enum Feature {
        /** {@link io.latchkey.lock.Lease#token} grows with every exclusive grant. */
        TOKENS,
        /**
         * {@link io.latchkey.lock.Acquirable#queue} has one contender for each request, with all that it tells of one.
         */
        CONTENDER_DETAILS,
        /** {@link io.latchkey.lock.Lease#remaining} and a deadline that passes without a server. */
        DEADLINES,
        /**
         * {@link io.latchkey.lock.Lease#release} tells that the lease was lost, or that the server has not confirmed.
         */
        RELEASE_OUTCOMES,
        /** {@link io.latchkey.lock.LockTimeoutException} tells a held lock from servers that do not answer. */
        TIMEOUT_REASONS,
        /** Paths know what kind of lock they are for. */
        KINDS,
        /** {@link io.latchkey.lock.Mutex#asLock}. */
        LOCK_VIEWS,
        /** {@link io.latchkey.lock.LockClient#stripedMutex}. */
        STRIPED_MUTEXES,
        /** {@link io.latchkey.lock.LockClient#readWriteLock}. */
        READ_WRITE_LOCKS,
        /** {@link io.latchkey.lock.ReadWriteLock#downgrade}. */
        DOWNGRADES,
        /** {@link io.latchkey.lock.ReadWriteLock#asReadWriteLock}. */
        READ_WRITE_VIEWS,
        /** {@link io.latchkey.lock.LockClient#semaphore}. */
        SEMAPHORES,
        /** {@link io.latchkey.lock.Semaphore#availablePermits}. */
        PERMIT_COUNTS,
        /** {@link io.latchkey.lock.Semaphore#resize} and {@link io.latchkey.lock.Semaphore#capacity}. */
        RESIZING,
        /** {@link io.latchkey.lock.LockClient#multiLock}. */
        MULTI_LOCKS,
        /** A path is checked by the method that gets it, by the rules of {@link io.latchkey.lock.LockClient}. */
        PATH_RULES,
        /**
         * {@link io.latchkey.lock.admin.Contender#requestRelease} and
         * {@link io.latchkey.lock.admin.Contender#evict}, with their notifications.
         */
        ADMINISTRATION,
        /** {@link io.latchkey.lock.LockClient#session}. */
        SESSION_VIEWS,
        /** {@link io.latchkey.lock.LockClient#listLocks}, with its asynchronous form. */
        LISTINGS,
        /**
         * {@link io.latchkey.lock.Acquirable#queueAsync}, {@link io.latchkey.lock.ReadWriteLock#downgradeAsync} and
         * {@link io.latchkey.lock.Semaphore#resizeAsync}.
         */
        ASYNC_QUESTIONS,
        /** {@link io.latchkey.lock.admin.Contender#isOwn} and {@link io.latchkey.lock.admin.Contender#isOf}. */
        OWN_CONTENDERS,
        /** {@link io.latchkey.lock.Acquirable#labelled}. */
        LABELS,
        /** {@link io.latchkey.lock.Acquirable#heldAtMost}. */
        LIMITS,
        /** {@link io.latchkey.lock.LockClient#close(java.time.Duration)}. */
        GRACE,
        /** Of the fixture: {@link LockFixture#deleteRequest}. */
        OPERATOR,
        /** Of the fixture: faults at a chosen request, {@link LockFixture#loseNextCreate} and those beside it. */
        WIRE_FAULTS
    }
}
