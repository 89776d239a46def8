// SPDX-License-Identifier: Apache-2.0
package io.latchkey.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.MultiLock;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.Semaphore;
import io.latchkey.lock.StripedMutex;
import io.latchkey.testkit.ConnectString;
import io.latchkey.testkit.FencedStore;
import io.latchkey.testkit.LatchkeyTest;
import io.latchkey.zk.ZkLockClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The first examples of the pages in docs/recipes, and that of docs/settings.md; {@code ExamplesTest} compares. */
@Tag("slow")
@LatchkeyTest
@Timeout(60)
class PageExamplesTest {
    private final FencedStore<String> store = new FencedStore<>("order 42");
    private final List<String> shown = new ArrayList<>();

    @SuppressWarnings("UnnecessaryLambda") // the page applies it
    private final UnaryOperator<String> edit = text -> text + ", edited";

    @Test
    void mutexExample_writesUnderALeaseAndReleasesIt(LockClient locks) throws InterruptedException {
        Mutex order = locks.mutex("/orders/42");
        try (Lease lease = order.acquire(Duration.ofSeconds(5))) { // or LockTimeoutException, which says why
            String text = store.read(lease.token()); // the store refuses tokens below the highest it has seen
            lease.ensureValid(); // throws if the lease is lost: call it before each step
            store.write(text + ", shipped", lease.token());
        }
        order.run(lease -> store.write("order 42, archived", lease.token())); // waits as long as it takes

        assertEquals("order 42, archived", store.look());
        assertEquals(List.of(), order.queue());
    }

    @Test
    void readWriteLockExample_readsWritesAndGoesOnAsAReader(LockClient locks) throws InterruptedException {
        ReadWriteLock document = locks.readWriteLock("/document");
        try (Lease read = document.readLock().acquire(Duration.ofSeconds(5))) { // beside other readers
            String text = store.look();
            read.ensureValid(); // no writer held while this was read
            shown.add(text);
        }
        try (Lease write = document.writeLock().acquire(Duration.ofSeconds(5))) { // alone
            store.write(edit.apply(store.read(write.token())), write.token());
            try (Lease read = document.downgrade(write)) { // readers come in, no writer does
                shown.add(store.read(read.token()));
            }
        } // a downgraded lease is released: closing it again does nothing

        assertEquals(List.of("order 42", "order 42, edited"), shown);
        assertEquals(List.of(), document.writeLock().queue());
    }

    @Test
    void semaphoreExample_takesOnePermitAndThenTwoAtOnce(LockClient locks) throws InterruptedException {
        Semaphore printers = locks.semaphore("/printers", 3); // every client declares the same number
        try (Lease one = printers.acquire(Duration.ofSeconds(5))) { // one permit
            shown.add("letter under " + one.path());
        }
        try (Lease two = printers.permits(2).acquire(Duration.ofSeconds(5))) { // both with one lease, or none
            shown.add("poster under " + two.path() + ", free: " + printers.availablePermits());
        }

        assertEquals(List.of("letter under /printers", "poster under /printers, free: 1"), shown);
        assertEquals(3, printers.availablePermits());
    }

    @Test
    void multiLockExample_locksACollectionOfAccountsAtOnce(LockClient locks) throws InterruptedException {
        Map<String, FencedStore<Integer>> balances =
                Map.of("alice", new FencedStore<>(100), "bob", new FencedStore<>(0));
        Set<String> accounts = balances.keySet();
        Acquirable[] members = accounts.stream()
                .map(account -> locks.mutex("/accounts/" + account))
                .toArray(Acquirable[]::new);
        MultiLock all = locks.multiLock(members); // in any order: multi-locks never deadlock with each other
        try (Lease lease = all.acquire(Duration.ofSeconds(5))) { // all of them, or none
            int alice = balances.get("alice").read(lease.token());
            int bob = balances.get("bob").read(lease.token());
            lease.ensureValid(); // throws if one of them is lost
            balances.get("alice").write(alice - 30, lease.token()); // one token for all members
            balances.get("bob").write(bob + 30, lease.token());
        }

        assertEquals(70, balances.get("alice").look());
        assertEquals(30, balances.get("bob").look());
        assertEquals(List.of(), all.queue());
    }

    @Test
    void stripedMutexExample_locksTheStripeOfOneKey(LockClient locks) throws InterruptedException {
        StripedMutex customers = locks.stripedMutex("/customers", 64); // the same number on every client
        Mutex jones = customers.forKey("jones"); // sends nothing
        try (Lease lease = jones.acquire(Duration.ofSeconds(5))) {
            String text = store.read(lease.token());
            lease.ensureValid();
            store.write(text + ", moved", lease.token());
        }

        assertTrue(store.look().endsWith(", moved"));
        assertEquals(List.of(), jones.queue());
    }

    @Test
    void settingsExample_givesTheClientItsLabel(@ConnectString String servers) throws InterruptedException {
        LockClient locks;
        locks = ZkLockClient.builder()
                .connectString(servers)
                .sessionTimeout(Duration.ofSeconds(15))
                .ownerLabel("till-1") // shown in queues
                .build();

        try (locks) {
            Lease lease = locks.mutex("/first").acquire();
            assertEquals("till-1", locks.mutex("/first").queue().get(0).owner().label());
            lease.close();
        }
    }
}
