// SPDX-License-Identifier: Apache-2.0
package io.latchkey.examples;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.zk.ZkLockClient;
import java.io.IOException;

public final class FirstLock {
    private FirstLock() {}

    public static void main(String[] args) throws InterruptedException, IOException {
        try (LockClient locks = ZkLockClient.connect(args[0])) { // one for the whole process
            System.out.println("waiting for /first");
            try (Lease lease = locks.mutex("/first").acquire()) {
                var unused = lease.lost().thenAccept(cause -> System.out.println("lost: " + cause));
                System.out.println("holding /first, token " + lease.token() + "; Enter lets go");
                long pid = ProcessHandle.current().pid();
                System.out.println("or, as a crash would: kill -9 " + pid);
                System.in.read();
                System.out.println(lease.isValid() ? "letting go" : "it was lost: somebody else may hold by now");
            }
        }
    }
}
