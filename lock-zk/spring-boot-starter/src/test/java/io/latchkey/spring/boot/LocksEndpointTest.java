// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.spring.ServerOfTheTests;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Which locks an answer of the endpoint has. */
@Timeout(60)
class LocksEndpointTest {
    @RegisterExtension
    static final ServerOfTheTests SERVER = new ServerOfTheTests();

    @Test
    void locksWithRequestsComeFirst_whenThereIsNoRoomForAll() throws Exception {
        try (LockClient client = SERVER.client();
                Lease held = client.mutex("/many/z-held").acquire()) {
            for (String idle : new String[] {"a", "b", "c"}) {
                client.mutex("/many/" + idle).acquire().close();
            }
            LocksEndpoint endpoint = new LocksEndpoint(client, new LatchkeyClientProperties.Endpoint("/", 3, 20));
            LocksEndpoint.Locks one = endpoint.locks("/many", 1);
            assertThat(one.locks()).extracting(LocksEndpoint.Lock::path).containsExactly("/many/z-held");
            assertThat(one.omittedLocks()).isEqualTo(3);
            assertThat(one.idleLocks()).isEqualTo(3);
            assertThat(endpoint.locks("/many", null).locks())
                    .extracting(LocksEndpoint.Lock::path)
                    .containsExactly("/many/z-held", "/many/a", "/many/b");
            assertThat(endpoint.locks("/many", 100).locks())
                    .as("not more than the setting")
                    .hasSize(3);
            assertThat(endpoint.locks("/many", -1).locks()).isEmpty();
            assertThat(held.isValid()).isTrue();
        }
    }
}
