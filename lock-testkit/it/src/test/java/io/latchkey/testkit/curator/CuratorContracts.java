// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.curator;

import io.latchkey.testkit.contract.LeaseContract;
import io.latchkey.testkit.contract.LockFixture;
import io.latchkey.testkit.contract.MultiLockContract;
import io.latchkey.testkit.contract.MutexContract;
import io.latchkey.testkit.contract.ReadWriteLockContract;
import io.latchkey.testkit.contract.SemaphoreContract;

/**
 * The contracts, unmodified, pointed at Curator. Not run by themselves: {@link CuratorContractTest} looks at what they
 * find.
 */
final class CuratorContracts {
    private CuratorContracts() {}

    static class MutexCase extends MutexContract {
        @Override
        protected LockFixture newFixture() {
            return new CuratorFixture();
        }
    }

    static class LeaseCase extends LeaseContract {
        @Override
        protected LockFixture newFixture() {
            return new CuratorFixture();
        }
    }

    static class ReadWriteLockCase extends ReadWriteLockContract {
        @Override
        protected LockFixture newFixture() {
            return new CuratorFixture();
        }
    }

    static class SemaphoreCase extends SemaphoreContract {
        @Override
        protected LockFixture newFixture() {
            return new CuratorFixture();
        }
    }

    static class MultiLockCase extends MultiLockContract {
        @Override
        protected LockFixture newFixture() {
            return new CuratorFixture();
        }
    }
}
