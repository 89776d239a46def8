// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.testkit.LiveObjects;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.server.ServerNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Each way in which a request ends, for each kind of lock: its client keeps nothing of it, however often that happens.
 * A service that asks in vain each second would grow otherwise.
 */
@Timeout(60)
class EndedRequestsTest {
    private static final Duration SESSION = Duration.ofSeconds(10);
    private static final Duration LIMIT = Duration.ofMillis(200);
    private static final int TIMES = 5;

    /** How a request ends. */
    private enum End {
        RELEASED {
            @Override
            void play(Play play) throws Exception {
                play.asked.acquire().close();
            }
        },
        LIMIT_PASSED {
            @Override
            void play(Play play) throws Exception {
                Lease lease = play.asked.heldAtMost(LIMIT).acquire();
                play.locks.advance(LIMIT);
                assertFalse(lease.isValid());
            }
        },
        NODE_DELETED {
            @Override
            void play(Play play) throws Exception {
                Lease lease = play.asked.acquire();
                play.deleteRequests();
                play.locks.advance(SESSION); // it notices by a heartbeat
                assertFalse(lease.isValid());
            }
        },
        SESSION_OVER {
            @Override
            void play(Play play) throws Exception {
                Lease lease = play.asked.acquire();
                play.locks.expire(play.mine);
                assertFalse(lease.isValid());
            }
        },
        BUSY {
            @Override
            void play(Play play) throws Exception {
                try (Lease held = play.blocker.acquire()) {
                    assertTrue(play.asked.tryAcquire().isEmpty());
                    assertTrue(held.isValid());
                }
            }
        },
        TIME_OUT {
            @Override
            void play(Play play) throws Exception {
                try (Lease held = play.blocker.acquire()) {
                    var asked = play.asked.tryAcquireAsync(LIMIT);
                    play.locks.advance(LIMIT);
                    assertTrue(asked.get().isEmpty());
                    assertTrue(held.isValid());
                }
            }
        },
        CANCELLED {
            @Override
            void play(Play play) throws Exception {
                try (Lease held = play.blocker.acquire()) {
                    assertTrue(play.asked.acquireAsync().cancel(false));
                    assertTrue(held.isValid());
                }
            }
        },
        REFUSED {
            @Override
            void play(Play play) {
                play.locks.refuseRequest(play.mine, RequestMatch.multi(), 1, KeeperException.Code.QUOTAEXCEEDED);
                assertThrows(LockException.class, play.asked::acquire);
            }
        };

        abstract void play(Play play) throws Exception;
    }

    /** A client that asks, and another one. */
    private static final class Play {
        final SimulatedLocks locks = SimulatedLocks.start(SESSION);
        final LockClient mine;
        final Acquirable asked;
        final Acquirable blocker;

        Play(EntryPoint entryPoint) {
            mine = entryPoint.described(locks.builder()).build();
            asked = entryPoint.asked(mine);
            blocker = entryPoint.blocker(entryPoint.described(locks.builder()).build());
        }

        void deleteRequests() {
            locks.nodesUnder("/").stream()
                    .filter(ServerNode::isEphemeral)
                    .map(ServerNode::path)
                    .forEach(locks::delete);
        }

        void times(End end, int times) throws Exception {
            for (int i = 0; i < times; i++) {
                end.play(this);
                locks.advance(Duration.ZERO);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void nothingIsKept(End end) throws Exception {
        List<Play> plays = new ArrayList<>();
        try {
            for (EntryPoint entryPoint : EntryPoint.values()) {
                Play play = new Play(entryPoint);
                plays.add(play);
                play.times(end, 1);
            }
            Map<String, Long> before = LiveObjects.count(LiveObjects.OF_REQUESTS::contains);
            for (Play play : plays) {
                play.times(end, TIMES);
            }
            Map<String, Long> more = new TreeMap<>();
            LiveObjects.count(LiveObjects.OF_REQUESTS::contains).forEach((name, count) -> {
                if (count > before.getOrDefault(name, 0L)) {
                    more.put(name, count - before.getOrDefault(name, 0L));
                }
            });
            assertEquals(Map.of(), more, () -> "kept of " + TIMES * plays.size() + " requests");
        } finally {
            plays.forEach(play -> play.locks.close());
        }
    }
}
