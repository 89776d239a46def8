// SPDX-License-Identifier: Apache-2.0
package com.example.billing;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.LockClient;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.LatchkeyTest;
import io.latchkey.testkit.Reconnects;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.integration.support.locks.LockRegistry;

/** Spring Integration's locks and its leaders. */
@LatchkeyTest(reconnects = Reconnects.FAST, sessionMillis = 4000)
@Timeout(60)
class LatchkeyLockRegistryTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    @Test
    void keyIsLockedAcrossClients(LockClient one, LockClient two) throws Exception {
        LockRegistry<Lock> mine = new LatchkeyLockRegistry(one, "/spring");
        LockRegistry<Lock> theirs = new LatchkeyLockRegistry(two, "/spring");
        Lock lock = mine.obtain("order/1");
        assertTrue(lock.tryLock());
        assertTrue(mine.obtain("order/1").tryLock(), "the same thread, the same key: re-entered");
        assertFalse(theirs.obtain("order/1").tryLock());
        assertTrue(theirs.obtain("order/2").tryLock(), "another key, another lock");
        assertThrows(
                TimeoutException.class,
                () -> theirs.executeLocked("order/1", Duration.ofMillis(50), () -> {
                    throw new AssertionError("another client holds");
                }));
        lock.unlock();
        lock.unlock();
        theirs.executeLocked(
                "order/1", SOON, () -> assertFalse(mine.obtain("order/1").tryLock()));
    }

    @Test
    void leaderIsRevoked_whenItsSessionHasEnded_andAnotherLeads(FaultyClient one, FaultyClient two) throws Exception {
        LockRegistryLeaderInitiator first = initiator(one.client());
        LockRegistryLeaderInitiator second = initiator(two.client());
        first.start();
        Eventually.holds("a leader", SOON, () -> first.getContext().isLeader());
        second.start();
        one.expire(ExpiryOrder.SERVER_FIRST).join();
        Eventually.holds(
                "another leader",
                SOON,
                () -> second.getContext().isLeader() && !first.getContext().isLeader());
        second.stop();
        Eventually.holds("the first one again", SOON, () -> first.getContext().isLeader());
        first.stop();
        Eventually.holds("no leader", SOON, () -> one.client()
                .mutex("/leaders/key-dunning")
                .queue()
                .isEmpty());
    }

    private static LockRegistryLeaderInitiator initiator(LockClient locks) {
        LockRegistryLeaderInitiator initiator = new LockRegistryLeaderInitiator(
                new LatchkeyLockRegistry(locks, "/leaders"), new DefaultCandidate(null, "dunning"));
        initiator.setApplicationEventPublisher(event -> {});
        return initiator;
    }
}
