// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import io.latchkey.lock.LockClient;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.SimulatedLocks.ClientBuilder;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.server.ServerNode;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;

/**
 * The shipped locks without a server, for implementations that wrap them: a client that counts, traces, or looks like
 * something else. {@link SimulatedLocks} with time that passes as on the machine, whose clients are wrapped. Has every
 * feature, unless a subclass declares one as {@linkplain #lacking lacking}. The sessions of its clients are 6 s long,
 * those of brief ones 0.8 s.
 *
 * <pre>{@code
 * class MeteredMutexTest extends MutexContract {
 *     @Override
 *     protected LockFixture newFixture() {
 *         return new SimulatedFixture(client -> new MeteredLockClient(client));
 *     }
 * }
 * }</pre>
 */
public class SimulatedFixture implements LockFixture {
    static final Duration SESSION = Duration.ofSeconds(6);
    private static final Duration BRIEF_SESSION = Duration.ofMillis(800);

    private final SimulatedLocks locks = SimulatedLocks.startWithTimePassing(SESSION);
    private final UnaryOperator<LockClient> wrapper;
    private final UnaryOperator<ClientBuilder> settings;
    /** From what the contracts use to what the simulation knows. */
    private final Map<LockClient, LockClient> wrapped = new ConcurrentHashMap<>();

    /**
     * Starts a simulation.
     *
     * @param wrapper gives what the contracts are to test for a client of the shipped locks; closing that closes the
     *     client
     */
    public SimulatedFixture(UnaryOperator<LockClient> wrapper) {
        this(wrapper, builder -> builder);
    }

    /**
     * Starts a simulation whose clients have settings of their own: another layout, local turns, an observer. A
     * subclass declares what they do not have as {@linkplain #lacking lacking}.
     *
     * @param wrapper gives what the contracts are to test for a client of the shipped locks; closing that closes the
     *     client
     * @param settings is applied to the builder of each client; the session time-out stays the fixture's
     */
    public SimulatedFixture(UnaryOperator<LockClient> wrapper, UnaryOperator<ClientBuilder> settings) {
        this.wrapper = Objects.requireNonNull(wrapper, "wrapper");
        this.settings = Objects.requireNonNull(settings, "settings");
    }

    @Override
    public final LockClient newClient() {
        return client(SESSION);
    }

    @Override
    public final LockClient newBriefClient() {
        return client(BRIEF_SESSION);
    }

    private LockClient client(Duration session) {
        LockClient inner =
                settings.apply(locks.builder()).sessionTimeout(session).build();
        LockClient outer = wrapper.apply(inner);
        wrapped.put(outer, inner);
        return outer;
    }

    private LockClient inner(LockClient client) {
        return Objects.requireNonNull(wrapped.get(client), "a client of another fixture");
    }

    @Override
    public final void expire(LockClient client) {
        locks.expire(inner(client));
    }

    @Override
    public final void cutOff(LockClient client) {
        locks.cutOff(inner(client));
    }

    @Override
    public final void disconnect(LockClient client) {
        locks.disconnect(inner(client));
    }

    @Override
    public final void heal(LockClient client) {
        locks.heal(inner(client));
    }

    @Override
    public final CompletableFuture<?> loseNextCreate(LockClient client) {
        return locks.cutBefore(inner(client), RequestMatch.create(), 1).struck();
    }

    @Override
    public final CompletableFuture<?> loseAnswerOfNextCreate(LockClient client) {
        return locks.cutAfter(inner(client), RequestMatch.create(), 1).struck();
    }

    @Override
    public final CompletableFuture<?> loseAnswerOfNextDelete(LockClient client) {
        return locks.cutAfter(inner(client), RequestMatch.delete(), 1).struck();
    }

    @Override
    public final MessageHold holdAnswersOfCreates(LockClient client) {
        return new ServerFixture.HeldMessages(locks.holdAnswers(inner(client), RequestMatch.create()));
    }

    @Override
    public final MessageHold holdEvents(LockClient client) {
        return new ServerFixture.HeldMessages(locks.holdEvents(inner(client)));
    }

    @Override
    public final void deleteRequest(String path, int place) {
        List<ServerNode> requests = locks.nodesUnder(path).stream()
                .filter(ServerNode::isEphemeral)
                .sorted(Comparator.comparingLong(ServerNode::created))
                .toList();
        locks.delete(requests.get(place).path());
    }

    @Override
    public void close() {
        locks.close();
    }
}
