// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.recipe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.latchkey.zk.internal.queue.LockPath;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class LockTargetTest {
    private static final Duration SHORT = Duration.ofSeconds(1);
    private static final Duration LONG = Duration.ofHours(1);

    private final LockTarget target = new LockTarget(Recipe.WRITE, new LockPath("/rw"));

    @Test
    void smallestLimitCounts_inEachOrder() {
        assertEquals(
                Optional.of(SHORT), target.heldAtMost(SHORT).heldAtMost(LONG).limit());
        assertEquals(
                Optional.of(SHORT), target.heldAtMost(LONG).heldAtMost(SHORT).limit());
        assertEquals(
                Optional.of(SHORT), target.heldAtMost(SHORT).heldAtMost(SHORT).limit());
    }

    @Test
    void labelLimitAndRecipe_areChangedOneByOne() {
        LockTarget full = target.labelled("invoice 7").heldAtMost(LONG).as(Recipe.READ);
        assertEquals(new LockTarget(Recipe.READ, new LockPath("/rw"), "invoice 7", Optional.of(LONG)), full);
        assertEquals(new LockTarget(Recipe.READ, new LockPath("/rw"), "invoice 7", Optional.empty()), full.unlimited());
    }
}
