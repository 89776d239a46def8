// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.LatchkeyTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The test in the README. */
@Tag("slow")
@LatchkeyTest
class ReadmeKitExampleTest {
    @Test
    void laterHolderHasTheLargerToken(FaultyClient one, FaultyClient two) throws InterruptedException {
        Lease stale = one.client().mutex("/orders/42").acquire();
        one.expire(ExpiryOrder.SERVER_FIRST).join(); // the server has ended the session; its client has not heard of it
        try (Lease current = two.client().mutex("/orders/42").acquire()) {
            assertTrue(current.token() > stale.token());
        }
    }
}
