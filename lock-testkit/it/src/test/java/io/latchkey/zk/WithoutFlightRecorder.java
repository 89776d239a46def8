// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.testkit.SimulatedLocks;

/** Takes a lock and loses another in a Java without the module jdk.jfr; see {@link WithoutFlightRecorderTest}. */
final class WithoutFlightRecorder {
    private WithoutFlightRecorder() {}

    public static void main(String[] args) throws InterruptedException {
        System.out.println("jdk.jfr " + ModuleLayer.boot().findModule("jdk.jfr").isPresent());
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            LockClient client = locks.client();
            client.mutex("/released").acquire().close();
            Lease lease = client.mutex("/lost").acquire();
            locks.expire(client);
            System.out.println("lost " + lease.lost().toCompletableFuture().join());
        }
    }
}
