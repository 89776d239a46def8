// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import java.time.Duration;
import java.util.List;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.Test;

class ZooKeeperHandlesTest {
    /** As when a pod is not ready, or a server was taken away for good. */
    @Test
    void hostsAreAccepted_whenTheFirstOfThemIsUnknown() {
        ZooKeeperHandles handles = new ZooKeeperHandles(
                "no-such-host.invalid:2181,127.0.0.1:2181", Duration.ofSeconds(10), List.of(), new ZKClientConfig());
        assertDoesNotThrow(handles::checkHosts);
    }
}
