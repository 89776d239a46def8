package io.latchkey.demo;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.zk.ZkLockClient;
import java.time.Duration;
import java.util.Optional;

/** The example of the README, between the marks. {@link ReadmeTest} runs it and compares. */
final class ReadmeExample {
    private final Store store;

    ReadmeExample(Store store) {
        this.store = store;
    }

    /** Some store that checks tokens. */
    interface Store {
        String read(int order);

        /** Refuses a token below the highest that it has seen. */
        void write(int order, String text, long token);
    }

    void ship(String servers) throws InterruptedException {
        // begin
        try (LockClient locks = ZkLockClient.connect(servers)) { // such as "zk1:2181,zk2:2181,zk3:2181"
            Optional<Lease> granted = locks.mutex("/orders/42").tryAcquire(Duration.ofSeconds(5));
            if (granted.isEmpty()) {
                throw new IllegalStateException("order 42 is being worked on");
            }
            try (Lease lease = granted.get()) {
                String order = store.read(42);
                String shipped = order + ", shipped"; // think of something that takes its time
                lease.ensureValid(); // throws if the lease is lost: somebody else may hold by now
                store.write(42, shipped, lease.token()); // the store refuses a token below the highest it has seen
            }
        }
        // end
    }
}
