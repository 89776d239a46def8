package com.example.modular;

import io.latchkey.lock.Lease;
import io.latchkey.zk.ZkLockClient;
import java.time.Duration;

/** Takes a lock, and says in which modules the classes are. */
public final class Service {
    private Service() {}

    /**
     * Runs it.
     *
     * @param servers the connect string
     * @throws InterruptedException if it is interrupted while it waits
     */
    public static void main(String... servers) throws InterruptedException {
        try (ZkLockClient locks = ZkLockClient.builder().connectString(servers[0]).build();
                Lease lease = locks.mutex("/orders").acquire(Duration.ofSeconds(20))) {
            System.out.println(lease.isValid() + " " + Service.class.getModule().getName() + " "
                    + Lease.class.getModule().getName() + " " + ZkLockClient.class.getModule().getName());
        }
    }
}
