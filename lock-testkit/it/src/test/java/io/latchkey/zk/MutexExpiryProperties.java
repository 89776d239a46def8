// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.jqwik.LatchkeyProperties;
import io.latchkey.testkit.jqwik.Scope;
import io.latchkey.testkit.jqwik.Scope.Recipe;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.workload.FaultSchedule;
import io.latchkey.testkit.workload.Play;
import io.latchkey.testkit.workload.Scenario;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Tag;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/**
 * Clients that hold a mutex for random times while their sessions end at random, in every order, in fast mode. Says how
 * many tries a minute that makes.
 */
@Tag("once")
@Tag("long")
@LatchkeyProperties
class MutexExpiryProperties {
    private static long began;
    private static int tries;
    private static long ended;
    private static long struck;

    @BeforeContainer
    static void begin() {
        began = System.nanoTime();
    }

    @Property(tries = 800)
    void neverTwoHoldersWhoseSessionsLive(
            @ForAll @Scope(recipes = Recipe.MUTEX) Scenario scenario, EmbeddedZooKeeper server, Play.Settings settings)
            throws InterruptedException {
        Play play = Play.of(scenario, server, settings).assertNotBroken();
        tries++;
        struck += play.struck().size();
        ended += play.struck().stream()
                .filter(fault -> fault.action() instanceof FaultSchedule.Action.Expire)
                .count();
    }

    @AfterContainer
    static void report() {
        double minutes = (System.nanoTime() - began) / 60e9;
        System.out.printf(
                "%d tries, %.0f a minute; %d sessions ended, %.0f faults a minute%n",
                tries, tries / minutes, ended, struck / minutes);
        assertTrue(ended >= tries * 0.9, "nearly every try has ended a session, or the property shows nothing");
    }
}
