// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.admin.Contender;
import io.latchkey.log.LoggedWarnings;
import io.latchkey.testkit.SimulatedLocks;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Labels of requests, where the contract does not look. */
@Timeout(30)
class LabelsTest {
    private final BlockingQueue<String> granted = new LinkedBlockingQueue<>();
    private final LockObserver observer = new LockObserver() {
        @Override
        public void granted(Request request, long token, Duration waited) {
            granted.add(request.label());
        }
    };

    @AutoClose
    private final SimulatedLocks locks = SimulatedLocks.start();

    private final LockClient client =
            locks.builder().ownerLabel("billing").observer(observer).build();

    private List<String> queue(String path) throws InterruptedException {
        return client.mutex(path).queue().stream()
                .map(request -> request.owner().label())
                .toList();
    }

    @Test
    void queueShowsTheLabelOfTheClient_whenTheRequestHasNone() throws Exception {
        try (Lease held = client.mutex("/m").acquire()) {
            assertTrue(held.isValid());
            assertEquals(List.of("billing"), queue("/m"));
        }
    }

    @Test
    void observerHearsTheLabelOfTheRequest() throws Exception {
        client.mutex("/m").labelled("invoice 7").acquire().close();
        client.mutex("/m").acquire().close();
        assertEquals("invoice 7", granted.take());
        assertEquals("", granted.take());
    }

    @Test
    void readLeaseKeepsLabelAndToken_whenTheWriteLeaseIsDowngraded() throws Exception {
        ReadWriteLock lock = client.readWriteLock("/rw");
        Lock view = client.mutex("/m").labelled("trace 1").asLock();
        view.lock();
        try {
            assertEquals(List.of("trace 1"), queue("/m"));
        } finally {
            view.unlock();
        }
        try (Lease read = lock.downgrade(lock.writeLock().labelled("trace 2").acquire())) {
            Contender shown = lock.readLock().queue().get(0);
            assertEquals("trace 2", shown.owner().label());
            assertEquals(read.token(), shown.token());
        }
        assertEquals(0, lock.readLock().queue().size());
    }

    /** It writes its own data again. */
    @Test
    void labelIsKept_whenAWaiterForManyPermitsNotifiesTheNext() throws Exception {
        Lease most = client.semaphore("/s", 20).permits(18).acquire();
        CompletableFuture<Lease> first = locks.client()
                .semaphore("/s", 20)
                .labelled("invoice 7")
                .permits(5)
                .acquireAsync();
        CompletableFuture<Lease> behind = client.semaphore("/s", 20).acquireAsync();
        most.close();
        for (CompletableFuture<Lease> next : List.of(first, behind)) {
            assertTrue(next.get(10, TimeUnit.SECONDS).isValid());
        }
        assertEquals(
                List.of("invoice 7", "billing"),
                client.semaphore("/s", 20).queue().stream()
                        .map(request -> request.owner().label())
                        .toList());
    }

    @Test
    void serversSeeTheLabelOfTheFirstTurn_andTheObserverThatOfEach() throws Exception {
        LockClient turning = locks.builder()
                .ownerLabel("till")
                .observer(observer)
                .localTurns(3, Duration.ofMinutes(1))
                .build();
        Lease first = turning.mutex("/m").labelled("one").acquire();
        CompletableFuture<Lease> second = turning.mutex("/m").labelled("two").acquireAsync();
        assertEquals("one", queue("/m").get(0));
        first.close();
        second.get().close();
        assertEquals("one", granted.take());
        assertEquals("two", granted.take());
    }

    @Test
    void lossNamesTheLabelInTheLog() throws Exception {
        try (LoggedWarnings log = LoggedWarnings.listen()) {
            Lease lease =
                    client.mutex("/named-in-the-log").labelled("invoice 7").acquire();
            locks.expire(client);
            lease.lost().toCompletableFuture().get();
            assertEquals(
                    1, log.awaited("/named-in-the-log for invoice 7 (token").size());
        }
    }
}
