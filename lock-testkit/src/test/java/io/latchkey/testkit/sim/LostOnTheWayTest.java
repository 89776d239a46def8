// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.server.ServerNode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Requests of every kind, free or behind a holder. One after the other, each message that they need is lost. They are
 * granted nevertheless, and leave nothing.
 */
@Timeout(120)
class LostOnTheWayTest {
    private static final Duration SESSION = Duration.ofSeconds(6);
    /** More than any of these sends until it is granted. */
    private static final int MOST_REQUESTS = 24;

    private static final int SOON_SECONDS = 10;

    private enum Loss {
        REQUEST {
            @Override
            void prepare(SimulatedLocks locks, LockClient client, int number) {
                locks.cutBefore(client, RequestMatch.any(), number);
            }
        },
        ANSWER {
            @Override
            void prepare(SimulatedLocks locks, LockClient client, int number) {
                locks.cutAfter(client, RequestMatch.any(), number);
            }
        },
        /** This answer and all behind it: the client takes its session for ended, as the server does. */
        ANSWERS_AND_SESSION {
            @Override
            void prepare(SimulatedLocks locks, LockClient client, int number) {
                AtomicInteger left = new AtomicInteger(number);
                locks.holdAnswers(client, RequestMatch.of("from number " + number, any -> left.decrementAndGet() <= 0));
            }

            @Override
            void strike(SimulatedLocks locks, LockClient client) {
                locks.expire(client, ExpiryOrder.BOTH);
                locks.heal(client);
            }
        };

        /** Plans the loss for the client's message of this number, counted from now. */
        abstract void prepare(SimulatedLocks locks, LockClient client, int number);

        /** Called when nothing is on its way any more. */
        void strike(SimulatedLocks locks, LockClient client) {
            locks.advance(Duration.ZERO);
        }
    }

    private static <T> T soon(CompletableFuture<T> due) throws Exception {
        return due.get(SOON_SECONDS, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @EnumSource
    void requestIsGranted_whateverIsLost(Door door) {
        for (Loss loss : Loss.values()) {
            for (int number = 1; number <= MOST_REQUESTS; number++) {
                play(door, loss, number, false);
                play(door, loss, number, true);
            }
        }
    }

    private static void play(Door door, Loss loss, int number, boolean blocked) {
        try (SimulatedLocks locks = SimulatedLocks.start(SESSION)) {
            LockClient mine = door.described(locks.builder()).build();
            LockClient other = door.described(locks.builder()).build();
            Optional<Lease> held =
                    blocked ? Optional.of(soon(door.blocker(other).acquireAsync())) : Optional.empty();
            loss.prepare(locks, mine, number);
            CompletableFuture<Lease> asked = door.asked(mine).acquireAsync();
            locks.advance(Duration.ZERO);
            held.ifPresent(Lease::close);
            loss.strike(locks, mine);
            locks.advance(SESSION);
            soon(asked).close();
            locks.advance(SESSION);
            soon(door.asked(other).acquireAsync()).close();
            locks.advance(Duration.ZERO);
            assertEquals(
                    List.of(),
                    locks.nodesUnder("/").stream()
                            .filter(ServerNode::isEphemeral)
                            .toList());
            assertEquals(List.of(), locks.watches());
        } catch (AssertionError | Exception failed) {
            throw new AssertionError(
                    door + (blocked ? " behind a holder" : "") + ", " + loss + " number " + number, failed);
        }
    }
}
