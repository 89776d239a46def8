// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

/** What an implementation of lock-api, or its fixture, may lack. */
public enum Feature {
    /** {@link io.latchkey.lock.Lease#token} grows with every exclusive grant. */
    TOKENS,
    /** {@link io.latchkey.lock.Acquirable#queue} has one contender for each request, with all that it tells of one. */
    CONTENDER_DETAILS,
    /** {@link io.latchkey.lock.Lease#remaining} and a deadline that passes without a server. */
    DEADLINES,
    /** {@link io.latchkey.lock.Lease#release} tells that the lease was lost, or that the server has not confirmed. */
    RELEASE_OUTCOMES,
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
     * {@link io.latchkey.lock.Contender#requestRelease} and {@link io.latchkey.lock.Contender#evict}, with their
     * notifications.
     */
    ADMINISTRATION,
    /** {@link io.latchkey.lock.LockClient#session}. */
    SESSION_VIEWS,
    /** {@link io.latchkey.lock.Acquirable#labelled}. */
    LABELS,
    /** Of the fixture: {@link LockFixture#deleteRequest}. */
    OPERATOR,
    /** Of the fixture: faults at a chosen request, {@link LockFixture#loseNextCreate} and those beside it. */
    WIRE_FAULTS
}
