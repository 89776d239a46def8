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
                lease.lost().thenAccept(cause -> System.out.println("lost: " + cause));
                System.out.println("holding /first, token " + lease.token() + "; press Enter to release");
                long pid = ProcessHandle.current().pid();
                System.out.println("or crash it: kill -9 " + pid);
                System.in.read();
                System.out.println(
                        lease.isValid() ? "releasing" : "it was lost: another client may hold the lock by now");
            }
        }
    }
}
