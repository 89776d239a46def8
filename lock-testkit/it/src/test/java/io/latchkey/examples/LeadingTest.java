// SPDX-License-Identifier: Apache-2.0
package io.latchkey.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Leadership;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.Mutex;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.proxy.Fault;
import io.latchkey.testkit.proxy.RequestMatch;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The examples of docs/recipes/leadership.md. */
@Tag("slow")
@Timeout(30)
class LeadingTest {
    @AutoClose
    private final SimulatedLocks locks = SimulatedLocks.start();

    private final LockClient client = locks.client();
    private final BlockingQueue<Long> told = new LinkedBlockingQueue<>();

    @Test
    void bodyLeadsAgain_whenItHasSteppedDown() throws Exception {
        Leadership candidate = LeadershipExamples.bill(client, epoch -> {
            told.add(epoch);
            new CountDownLatch(1).await();
        });
        try (candidate) {
            long first = told.take();
            assertTrue(candidate.isLeader());
            candidate.stepDown();
            assertTrue(told.take() > first);
        }
        assertFalse(candidate.isLeader());
    }

    @Test
    void refusalIsLogged_andPasses() throws Exception {
        BlockingQueue<String> log = new LinkedBlockingQueue<>();
        Fault refusal = locks.refuseRequest(client, RequestMatch.create(), 1, KeeperException.Code.QUOTAEXCEEDED);
        try (Leadership candidate = LeadershipExamples.billLogged(client, told::add, log::add)) {
            assertTrue(log.take().contains("QUOTA"));
            assertTrue(told.take() > 0);
            assertFalse(candidate.ended().toCompletableFuture().isDone());
        }
        assertTrue(refusal.struck().isDone());
    }

    @Test
    void listenerHearsOfEachTerm() throws Exception {
        LeadershipExamples.Consumer consumer = new LeadershipExamples.Consumer() {
            @Override
            public void resume(long epoch) {
                told.add(epoch);
            }

            @Override
            public void pause() {
                told.add(0L);
            }
        };
        try (Leadership candidate = LeadershipExamples.follow(client.mutex("/leader"), consumer)) {
            long first = told.take();
            locks.expire(client);
            assertEquals(0, told.take());
            assertTrue(told.take() > first);
            assertFalse(candidate.ended().toCompletableFuture().isDone());
        }
        assertEquals(0, told.take());
    }

    /** The examples of docs/recipes/leadership.md. */
    static final class LeadershipExamples {
        private LeadershipExamples() {}

        interface Billing {
            void runUntilInterrupted(long epoch) throws InterruptedException;
        }

        interface Consumer {
            void resume(long epoch);

            void pause();
        }

        static Leadership bill(LockClient locks, Billing billing) {
            return Leadership.start(locks.mutex("/billing/leader"), lease -> {
                billing.runUntilInterrupted(lease.token()); // the epoch, for every store that is written to
                return Leadership.Next.QUEUE_AGAIN; // stepped down: queue again, behind the others
            });
        }

        static Leadership billLogged(LockClient locks, Billing billing, java.util.function.Consumer<String> log) {
            Leadership candidate = Leadership.start(
                    locks.mutex("/billing/leader"),
                    lease -> {
                        billing.runUntilInterrupted(lease.token());
                        return Leadership.Next.QUEUE_AGAIN;
                    },
                    Leadership.Reports.to(log)); // such as logger::warn
            candidate.ended().whenComplete((nothing, failure) -> log.accept("no candidate any more: " + failure));
            return candidate;
        }

        static Leadership follow(Mutex mutex, Consumer switchboard) {
            return Leadership.start(mutex, new Leadership.Listener() {
                @Override
                public void elected(Lease lease) {
                    switchboard.resume(lease.token());
                }

                @Override
                public void termOver(Lease lease) {
                    switchboard.pause(); // the mutex is released after this, or is lost already
                }
            });
        }
    }
}
