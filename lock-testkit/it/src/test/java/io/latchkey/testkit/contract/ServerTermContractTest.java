// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import io.latchkey.testkit.FaultyClient.Connector;
import org.junit.jupiter.api.Tag;

/** Ours on a real server. */
@Tag("slow")
class ServerTermContractTest extends TermContract {
    @Override
    protected LockFixture newFixture() {
        return new ServerFixture(Connector.ofLatchkey());
    }
}
