// SPDX-License-Identifier: Apache-2.0
package com.example.shipping

import io.latchkey.lock.Acquirable
import io.latchkey.lock.Lease
import io.latchkey.lock.LeaseFunction
import io.latchkey.lock.LockClient
import io.latchkey.lock.OnLoss
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.future.await
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.runInterruptible

/** What is written under a lock. */
fun interface Store {
    fun write(order: Int, state: String, token: Long)
}

fun ship(locks: LockClient, store: Store) {
    locks.mutex("/orders/42").acquire().use { lease ->
        store.write(42, "shipped", lease.token())
    }
}

suspend fun shipSuspending(locks: LockClient, store: Store) {
    locks.mutex("/orders/42").holding { lease ->
        store.write(42, "shipped", lease.token())
    }
}

/** Suspends until the lock is held, and holds it while [body] runs. */
suspend fun <T> Acquirable.holding(body: suspend (Lease) -> T): T {
    val asked = acquireAsync()
    try {
        return body(asked.await())
    } finally {
        // Also where the coroutine was cancelled just when the lock was granted, and never saw the lease.
        asked.thenAccept { lease -> lease.releaseAsync() }
    }
}

/**
 * Holds the lock while [body] runs, and cancels [body] when the lease is lost: then the call throws
 * a `LeaseLostException`. Cancellation of the caller ends the wait for the lock, or cancels [body].
 * A thread of [Dispatchers.IO] is blocked for that time.
 */
suspend fun <T> Acquirable.holdingUntilLost(body: suspend (Lease) -> T): T =
    runInterruptible(Dispatchers.IO) {
        call(OnLoss.INTERRUPT, LeaseFunction<T, Exception> { lease -> runBlocking { body(lease) } })
    }
