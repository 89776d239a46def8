// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.testkit.server.EmbeddedEnsemble;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("slow")
@LatchkeyTest(servers = LatchkeyTest.Servers.THREE, sessionMillis = 2000)
@Timeout(60)
class LatchkeyEnsembleExtensionTest {
    @Test
    void locksOnAnEnsemble(EmbeddedEnsemble ensemble, FaultyClient one) throws Exception {
        assertEquals(3, ensemble.size());
        try (Lease lease = one.client().mutex("/on/three").acquire()) {
            assertTrue(lease.isValid());
        }
    }
}
