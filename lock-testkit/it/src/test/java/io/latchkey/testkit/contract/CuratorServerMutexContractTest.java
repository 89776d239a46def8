// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import io.latchkey.testkit.FaultyClient.Connector;
import io.latchkey.testkit.server.ExternalServers;
import io.latchkey.testkit.server.Ports;
import java.util.Map;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Tag;

/** Ours on a server of curator-test. */
@Tag("slow")
class CuratorServerMutexContractTest extends MutexContract {
    @Override
    protected LockFixture newFixture() throws Exception {
        Map<String, Object> settings = Map.of("maxSessionTimeout", "60000");
        InstanceSpec spec = new InstanceSpec(null, Ports.free(), -1, -1, true, -1, 100, 0, settings);
        TestingServer curator = new TestingServer(spec, true);
        return new ServerFixture(
                Connector.ofLatchkey(),
                ExternalServers.at(curator.getConnectString()).closing(curator));
    }
}
