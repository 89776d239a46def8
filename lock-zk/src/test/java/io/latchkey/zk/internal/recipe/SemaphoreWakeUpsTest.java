// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.recipe;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.zk.internal.queue.Decision;
import io.latchkey.zk.internal.queue.Kind;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.queue.Queue;
import io.latchkey.zk.internal.queue.Tag;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * No wake-up is lost, and none wakes too many: in every order in which requests come, look, announce that they hold,
 * and leave, while the capacity changes twice. A request that sleeps looks again only when something that its decision
 * watches has changed (docs/protocol.md, "Semaphore: blocking sets and the chain"). Four requests ask for any permits,
 * or as many as {@code -Dlatchkey.explore=5} says.
 *
 * <p>A look is one step here: changes between a list and the watches that follow from it are noticed when the watches
 * are set.
 */
@org.junit.jupiter.api.Tag("once")
class SemaphoreWakeUpsTest {
    private static final int USUALLY = 4;
    private static final int REQUESTS = Integer.getInteger("latchkey.explore", USUALLY);
    private static final int LARGEST = 3;
    private static final int RESIZES = 2;
    private static final Rule CHAIN = new SemaphoreRule(0);
    private static final Rule BLOCKING_SETS = new SemaphoreRule(LARGEST);

    private static final class Violation extends RuntimeException {
        private static final long serialVersionUID = 1;

        Violation(String what, World in) {
            super(what + " in " + in);
        }
    }

    private enum Phase {
        LOOKING,
        BLOCKED,
        FOLLOWING,
        LEADING,
        HOLDING
    }

    /**
     * One request in the queue.
     *
     * @param older than the path's data
     * @param announces whether it has yet to announce that it holds
     * @param announced whether it has announced it
     * @param watched a bit for each request whose end wakes it; a follower is also woken by an announcement
     */
    private record Request(
            int number, int permits, Phase phase, boolean older, boolean announces, boolean announced, int watched) {
        Request looking() {
            return in(Phase.LOOKING, 0, announces);
        }

        Request in(Phase next, int watches, boolean willAnnounce) {
            return new Request(number, permits, next, older, willAnnounce, announced, watches);
        }

        Request announcing() {
            return new Request(number, permits, phase, older, false, true, watched);
        }

        Request olderThanData() {
            return new Request(number, permits, phase, true, announces, announced, watched);
        }

        boolean watches(Request other) {
            return (watched & 1 << other.number) != 0;
        }

        boolean sleeps() {
            return phase != Phase.LOOKING && phase != Phase.HOLDING;
        }
    }

    private record World(List<Request> queue, int capacity, int largest, int came, int resizes) {
        boolean isQuiet() {
            return queue.stream().noneMatch(request -> request.phase == Phase.LOOKING || request.announces);
        }

        World with(Request changed) {
            return with(queue.stream()
                    .map(other -> other.number == changed.number ? changed : other)
                    .toList());
        }

        World with(List<Request> next) {
            return new World(next, capacity, largest, came, resizes);
        }

        Optional<Request> request(int number) {
            return queue.stream().filter(other -> other.number == number).findFirst();
        }
    }

    private static final class Exploration {
        private final Rule rule;
        private final int[] permits;
        private final Set<World> seen = new HashSet<>();
        private final Deque<World> left = new ArrayDeque<>();
        private final Map<List<Object>, Decision> decisions = new HashMap<>();

        Exploration(Rule rule, int... permits) {
            this.rule = rule;
            this.permits = permits;
        }

        int from(int capacity) {
            add(new World(List.of(), capacity, capacity, 0, 0));
            while (!left.isEmpty()) {
                World world = left.remove();
                if (world.isQuiet()) {
                    world.queue.forEach(request -> checkSleeps(world, request));
                }
                world.queue.forEach(request -> steps(world, request));
                if (world.came < permits.length) {
                    add(come(world));
                }
                for (int next = 1; world.resizes < RESIZES && next <= LARGEST; next++) {
                    if (next != world.capacity) {
                        add(resize(world, next));
                    }
                }
            }
            return seen.size();
        }

