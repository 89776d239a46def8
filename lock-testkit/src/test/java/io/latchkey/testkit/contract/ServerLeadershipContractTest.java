// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import io.latchkey.testkit.FaultyClient.Connector;

/** Ours on a real server. */
class ServerLeadershipContractTest extends LeadershipContract {
    @Override
    protected LockFixture newFixture() {
        return new ServerFixture(Connector.ofLatchkey());
    }
}
