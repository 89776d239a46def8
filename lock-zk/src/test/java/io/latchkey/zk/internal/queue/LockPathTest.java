// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class LockPathTest {
    private final LockPath path = new LockPath("/orders/42");

    @Test
    void nodesAndPathsBelow_areChildren() {
        NodeName name = NodeName.parse("write-0123456789abcdef-0000000007").orElseThrow();
        assertEquals("/orders/42/write-0123456789abcdef-0000000007", path.child(name));
        assertEquals("/orders/42/" + name.revocationNode(), path.child(name.revocationNode()));
        assertEquals(new LockPath("/orders/42/leases"), path.below("leases"));
        assertEquals("/orders/42", path.toString());
    }

    @Test
    void nameOfANode_isNoPath() {
        assertThrows(IllegalArgumentException.class, () -> new LockPath("write-0123456789abcdef-0000000007"));
    }
}
