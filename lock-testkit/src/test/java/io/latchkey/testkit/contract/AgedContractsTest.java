// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import org.junit.jupiter.api.Nested;

/** Every guarantee again, with leases that have been held for several session timeouts when the fault strikes. */
class AgedContractsTest {
    private static final int TERMS = Integer.getInteger("latchkey.held.terms", 3);

    @Nested
    class Mutexes extends MutexContract {
        @Override
        protected LockFixture newFixture() {
            return new AgedFixture(TERMS);
        }
    }

    @Nested
    class ReadWriteLocks extends ReadWriteLockContract {
        @Override
        protected LockFixture newFixture() {
            return new AgedFixture(TERMS);
        }
    }

    @Nested
    class Semaphores extends SemaphoreContract {
        @Override
        protected LockFixture newFixture() {
            return new AgedFixture(TERMS);
        }
    }

    @Nested
    class MultiLocks extends MultiLockContract {
        @Override
        protected LockFixture newFixture() {
            return new AgedFixture(TERMS);
        }
    }

    @Nested
    class Leases extends LeaseContract {
        @Override
        protected LockFixture newFixture() {
            return new AgedFixture(TERMS);
        }
    }
}
