// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.threads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class NoticeTest {
    private final Notice<String> notice = new Notice<>();

    @Test
    void stageIsSharedAndItsOwners_whateverACallerTries() {
        CompletableFuture<String> ofOneCaller = notice.stage().toCompletableFuture();
        assertTrue(ofOneCaller.complete("of a caller"));
        CompletableFuture<String> ofAnother = notice.stage().toCompletableFuture();
        assertFalse(ofAnother.isDone());
        assertSame(notice.stage(), notice.stage());
        notice.deliver("news");
        assertEquals("news", ofAnother.join());
    }
}
