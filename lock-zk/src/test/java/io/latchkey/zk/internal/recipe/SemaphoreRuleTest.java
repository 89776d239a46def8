// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.recipe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.zk.internal.queue.Decision;
import io.latchkey.zk.internal.queue.Kind;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.queue.Queue;
import io.latchkey.zk.internal.queue.Tag;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The obligations of the rule in every queue of up to five requests of one to three permits each, under every capacity
 * of one to four.
 */
class SemaphoreRuleTest {
    private static final int MOST_REQUESTS = 5;
    private static final int MOST_PERMITS = 3;
    private static final int LARGEST = 4;

    private static final Rule LINE = new SemaphoreRule(0);
    private static final Rule CERTIFICATES = new SemaphoreRule(LARGEST);

    @ParameterizedTest
    @ValueSource(ints = {0, 2, LARGEST})
    void requestHolds_whenItFitsWithAllBeforeIt(int border) {
        Rule rule = new SemaphoreRule(border);
        for (Queue queue : queues()) {
            int capacity = queue.purpose().capacity();
            for (NodeName me : queue.requests()) {
                Decision decision = rule.decide(queue, me);
                boolean fits = permits(queue.before(me)) + me.permits() <= capacity;
                boolean everFits = me.permits() <= capacity;
                assertEquals(fits, holds(decision), () -> me + " in " + queue.purpose() + queue);
                assertEquals(!everFits, decision.equals(new Decision.TooMany(capacity)));
                assertEquals(everFits && !fits, decision instanceof Decision.Wait);
            }
        }
    }

    /** The blocking set is the shortest part of the queue directly ahead of the request that keeps it from holding. */
    @Test
    void requestWatchesTheFewestOfTheNearest() {
        for (Queue queue : queues()) {
            for (NodeName me : queue.requests()) {
                if (CERTIFICATES.decide(queue, me) instanceof Decision.Blocked blocked) {
                    int free = queue.purpose().capacity() - me.permits();
                    List<NodeName> before = queue.before(me);
                    List<NodeName> nearest = IntStream.rangeClosed(1, before.size())
                            .mapToObj(n -> before.subList(before.size() - n, before.size()))
                            .filter(last -> permits(last) > free)
                            .findFirst()
                            .orElseThrow();
                    int fewest = subsets(nearest).stream()
                            .filter(some -> permits(some) > free)
                            .mapToInt(List::size)
                            .min()
                            .orElseThrow();
                    assertTrue(nearest.containsAll(blocked.on()));
                    assertEquals(fewest, blocked.on().size());
                }
            }
        }
    }

    @Test
    void holderOfALineTellsTheRequestRightBehindIt() {
        for (Queue queue : queues()) {
            List<NodeName> requests = queue.requests();
            for (int i = 0; i < requests.size(); i++) {
                if (LINE.decide(queue, requests.get(i)) instanceof Decision.Hold hold) {
                    assertEquals(requests.stream().skip(i + 1).findFirst(), hold.next());
                }
            }
        }
    }

    /** A request that already holds has announced that. */
    @Test
    void waiterFollowsTheRequestBefore_whenThatOneHasYetToHold() {
        for (Queue queue : queues()) {
            for (int i = 1; i < queue.requests().size(); i++) {
                NodeName ahead = queue.requests().get(i - 1);
                Decision decision = LINE.decide(queue, queue.requests().get(i));
                if (decision instanceof Decision.Wait && holds(LINE.decide(queue, ahead))) {
                    assertEquals(new Decision.Lead(queue), decision);
                } else if (decision instanceof Decision.Wait) {
                    assertEquals(
                            ahead,
                            assertInstanceOf(Decision.Follow.class, decision).ahead());
                }
            }
        }
    }

    /** A request that is older than the path's data may hold by an earlier, larger capacity. */
    @Test
    void followerLeads_whenTheOneBeforeIsOlderThanTheDataAndWouldHoldByTheLargestCapacity() {
        for (Queue queue : queues()) {
            PathData data = queue.purpose();
            for (int largest = data.capacity(); largest <= LARGEST; largest++) {
                Queue shrunk = queueOf(queue.requests(), semaphore(data.capacity(), largest));
                Queue before = queueOf(queue.requests(), semaphore(largest, largest));
                for (NodeName me : queue.requests()) {
                    if (LINE.decide(shrunk, me) instanceof Decision.Follow follow) {
                        boolean mightHold = holds(LINE.decide(before, follow.ahead()));
                        Decision.Lead lead = new Decision.Lead(shrunk);
                        assertEquals(mightHold ? Optional.of(lead) : Optional.empty(), follow.orLead());
                    }
                }
            }
        }
    }

    @Test
    void waitersStandInALine_whenTheCapacityIsAboveTheBorder() {
        Rule rule = new SemaphoreRule(2);
        for (Queue queue : queues()) {
            for (NodeName me : queue.requests()) {
                if (rule.decide(queue, me) instanceof Decision.Wait wait) {
                    assertEquals(queue.purpose().capacity() <= 2, wait instanceof Decision.Blocked);
                }
            }
        }
    }

    /** Every queue, with every capacity. */
    private static List<Queue> queues() {
        List<List<NodeName>> all = new ArrayList<>(List.of(List.of()));
        for (int i = 0; i < all.size() && all.get(i).size() < MOST_REQUESTS; i++) {
            for (int permits = 1; permits <= MOST_PERMITS; permits++) {
                List<NodeName> longer = new ArrayList<>(all.get(i));
                longer.add(request(longer.size(), permits));
                all.add(longer);
            }
        }
        return all.stream()
                .flatMap(requests -> IntStream.rangeClosed(1, LARGEST)
                        .mapToObj(capacity -> queueOf(requests, semaphore(capacity, capacity))))
                .toList();
    }

    private static NodeName request(int number, int permits) {
        // Ids fall as numbers rise: the order of the names as text is not that of the queue.
        String id = String.format("%016x", MOST_REQUESTS - number);
        return NodeName.parse(NodeName.prefix(Tag.LEASE, id, permits) + String.format("%010d", number))
                .orElseThrow();
    }

    private static Queue queueOf(List<NodeName> requests, PathData data) {
        return Queue.of(requests.stream().map(NodeName::text).toList(), data);
    }

    private static PathData semaphore(int capacity, int largest) {
        return new PathData(Kind.SEMAPHORE, LARGEST, capacity, largest);
    }

    private static List<List<NodeName>> subsets(List<NodeName> of) {
        return IntStream.range(0, 1 << of.size())
                .mapToObj(bits -> of.stream()
                        .filter(name -> (bits >> of.indexOf(name) & 1) == 1)
                        .toList())
                .toList();
    }

    private static long permits(Collection<NodeName> of) {
        return of.stream().mapToLong(NodeName::permits).sum();
    }

    private static boolean holds(Decision decision) {
        return decision instanceof Decision.Hold;
    }
}
