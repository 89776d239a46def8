// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.Optional;
import org.junit.jupiter.api.Test;

class OwnNamingTest {
    private static final String WRITE = "write-00ff00ff12345678-0000000042";
    private static final String READ = "read-00ff00ff12345678-0000000042";

    private final Naming naming = Namings.LATCHKEY;
    private final NodeName name = naming.parse(WRITE).orElseThrow();

    @Test
    void namesAreThoseOfNodeName() {
        assertEquals("lease-00ff00ff12345678-3-", naming.prefix(Kind.SEMAPHORE, Tag.LEASE, "00ff00ff12345678", 3));
        assertEquals(NodeName.parse(READ).orElseThrow(), naming.inPlace(name, Tag.READ));
    }

    @Test
    void ownerStandsInTheData() {
        OwnerData owner = new OwnerData("host", 7, "label");
        assertEquals(owner, naming.owner(name, owner.data()));
    }

    @Test
    void curatorsSemaphoreIsRecognised_whereASemaphoreIsAskedForOnly() {
        assertEquals(
                Optional.of(new OtherUse("leases", "a semaphore of Curator", false)),
                naming.otherUse(Kind.SEMAPHORE, "leases"));
        assertEquals(Optional.empty(), naming.otherUse(Kind.MUTEX, "leases"));
        assertEquals(Optional.empty(), naming.otherUse(Kind.SEMAPHORE, "locks"));
    }

    @Test
    void pathsAreLatchkeysAlone() {
        assertFalse(naming.isShared());
        assertFalse(naming.keepsEmptyPaths());
    }
}
