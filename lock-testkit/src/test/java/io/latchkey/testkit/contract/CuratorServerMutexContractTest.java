// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import io.latchkey.testkit.FaultyClient.Connector;
import io.latchkey.testkit.server.ExternalServers;
import java.util.Map;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingServer;

/** The contract of mutexes on a server of curator-test. */
class CuratorServerMutexContractTest extends MutexContract {
    @Override
    protected LockFixture newFixture() throws Exception {
        Map<String, Object> settings = Map.of("maxSessionTimeout", "60000");
        InstanceSpec spec = new InstanceSpec(null, -1, -1, -1, true, -1, 100, 0, settings);
        TestingServer curator = new TestingServer(spec, true);
        return new ServerFixture(
                Connector.ofLatchkey(),
                ExternalServers.at(curator.getConnectString()).closing(curator));
    }
}