        private void add(World world) {
            if (seen.add(world)) {
                left.add(world);
            }
        }

        private void steps(World world, Request request) {
            add(leave(world, request));
            if (request.phase == Phase.LOOKING) {
                add(look(world, request));
            }
            if (request.announces) {
                add(announce(world, request));
            }
        }

        private World come(World world) {
            List<Request> queue = new ArrayList<>();
            world.queue.forEach(other -> queue.add(other.phase == Phase.LEADING ? other.looking() : other));
            queue.add(new Request(world.came, permits[world.came], Phase.LOOKING, false, false, false, 0));
            return new World(queue, world.capacity, world.largest, world.came + 1, world.resizes);
        }

        private World resize(World world, int capacity) {
            List<Request> queue = world.queue.stream()
                    .map(Request::olderThanData)
                    .map(other -> other.sleeps() ? other.looking() : other)
                    .toList();
            return new World(queue, capacity, Math.max(capacity, world.largest), world.came, world.resizes + 1);
        }

        private World announce(World world, Request holder) {
            return world.with(holder.announcing())
                    .with(world.with(holder.announcing()).queue.stream()
                            .map(other ->
                                    other.phase == Phase.FOLLOWING && other.watches(holder) ? other.looking() : other)
                            .toList());
        }

        /** A release, a request that is given up, a session that ends. */
        private World leave(World world, Request gone) {
            List<Request> queue = new ArrayList<>();
            int woken = 0;
            for (Request other : world.queue) {
                if (other.number == gone.number) {
                    continue;
                }
                boolean wakes = other.sleeps() && (other.phase == Phase.LEADING || other.watches(gone));
                woken += wakes ? other.permits : 0;
                queue.add(wakes ? other.looking() : other);
            }
            // After a shrink, as many requests may lead as the largest capacity admits; one follows the last of them.
            if (woken > (rule.equals(BLOCKING_SETS) ? 1 : 2) * world.largest) {
                throw new Violation("request " + gone.number + " wakes " + woken + " permits", world);
            }
            return world.with(queue);
        }

        private World look(World world, Request me) {
            Decision decision = decide(world, me);
            if (decision instanceof Decision.Hold hold) {
                return world.with(me.in(Phase.HOLDING, 0, hold.next().isPresent()));
            }
            if (decision instanceof Decision.TooMany) {
                return leave(world, me);
            }
            if (decision instanceof Decision.Blocked blocked) {
                return world.with(me.in(Phase.BLOCKED, bits(blocked.on()), false));
            }
            if (decision instanceof Decision.Follow follow) {
                Request ahead = world.request(number(follow.ahead())).orElseThrow();
                if (follow.orLead().isEmpty() || !ahead.older) {
                    if (ahead.announced) {
                        throw new Violation("request " + me.number + " looks for ever", world);
                    }
                    return world.with(me.in(Phase.FOLLOWING, bits(List.of(follow.ahead())), false));
                }
            }
            return world.with(me.in(Phase.LEADING, 0, false));
        }

        private Decision decide(World world, Request me) {
            List<Integer> numbers = world.queue.stream().map(Request::number).toList();
            return decisions.computeIfAbsent(
                    List.of(numbers, world.capacity, world.largest, me.number),
                    key -> rule.decide(
                            Queue.of(
                                    numbers.stream()
                                            .map(this::node)
                                            .map(NodeName::text)
                                            .toList(),
                                    new PathData(Kind.SEMAPHORE, LARGEST, world.capacity, world.largest)),
                            node(me.number)));
        }

        private NodeName node(int number) {
            String prefix = NodeName.prefix(Tag.LEASE, "%016x".formatted(number), permits[number]);
            return NodeName.parse(prefix + "%010d".formatted(number)).orElseThrow();
        }

        private static int number(NodeName node) {
            return Integer.parseInt(node.id(), 16);
        }

