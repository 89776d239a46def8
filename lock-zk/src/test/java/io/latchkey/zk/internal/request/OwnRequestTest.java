// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.request;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.context.WithoutServer;
import io.latchkey.zk.internal.events.RequestEvents;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Whether a thread waits for leases that it holds itself: then it waits forever. */
class OwnRequestTest {
    private final ClientContext context = new Engine(WithoutServer.config()).context();

    /** Returns the events of a request that this thread waits for, or has waited for. */
    private RequestEvents asked(LockTarget... members) {
        RequestEvents events = context.signalsOf(List.of(members));
        events.callerWaits();
        return events;
    }

    private OwnRequest held(LockTarget... members) {
        return new OwnRequest(
                asked(members),
                true,
                "0",
                List.of(members).stream().map(LockTarget::path).toList());
    }

    private boolean waitsForItself(LockTarget wanted, OwnRequest... held) {
        return OwnRequest.heldByCallerOf(asked(wanted), List.of(held), context).isPresent();
    }

    @Test
    void threadWaitsForItself_whenItsLeasesTogetherHaveAllPermits() {
        LockTarget permit = new LockTarget(Recipe.semaphore(2, 1), new LockPath("/s"));
        assertTrue(waitsForItself(permit, held(permit), held(permit)));
        assertFalse(waitsForItself(permit, held(permit)), "another thread may hold the other permit");
    }

    /** As one that waits when the semaphore is made smaller. */
    @Test
    void threadDoesNotWaitForItself_whenItAsksForMoreThanTheCapacityAndHoldsAnotherPath() {
        LockPath path = new LockPath("/s");
        context.learn(path, PathData.semaphore(2).resized(1));
        LockTarget bothPermits = new LockTarget(Recipe.semaphore(2, 2), path);
        assertFalse(waitsForItself(bothPermits, held(new LockTarget(Recipe.MUTEX, new LockPath("/a")))));
    }

    @Test
    void threadWaitsForItself_whenItAcquiresAnyMemberOfItsMultiLock() {
        LockTarget first = new LockTarget(Recipe.MUTEX, new LockPath("/a"));
        LockTarget second = new LockTarget(Recipe.MUTEX, new LockPath("/b"));
        assertTrue(waitsForItself(first, held(first, second)));
        assertTrue(waitsForItself(second, held(first, second)));
        assertFalse(waitsForItself(new LockTarget(Recipe.MUTEX, new LockPath("/c")), held(first, second)));
    }
}
