// SPDX-License-Identifier: Apache-2.0
package com.example.shipping

import io.latchkey.lock.admin.Contender
import io.latchkey.lock.LeaseLostException
import io.latchkey.testkit.time.Eventually
import io.latchkey.testkit.SimulatedLocks
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import java.time.Duration

@Timeout(30)
class ShippingTest {
    private val simulated = SimulatedLocks.start()
    private val locks = simulated.client()
    private val order = locks.mutex("/orders/42")
    private val written = mutableListOf<Long>()
    private val store = Store { _, _, token -> written += token }

    @AfterEach
    fun close() = simulated.close()

    private fun awaitQueue(length: Int) =
        Eventually.holds("a queue of $length", Duration.ofSeconds(10)) { order.queue().size == length }

    @Test
    fun writesUnderTheLock() {
        ship(locks, Store { _, _, token ->
            assertEquals(listOf(token), order.queue().map(Contender::token))
            written += token
        })
        assertEquals(1, written.size)
        awaitQueue(0)
    }

    @Test
    fun aCoroutineHoldsInWhicheverThreadItGoesOn() = runBlocking(Dispatchers.Default) {
        order.holding { lease ->
            delay(1)
            assertTrue(lease.isValid)
            assertTrue(order.tryAcquire().isEmpty)
        }
        shipSuspending(locks, store)
        assertEquals(1, written.size)
        awaitQueue(0)
    }

    @Test
    fun bodyIsCancelled_whenTheLeaseIsLost() = runBlocking(Dispatchers.Default) {
        val began = CompletableDeferred<Unit>()
        val ended = async {
            runCatching {
                order.holdingUntilLost {
                    began.complete(Unit)
                    awaitCancellation()
                }
            }
        }
        began.await()
        simulated.expire(locks)
        assertTrue(ended.await().exceptionOrNull() is LeaseLostException)
    }

    @Test
    fun resultIsReturned_whenTheLeaseIsKept() = runBlocking(Dispatchers.Default) {
        assertTrue(order.holdingUntilLost { lease -> lease.isValid })
        awaitQueue(0)
    }

    @Test
    fun whoIsCancelledWhileItWaitsLeavesTheQueue() = runBlocking {
        val held = order.acquire()
        val waiting = launch(start = CoroutineStart.UNDISPATCHED) { shipSuspending(locks, store) }
        awaitQueue(2)
        waiting.cancelAndJoin()
        awaitQueue(1)
        assertTrue(held.isValid)
        assertEquals(emptyList<Long>(), written)
    }

    /** The coroutine has its thread no more when the lock is granted, and is cancelled before it has it back. */
    @Test
    fun whoIsCancelledJustWhenItIsGrantedLetsGo() = runBlocking {
        val held = order.acquire()
        val waiting = launch(start = CoroutineStart.UNDISPATCHED) { shipSuspending(locks, store) }
        awaitQueue(2)
        held.close()
        Eventually.holds("the grant", Duration.ofSeconds(10)) { order.queue()[0].state() == Contender.State.HOLDING }
        waiting.cancelAndJoin()
        awaitQueue(0)
        assertEquals(emptyList<Long>(), written)
        assertFalse(order.tryAcquire().isEmpty)
    }
}
