// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.threads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A future that its callers share. */
@Timeout(30)
class NoticeTest {
    private final Notice<String> notice = new Notice<>();

    @Test
    void noticeIsItsOwners_whateverACallerTries() throws Exception {
        CompletableFuture<String> shared = notice;
        assertFalse(shared.complete("of a caller"));
        assertFalse(shared.completeExceptionally(new IllegalStateException("of a caller")));
        assertFalse(shared.cancel(true));
        var unused = shared.completeAsync(() -> "of a caller", Runnable::run);
        CompletableFuture<String> failing = shared.orTimeout(1, TimeUnit.MILLISECONDS);
        CompletableFuture<String> replaced = shared.completeOnTimeout("none", 1, TimeUnit.MILLISECONDS);
        ExecutionException late = assertThrows(ExecutionException.class, () -> failing.get(10, TimeUnit.SECONDS));
        assertInstanceOf(TimeoutException.class, late.getCause());
        assertEquals("none", replaced.get(10, TimeUnit.SECONDS));
        assertFalse(shared.isDone());
        notice.deliver("news");
        shared.obtrudeValue("of a caller");
        shared.obtrudeException(new IllegalStateException("of a caller"));
        assertEquals("news", shared.join());
    }
}
