// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.testkit.Reconnects;
import io.latchkey.testkit.jqwik.LatchkeyProperties;
import io.latchkey.testkit.jqwik.Scope;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.workload.Play;
import io.latchkey.testkit.workload.Scenario;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Tag;

/** The same with ZooKeeper's own timing: sessions end by time as well, and clients sleep between connections. */
@Tag("once")
@LatchkeyProperties(reconnects = Reconnects.HONEST)
class HonestExpiryProperties {
    @Property(tries = 10)
    void noRuleIsBroken_whenSessionsEndByTime(
            @ForAll @Scope(clients = 4, turns = 20, pace = 30, mostFaults = 3) Scenario scenario,
            EmbeddedZooKeeper server,
            Play.Settings settings)
            throws InterruptedException {
        Play.of(scenario, server, settings).assertNotBroken();
    }
}
