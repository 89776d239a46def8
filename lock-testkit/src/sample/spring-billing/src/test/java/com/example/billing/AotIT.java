// SPDX-License-Identifier: Apache-2.0
package com.example.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.latchkey.testkit.ConnectString;
import io.latchkey.testkit.LatchkeyTest;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The packaged service with the beans that were processed ahead of time. */
@LatchkeyTest
@Timeout(300)
class AotIT {
    @TempDir
    private Path folder;

    @Test
    void serviceIsReadyLeadsAndWrites(@ConnectString String servers) throws Exception {
        try (JavaProcess service = JavaProcess.service(
                folder.resolve("log"),
                List.of("-Dspring.aot.enabled=true"),
                servers,
                "--billing.statements.every=1s",
                "--billing.statements.print-time=1ms")) {
            service.awaitLine("Starting AOT-processed BillingApplication");
            assertEquals(200, service.status("/actuator/health/readiness"), service::log);
            service.awaitLine("leader of dunning");
            service.awaitLine("statements: all 50 written");
            assertEquals(200, service.charge("a1"), service::log);
            service.terminate();
            assertEquals(128 + 15, service.ended());
            assertFalse(service.log().contains("Exception"), service::log);
        }
    }
}
