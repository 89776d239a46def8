// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.recipe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.latchkey.zk.queue.Decision;
import io.latchkey.zk.queue.NodeName;
import io.latchkey.zk.queue.Queue;
import java.util.List;
import org.junit.jupiter.api.Test;

class RecipeTest {
    private static final NodeName A = name("write-000000000000000c-0000000001");
    private static final NodeName B = name("write-000000000000000a-0000000002");
    private static final NodeName C = name("write-000000000000000b-0000000003");

    @Test
    void inAMutexTheFirstHoldsAndEverybodyElseWaitsForTheOneRightBefore() {
        Queue queue = Queue.of(List.of(C.text(), A.text(), B.text()));
        assertEquals(new Decision.Hold(), Recipe.MUTEX.rule().decide(queue, A));
        assertEquals(new Decision.Blocked(List.of(A)), Recipe.MUTEX.rule().decide(queue, B));
        assertEquals(new Decision.Blocked(List.of(B)), Recipe.MUTEX.rule().decide(queue, C));
    }

    /** A later version's tag must not be jumped over by a client that knows it from another recipe. */
    @Test
    void inAMutexRequestsOfOtherTagsCountToo() {
        NodeName reader = name("read-0000000000000001-0000000001");
        Queue queue = Queue.of(List.of(B.text(), reader.text()));
        assertEquals(new Decision.Blocked(List.of(reader)), Recipe.MUTEX.rule().decide(queue, B));
    }

    private static NodeName name(String text) {
        return NodeName.parse(text).orElseThrow();
    }
}
