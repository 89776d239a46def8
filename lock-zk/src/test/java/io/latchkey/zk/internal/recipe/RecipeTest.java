// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.recipe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.latchkey.zk.internal.queue.Decision;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.queue.Queue;
import io.latchkey.zk.internal.queue.Tag;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RecipeTest {
    private static final NodeName A = name("write-000000000000000c-0000000001");
    private static final NodeName B = name("write-000000000000000a-0000000002");
    private static final NodeName C = name("write-000000000000000b-0000000003");

    @Test
    void mutexIsHeldByTheFirst_andOthersWaitForTheirPredecessor() {
        Queue queue = Queue.of(List.of(C.text(), A.text(), B.text()));
        assertEquals(new Decision.Hold(), Recipe.MUTEX.rule().decide(queue, A));
        assertEquals(new Decision.Blocked(List.of(A), true), Recipe.MUTEX.rule().decide(queue, B));
        assertEquals(new Decision.Blocked(List.of(B)), Recipe.MUTEX.rule().decide(queue, C));
    }

    /** A client must not ignore a later version's tag because it knows the tag from another recipe. */
    @Test
    void mutexCountsRequestsOfOtherTags() {
        NodeName reader = name("read-0000000000000001-0000000001");
        Queue queue = Queue.of(List.of(B.text(), reader.text()));
        assertEquals(new Decision.Blocked(List.of(reader)), Recipe.MUTEX.rule().decide(queue, B));
    }

    /** Every order of up to five readers and writers. */
    @Test
    void readerWaitsForTheNearestWriterAndWriterForTheRequestRightBeforeIt() {
        for (int length = 1; length <= 5; length++) {
            for (int bits = 0; bits < 1 << length; bits++) {
                int writers = bits;
                List<NodeName> requests = IntStream.range(0, length)
                        .mapToObj(i -> request((writers >> i & 1) == 1 ? Tag.WRITE : Tag.READ, i))
                        .toList();
                Queue queue = Queue.of(requests.stream().map(NodeName::text).toList(), PathData.READ_WRITE);
                Optional<NodeName> before = Optional.empty();
                Optional<NodeName> writer = Optional.empty();
                for (NodeName me : requests) {
                    Optional<NodeName> waitsFor = me.tag() == Tag.WRITE ? before : writer;
                    List<NodeName> inTheWay = requests.subList(0, requests.indexOf(me)).stream()
                            .filter(other -> me.tag() == Tag.WRITE || other.tag() == Tag.WRITE)
                            .toList();
                    boolean mayDowngrade = me.tag() == Tag.WRITE && writer.equals(before);
                    boolean alone = inTheWay.size() == 1 && !mayDowngrade;
                    assertEquals(
                            waitsFor.<Decision>map(one -> new Decision.Blocked(List.of(one), alone))
                                    .orElse(new Decision.Hold()),
                            Recipe.ruleFor(me.tag()).decide(queue, me),
                            () -> me + " in " + queue);
                    before = Optional.of(me);
                    writer = me.tag() == Tag.WRITE ? before : writer;
                }
            }
        }
    }

    @Test
    void recipeOfASemaphoreHasItsDeclaredPermitsAndThoseAskedFor() {
        Recipe recipe = Recipe.semaphore(5, 3);
        assertEquals(PathData.semaphore(5), recipe.purpose());
        assertEquals(3, recipe.permits());
        assertEquals(Recipe.ruleFor(Tag.LEASE), recipe.rule());
    }

    @Test
    void recipeIsDescribedForPeople() {
        assertEquals("mutex", Recipe.MUTEX.describe());
        assertEquals("write lock", Recipe.WRITE.describe());
        assertEquals("read lock", Recipe.READ.describe());
        assertEquals("3 permits of semaphore", Recipe.semaphore(5, 3).describe());
        assertEquals("1 permit of semaphore", Recipe.semaphore(5, 1).describe());
    }

    private static NodeName request(Tag tag, int number) {
        return name(NodeName.prefix(tag, String.format("%016x", number), 1) + String.format("%010d", number));
    }

    private static NodeName name(String text) {
        return NodeName.parse(text).orElseThrow();
    }
}
