// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import io.latchkey.lock.LockClient;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The shipped locks on simulations in which some session time-outs pass before the first fault of each client: all that
 * is held by then has been held for so long. Each test has a simulation of its own, since the time of one must not pass
 * for another.
 */
final class AgedFixture implements LockFixture {
    private final Duration before;
    private final Queue<SimulatedFixture> all = new ConcurrentLinkedQueue<>();
    /** A test creates its clients on its own thread, which runs no other test at the same time. */
    @SuppressWarnings("ThreadLocalUsage") // One for each fixture.
    private final ThreadLocal<SimulatedFixture> ofThisTest = ThreadLocal.withInitial(this::made);

    private final Map<LockClient, SimulatedFixture> simulations = new ConcurrentHashMap<>();

    /** Clients that have had a fault: leases granted before it have been held for long. */
    private final Set<LockClient> struck = ConcurrentHashMap.newKeySet();

    /** @param terms how many session time-outs pass before each fault */
    AgedFixture(int terms) {
        this.before = SimulatedFixture.SESSION.multipliedBy(terms);
    }

    private SimulatedFixture made() {
        SimulatedFixture made = new SimulatedFixture(client -> client);
        all.add(made);
        return made;
    }

    @Override
    public LockClient newClient() {
        return kept(ofThisTest.get().newClient());
    }

    @Override
    public LockClient newBriefClient() {
        return kept(ofThisTest.get().newBriefClient());
    }

    private LockClient kept(LockClient client) {
        simulations.put(client, ofThisTest.get());
        return client;
    }

    private SimulatedFixture aged(LockClient client) {
        SimulatedFixture simulation = of(client);
        if (struck.add(client)) {
            simulation.advance(before);
        }
        return simulation;
    }

    private SimulatedFixture of(LockClient client) {
        return Objects.requireNonNull(simulations.get(client));
    }

    @Override
    public void expire(LockClient client) {
        aged(client).expire(client);
    }

    @Override
    public void cutOff(LockClient client) {
        aged(client).cutOff(client);
    }

    @Override
    public void disconnect(LockClient client) {
        aged(client).disconnect(client);
    }

    @Override
    public void heal(LockClient client) {
        of(client).heal(client);
    }

    @Override
    public CompletableFuture<?> loseNextCreate(LockClient client) {
        return aged(client).loseNextCreate(client);
    }

    @Override
    public CompletableFuture<?> loseAnswerOfNextCreate(LockClient client) {
        return aged(client).loseAnswerOfNextCreate(client);
    }

    @Override
    public CompletableFuture<?> loseAnswerOfNextDelete(LockClient client) {
        return aged(client).loseAnswerOfNextDelete(client);
    }

    @Override
    public Held holdAnswersOfCreates(LockClient client) {
        return aged(client).holdAnswersOfCreates(client);
    }

    @Override
    public Held holdEvents(LockClient client) {
        return aged(client).holdEvents(client);
    }

    @Override
    public void deleteRequest(String path, int place) {
        SimulatedFixture simulation = ofThisTest.get();
        simulation.advance(before);
        simulation.deleteRequest(path, place);
    }

    /** Requests with a time-out wait while time passes. */
    @Override
    public Duration patience() {
        return Duration.ofSeconds(10).plus(before.multipliedBy(4));
    }

    @Override
    public void close() {
        all.forEach(SimulatedFixture::close);
    }
}
