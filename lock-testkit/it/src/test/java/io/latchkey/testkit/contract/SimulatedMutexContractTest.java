// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

/** Ours on the simulation. */
class SimulatedMutexContractTest extends MutexContract {
    @Override
    protected LockFixture newFixture() {
        return new ObservedFixture();
    }
}
