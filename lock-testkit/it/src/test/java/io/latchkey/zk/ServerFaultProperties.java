// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.testkit.jqwik.LatchkeyProperties;
import io.latchkey.testkit.jqwik.Scope;
import io.latchkey.testkit.jqwik.Scope.FaultKind;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.workload.Play;
import io.latchkey.testkit.workload.Scenario;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Tag;

/** Every kind of lock at random while the server comes and goes and sessions end. */
@Tag("once")
@LatchkeyProperties
class ServerFaultProperties {
    @Property(tries = 60)
    void noRuleIsBroken_whenTheServerComesAndGoes(
            @ForAll
                    @Scope(
                            faults = {FaultKind.SERVER, FaultKind.EXPIRY},
                            mostFaults = 3)
                    Scenario scenario,
            EmbeddedZooKeeper server,
            Play.Settings settings)
            throws InterruptedException {
        Play.of(scenario, server, settings).assertNotBroken();
    }
}
