// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.jqwik;

import io.latchkey.testkit.jqwik.Scope.FaultKind;
import io.latchkey.testkit.jqwik.Scope.Recipe;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.workload.Play;
import io.latchkey.testkit.workload.Scenario;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/**
 * What has to be true of each recipe while sessions end at random, as properties that any implementation of lock-api
 * takes over. A class that carries {@link LatchkeyProperties} and implements this is complete; it says by
 * {@link #settings} whose locks they are.
 *
 * <pre>{@code
 * @LatchkeyProperties
 * class OurProperties implements LockProperties {
 *     @Override
 *     public Play.Settings settings(Play.Settings given) {
 *         return given.with(OurLockClient::connect);
 *     }
 * }
 * }</pre>
 */
public interface LockProperties {
    /**
     * {@return how to play} The locks are those of lock-zk unless this says otherwise.
     *
     * @param given what {@link LatchkeyProperties#reconnects} asks for
     */
    default Play.Settings settings(Play.Settings given) {
        return given;
    }

    /**
     * Checks what was played: {@link Play#assertNotBroken}. Locks without fencing tokens have only
     * {@link Play#assertExclusion}.
     *
     * @param play what was played
     * @throws AssertionError if something is broken
     */
    default void check(Play play) {
        play.assertNotBroken();
    }

    /**
     * A mutex is held by one at a time.
     *
     * @param scenario drawn
     * @param server of the class
     * @param given for {@link #settings}
     * @throws InterruptedException if the run is interrupted
     */
    @Property(tries = 150)
    default void mutex(
            @ForAll @Scope(recipes = Recipe.MUTEX) Scenario scenario, EmbeddedZooKeeper server, Play.Settings given)
            throws InterruptedException {
        check(Play.of(scenario, server, settings(given)));
    }

    /**
     * Writers are exclusive.
     *
     * @param scenario drawn
     * @param server of the class
     * @param given for {@link #settings}
     * @throws InterruptedException if the run is interrupted
     */
    @Property(tries = 150)
    default void readersAndWriters(
            @ForAll @Scope(recipes = Recipe.READ_WRITE) Scenario scenario,
            EmbeddedZooKeeper server,
            Play.Settings given)
            throws InterruptedException {
        check(Play.of(scenario, server, settings(given)));
    }

    /**
     * No more permits are held than there are, and no request waits for free permits.
     *
     * @param scenario drawn
     * @param server of the class
     * @param given for {@link #settings}
     * @throws InterruptedException if the run is interrupted
     */
    @Property(tries = 150)
    default void permits(
            @ForAll @Scope(recipes = Recipe.SEMAPHORE, clients = 4) Scenario scenario,
            EmbeddedZooKeeper server,
            Play.Settings given)
            throws InterruptedException {
        check(Play.of(scenario, server, settings(given)));
    }

    /**
     * Multi-locks keep the rules of all their members, and do not wait for each other in a cycle.
     *
     * @param scenario drawn
     * @param server of the class
     * @param given for {@link #settings}
     * @throws InterruptedException if the run is interrupted
     */
    @Property(tries = 150)
    default void multiLocksAndTheirMembers(
            @ForAll @Scope(paths = 2, clients = 4) Scenario scenario, EmbeddedZooKeeper server, Play.Settings given)
            throws InterruptedException {
        check(Play.of(scenario, server, settings(given)));
    }

    /**
     * All of this under every fault that a client's connection can have.
     *
     * @param scenario drawn
     * @param server of the class
     * @param given for {@link #settings}
     * @throws InterruptedException if the run is interrupted
     */
    @Property(tries = 150)
    default void everyKindOfFault(
            @ForAll
                    @Scope(
                            faults = {
                                FaultKind.EXPIRY,
                                FaultKind.LOSS,
                                FaultKind.DELAY,
                                FaultKind.BLACK_HOLE,
                                FaultKind.REFUSAL
                            },
                            mostFaults = 4)
                    Scenario scenario,
            EmbeddedZooKeeper server,
            Play.Settings given)
            throws InterruptedException {
        check(Play.of(scenario, server, settings(given)));
    }
}
