// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

/** Ours on the simulation. */
class SimulatedTermContractTest extends TermContract {
    @Override
    protected LockFixture newFixture() {
        return new ObservedFixture();
    }
}
