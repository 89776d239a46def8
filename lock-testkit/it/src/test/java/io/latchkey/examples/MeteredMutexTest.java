// SPDX-License-Identifier: Apache-2.0
package io.latchkey.examples;

import io.latchkey.testkit.contract.LockFixture;
import io.latchkey.testkit.contract.MutexContract;
import io.latchkey.testkit.contract.SimulatedFixture;
import org.junit.jupiter.api.Tag;

/** An example of docs/testkit.md; ExamplesTest compares. */
@Tag("slow")
class MeteredMutexTest extends MutexContract {
    @Override
    protected LockFixture newFixture() {
        return new SimulatedFixture(client -> new MeteredLocks(client));
    }
}
