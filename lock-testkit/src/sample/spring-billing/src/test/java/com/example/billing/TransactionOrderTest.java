// SPDX-License-Identifier: Apache-2.0
package com.example.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.spring.Locked;
import io.latchkey.testkit.time.Eventually;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/** A lock released before the commit loses an update; one that {@code @Locked} releases after it does not. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.NONE)
@Import({
    TestServer.class,
    TransactionOrderTest.Steps.class,
    TransactionOrderTest.LockInside.class,
    TransactionOrderTest.LockOutside.class
})
@DirtiesContext
@Timeout(60)
class TransactionOrderTest {
    @Autowired
    private Steps steps;

    @Autowired
    private LockInside lockInside;

    @Autowired
    private LockOutside lockOutside;

    @Autowired
    private LockClient locks;

    @Autowired
    private Accounts accounts;

    @Test
    void updateIsLost_whenTheLockIsReleasedBeforeTheCommit() throws Exception {
        chargeTwice(() -> lockInside.charge("a1", 100), () -> lockInside.charge("a1", 20), "/inside/a1");
        assertEquals(980, accounts.balance("a1"));
    }

    @Test
    void noUpdateIsLost_whenTheLockIsOutsideOfTheTransaction() throws Exception {
        chargeTwice(() -> lockOutside.charge("a2", 100), () -> lockOutside.charge("a2", 20), "/outside/key-a2");
        assertEquals(880, accounts.balance("a2"));
    }

    /** Its lock would be released before the commit, which is the caller's. */
    @Test
    void lockedMethodIsRefused_whenItsCallerHasATransaction(@Autowired TransactionTemplate transaction) {
        IllegalStateException refused = assertThrows(
                IllegalStateException.class,
                () -> transaction.executeWithoutResult(status -> accounts.charge("a3", 100)));
        assertTrue(refused.getMessage().contains("Accounts.charge(String, long) is @Locked"), refused.getMessage());
        assertEquals(1000, accounts.balance("a3"));
    }

    /** The first call stands before its commit until the second one has read, or waits for the lock. */
    private void chargeTwice(Call first, Call second, String path) throws Exception {
        steps.reset();
        CompletableFuture<Void> one = running(first);
        assertTrue(steps.written.await(20, TimeUnit.SECONDS));
        CompletableFuture<Void> two = running(second);
        Eventually.holds(
                "a second call that has read, or waits",
                Duration.ofSeconds(20),
                () -> steps.reads.getCount() == 0 || locks.mutex(path).queue().size() == 2);
        steps.mayCommit.countDown();
        one.get(20, TimeUnit.SECONDS);
        steps.firstIsCommitted.countDown();
        two.get(20, TimeUnit.SECONDS);
    }

    private interface Call {
        void charge() throws Exception;
    }

    /** In a thread of its own: the common pool may have a single one, which the first call blocks. */
    private static CompletableFuture<Void> running(Call call) {
        return CompletableFuture.runAsync(
                () -> {
                    try {
                        call.charge();
                    } catch (Exception failed) {
                        throw new AssertionError(failed);
                    }
                },
                task -> new Thread(task).start());
    }

    /** The plain read and write of an account, with places to stop at. */
    @Component
    static class Steps {
        private final JdbcClient db;
        private CountDownLatch reads = new CountDownLatch(2);
        private CountDownLatch written = new CountDownLatch(1);
        private CountDownLatch mayCommit = new CountDownLatch(1);
        private CountDownLatch firstIsCommitted = new CountDownLatch(1);

        Steps(JdbcClient db) {
            this.db = db;
        }

        void reset() {
            reads = new CountDownLatch(2);
            written = new CountDownLatch(1);
            mayCommit = new CountDownLatch(1);
            firstIsCommitted = new CountDownLatch(1);
        }

        void subtract(String account, long cents) throws InterruptedException {
            long balance = db.sql("SELECT balance FROM account WHERE id = ?")
                    .param(account)
                    .query(Long.class)
                    .single();
            reads.countDown();
            if (reads.getCount() == 0) {
                firstIsCommitted.await(); // its write would wait for the row
            }
            db.sql("UPDATE account SET balance = ? WHERE id = ?")
                    .param(balance - cents)
                    .param(account)
                    .update();
        }

        void beforeCommit() throws InterruptedException {
            written.countDown();
            mayCommit.await();
        }
    }

    /** Wrong: the next holder reads what this one has not committed. */
    static class LockInside {
        private final LockClient locks;
        private final Steps steps;

        LockInside(LockClient locks, Steps steps) {
            this.locks = locks;
            this.steps = steps;
        }

        @Transactional
        public void charge(String account, long cents) throws InterruptedException {
            try (Lease lease = locks.mutex("/inside/" + account).acquire()) {
                steps.subtract(account, cents);
            } // the next holder may read now
            steps.beforeCommit();
        } // and only here is it committed
    }

    /** Right: its advice acquires before the transaction begins, and releases after its commit. */
    static class LockOutside {
        private final Steps steps;

        LockOutside(Steps steps) {
            this.steps = steps;
        }

        @Locked(path = "/outside", key = "#account")
        @Transactional
        public void charge(String account, long cents) throws InterruptedException {
            steps.subtract(account, cents);
            steps.beforeCommit();
        }
    }
}