        private static int bits(List<NodeName> nodes) {
            int bits = 0;
            for (NodeName node : nodes) {
                bits |= 1 << number(node);
            }
            return bits;
        }

        private static void checkSleeps(World world, Request request) {
            int needed = 0;
            for (Request other : world.queue) {
                needed += other.permits;
                if (other.equals(request)) {
                    break;
                }
            }
            if (request.sleeps() && (needed <= world.capacity || request.permits > world.capacity)) {
                throw new Violation("request " + request.number + " sleeps", world);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, LARGEST})
    void noWakeUpIsLost_amongRequestsForAnyPermits(int mostWatched) {
        int worlds = exploreAll(new SemaphoreRule(mostWatched), REQUESTS);
        assertTrue(worlds > (REQUESTS < USUALLY ? 5_000 : 100_000), worlds + " worlds");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, LARGEST})
    void noWakeUpIsLost_amongFiveRequests(int mostWatched) {
        int worlds = explore(new SemaphoreRule(mostWatched), 1, 1, 2, 1, 3);
        assertTrue(worlds > 20_000, worlds + " worlds");
    }

    /** The holder looks like a waiter that will announce. */
    @Test
    void lostWakeUpIsFound_whenTheChainKnowsThePresentCapacityOnly() {
        finds("looks for ever", (queue, me) -> {
            int capacity = queue.purpose().capacity();
            List<String> names = queue.requests().stream().map(NodeName::text).toList();
            return CHAIN.decide(Queue.of(names, new PathData(Kind.SEMAPHORE, LARGEST, capacity, capacity)), me);
        });
    }

    @Test
    void lostWakeUpIsFound_whenHoldersAnnounceNothing() {
        finds("sleeps", (queue, me) -> {
            Decision decision = CHAIN.decide(queue, me);
            return decision instanceof Decision.Hold ? new Decision.Hold() : decision;
        });
    }

    @Test
    void lostWakeUpIsFound_whenTheFirstWaiterFollowsAHolder() {
        finds("looks for ever", (queue, me) -> {
            Decision decision = CHAIN.decide(queue, me);
            List<NodeName> before = queue.before(me);
            return decision instanceof Decision.Lead && !before.isEmpty()
                    ? new Decision.Follow(before.get(before.size() - 1), Optional.empty())
                    : decision;
        });
    }

    @Test
    void lostWakeUpIsFound_whenABlockingSetLacksOne() {
        finds("sleeps", (queue, me) -> {
            Decision decision = BLOCKING_SETS.decide(queue, me);
            return decision instanceof Decision.Blocked blocked && blocked.on().size() > 1
                    ? new Decision.Blocked(blocked.on().subList(1, blocked.on().size()))
                    : decision;
        });
    }

    @Test
    void tooManyWakeUpsAreFound_whenABlockingSetBeginsWithTheOldest() {
        finds("wakes", (queue, me) -> {
            Decision decision = BLOCKING_SETS.decide(queue, me);
            return decision instanceof Decision.Blocked ? new Decision.Blocked(queue.before(me)) : decision;
        });
    }

    private static void finds(String what, Rule wrong) {
        Violation found = assertThrows(Violation.class, () -> explore(wrong, 1, 1, 1, 2, 1));
        assertTrue(found.getMessage().contains(what), found::getMessage);
    }

    private static int exploreAll(Rule rule, int requests) {
        int worlds = 0;
        for (int choice = 0; choice < Math.pow(LARGEST, requests); choice++) {
            int[] permits = new int[requests];
            for (int i = 0, rest = choice; i < requests; i++, rest /= LARGEST) {
                permits[i] = 1 + rest % LARGEST;
            }
            worlds += explore(rule, permits);
        }
        return worlds;
    }

    private static int explore(Rule rule, int... permits) {
        int worlds = 0;
        for (int capacity = 1; capacity <= LARGEST; capacity++) {
            worlds += new Exploration(rule, permits).from(capacity);
        }
        return worlds;
    }
}
