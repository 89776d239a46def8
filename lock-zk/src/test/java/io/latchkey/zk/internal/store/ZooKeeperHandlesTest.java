// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.Test;

class ZooKeeperHandlesTest {
    /** As when a pod is not ready, or a server was taken away for good. */
    @Test
    void hostsAreAccepted_whenTheFirstOfThemIsUnknown() {
        ZooKeeperHandles handles = at("no-such-host.invalid:2181,127.0.0.1:2181");
        assertDoesNotThrow(handles::checkHosts);
    }

    /** As while the servers are restarted one after the other. Nothing listens at port 1. */
    @Test
    void serversDoNotAllRefuse_whenTheSecondOfThemListens() throws IOException {
        assertTrue(at("127.0.0.1:1").allRefuse());
        try (ServerSocket listens = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertFalse(at("127.0.0.1:1,127.0.0.1:" + listens.getLocalPort()).allRefuse());
        }
    }

    @Test
    void serversDoNotAllRefuse_whenTheNameOfOneIsUnknown() {
        assertFalse(at("127.0.0.1:1,no-such-host.invalid:2181").allRefuse());
    }

    @Test
    void bytesOfAnAclIncludeTheNamesInIt() {
        assertTrue(ZooKeeperHandles.bytesOf(ZooKeeperHandles.OPEN_ACL) > "world:anyone".length());
    }

    private static ZooKeeperHandles at(String connectString) {
        return new ZooKeeperHandles(connectString, Duration.ofSeconds(10), List.of(), new ZKClientConfig());
    }
}
