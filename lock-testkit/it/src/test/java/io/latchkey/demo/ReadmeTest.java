// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.zk.ZkLockClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The README's first example works. That it is what the README shows, ExamplesTest asks of all pages. */
@Tag("slow")
class ReadmeTest {
    private final List<String> written = new ArrayList<>();
    private final Store store = new Store() {
        @Override
        public String read(int order, long token) {
            assertTrue(token > 0);
            return "order " + order;
        }

        @Override
        public void write(int order, String text, long token) {
            assertTrue(token > 0);
            written.add(text);
        }
    };

    /** Some store that checks tokens. */
    interface Store {
        /** Refuses a token below the highest that it has seen, as {@link #write} does. */
        String read(int order, long token);

        void write(int order, String text, long token);
    }

    @Test
    void exampleWorks() throws InterruptedException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            ship(server.connectString());
        }
        assertEquals(List.of("order 42, shipped"), written);
    }

    private void ship(String servers) throws InterruptedException {
        // One client for the whole process. servers is "localhost:2181", or "zk1:2181,zk2:2181,zk3:2181"
        try (LockClient locks = ZkLockClient.connect(servers);
                Lease lease = locks.mutex("/orders/42").acquire(Duration.ofSeconds(5))) { // throws if not in time
            String order = store.read(42, lease.token()); // the store refuses tokens below the highest it has seen
            store.write(42, order + ", shipped", lease.token());
        }
    }
}
