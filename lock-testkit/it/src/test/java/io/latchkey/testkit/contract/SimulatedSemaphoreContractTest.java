// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

/** Ours on the simulation. */
class SimulatedSemaphoreContractTest extends SemaphoreContract {
    @Override
    protected LockFixture newFixture() {
        return new ObservedFixture();
    }
}
