// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.workload;

import io.latchkey.testkit.FaultyClient.Connector;
import io.latchkey.testkit.Reconnects;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.check.ExclusionChecker;
import io.latchkey.testkit.check.LossChecker;
import io.latchkey.testkit.check.TokenOrderChecker;
import io.latchkey.testkit.history.History;
import io.latchkey.testkit.server.EmbeddedEnsemble;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.testkit.server.ZooKeeperFixture;
import io.latchkey.testkit.time.Slowness;
import io.latchkey.testkit.workload.FaultSchedule.TimedAction;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/**
 * A scenario played on servers or in a simulation, with its record. It ends when all actors have completed their turns
 * and the last fault has begun and ended; faults that still wait for a request are then cancelled.
 */
public final class Play {
    private static final AtomicLong NUMBER = new AtomicLong();

    private final Function<String, List<ServerNode>> nodesUnder;
    private final Scenario scenario;
    private final String base;
    private final History history = new History();
    private List<TimedAction> struck = List.of();

    private Play(Function<String, List<ServerNode>> nodesUnder, Scenario scenario) {
        this.nodesUnder = nodesUnder;
        this.scenario = scenario;
        this.base = "/play-" + NUMBER.incrementAndGet() + "-" + Long.toHexString(scenario.seed());
    }

    /**
     * The settings for playing on servers.
     *
     * @param session the timeout that the clients' sessions ask for
     * @param reconnects how the clients come back
     * @param within the time after which an actor, or the schedule of faults, counts as blocked
     * @param connector makes the clients
     */
    public record Settings(Duration session, Reconnects reconnects, Duration within, Connector connector) {
        /**
         * {@return sessions of 6 s, which faults end by force, and reconnects in milliseconds; blocked after 30 s} On a
         * busy machine see to it that sessions end by faults alone: {@link EmbeddedZooKeeper#holdExpiry}.
         */
        public static Settings fast() {
            return new Settings(
                    Slowness.stretched(Duration.ofSeconds(6)),
                    Reconnects.FAST,
                    Duration.ofSeconds(30),
                    Connector.ofLatchkey());
        }

        /** {@return sessions of 1 s, and reconnects of ZooKeeper's own client; blocked after 60 s} */
        public static Settings honest() {
            return new Settings(
                    Slowness.stretched(Duration.ofSeconds(1)),
                    Reconnects.HONEST,
                    Duration.ofSeconds(60),
                    Connector.ofLatchkey());
        }

        /**
         * {@return the same with clients of another implementation}
         *
         * @param other makes them
         */
        public Settings with(Connector other) {
            return new Settings(session, reconnects, within, other);
        }
    }

    /**
     * Plays the scenario with new clients on paths of its own, and returns when it is over. The clients are closed
     * then, also if it fails.
     *
     * @param scenario the workload and the faults
     * @param server the server, which runs; other plays may go on there
     * @param settings how to play
     * @return the play, with its record; nothing is checked yet but what is an {@link AssertionError} here
     * @throws AssertionError if an actor is blocked, if a lock fails with an exception, or if a request is still on the
     *     server at the end
     * @throws InterruptedException if interrupted during the play
     */
    public static Play of(Scenario scenario, EmbeddedZooKeeper server, Settings settings) throws InterruptedException {
        return new Play(server::nodesUnder, scenario).on(server, settings);
    }

    /**
     * The same on an ensemble, whose servers the connections of each client go round.
     *
     * @param scenario the workload and the faults
     * @param servers the ensemble, which serves
     * @param settings how to play
     * @return the play, with its record
     * @throws AssertionError as on one server
     * @throws InterruptedException if interrupted during the play
     */
    public static Play of(Scenario scenario, EmbeddedEnsemble servers, Settings settings) throws InterruptedException {
        return new Play(servers::nodesUnder, scenario).on(servers, settings);
    }

    /**
     * Plays the scenario in a simulation, by the calling thread alone and in simulated time: the same scenario goes the
     * same way each time. Requests are answered at once there, so that faults which wait for a request strike at once,
     * a connection that is cut is back at once, and delays do nothing.
     *
     * @param scenario the workload and the faults
     * @param locks the simulation, whose time no other thread advances during the play
     * @return the play, with its record
     * @throws AssertionError as on a server
     */
    public static Play of(Scenario scenario, SimulatedLocks locks) {
        Play play = new Play(locks::nodesUnder, scenario);
        try {
            return play.at(new SimulatedPlace(play, locks, scenario.workload().clients()));
        } catch (InterruptedException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private Play on(ZooKeeperFixture servers, Settings settings) throws InterruptedException {
        try (ServerPlace place =
                new ServerPlace(this, servers, scenario.workload().clients(), settings)) {
            return at(place);
        }
    }

    private Play at(Place place) throws InterruptedException {
        List<ActorRun> actors = scenario.workload().actors().stream()
                .map(actor -> new ActorRun(actor, place, history, base))
                .toList();
        struck = place.play(actors, scenario.faults());
        return this;
    }

    /** {@return the history, for checkers} */
    public History history() {
        return history;
    }

    /** {@return the faults that really struck, see {@link FaultRun#struck}} */
    public List<TimedAction> struck() {
        return struck;
    }

    /** {@return the ephemeral nodes that are now below the paths of this play: requests of sessions that live} */
    public List<ServerNode> requests() {
        return nodesUnder.apply(base).stream().filter(ServerNode::isEphemeral).toList();
    }

    /** {@return the path below which all paths of this play lie; no other play of this process has the same} */
    public String base() {
        return base;
    }

    /**
     * Checks what has to be true of every kind of lock under every fault: {@linkplain #assertExclusion exclusion}, and
     * that tokens grow.
     *
     * @return this
     * @throws AssertionError if something is broken, with the rule and the history
     */
    public Play assertNotBroken() {
        TokenOrderChecker.check(history).assertNotBroken();
        return assertExclusion();
    }

    /**
     * Checks the rules that hold even for locks without fencing tokens: conflicting holds do not overlap while both
     * sessions are alive, no more permits are held than there are, and a loss is reported once and is final. More
     * checkers can be asked about {@link #history()}.
     *
     * @return this
     * @throws AssertionError if something is broken, with the rule and the history
     */
    public Play assertExclusion() {
        ExclusionChecker.readWrite().whileSessionsLive(history).assertNotBroken();
        ExclusionChecker.permits().whileSessionsLive(history).assertNotBroken();
        LossChecker.check(history).assertNotBroken();
        return this;
    }
}
