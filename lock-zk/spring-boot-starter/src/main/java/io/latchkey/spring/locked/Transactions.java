// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.locked;

import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/** Spring's transactions, where they are on the class path. */
final class Transactions {
    private static final boolean PRESENT = ClassUtils.isPresent(
            "org.springframework.transaction.support.TransactionSynchronizationManager",
            Transactions.class.getClassLoader());

    private Transactions() {}

    /** Returns whether the current thread has a transaction. */
    static boolean isActive() {
        return PRESENT && Manager.isActive();
    }

    private static final class Manager {
        private Manager() {}

        static boolean isActive() {
            return TransactionSynchronizationManager.isActualTransactionActive();
        }
    }
}
