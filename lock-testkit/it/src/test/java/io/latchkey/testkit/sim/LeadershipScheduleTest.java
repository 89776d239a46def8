// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.ClientClosedException;
import io.latchkey.lock.Leadership;
import io.latchkey.lock.Leadership.Next;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.Mutex;
import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.proxy.Fault;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.zk.internal.queue.NodeName;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Random schedules of three candidates for one leadership: sessions end by time and by force, connections break,
 * candidates step down and are closed, clients are closed with and without a grace, bodies return, throw and outlast
 * their interruption, servers refuse requests. Time stands still between the steps, so each step is followed until
 * nothing moves.
 *
 * <p>{@code -Dlatchkey.seed=7 -Dlatchkey.schedules=1} plays one schedule again. Its steps are the same; the order in
 * which threads run is not.
 */
@Tag("slow")
class LeadershipScheduleTest {
    private static final long FIRST = Long.getLong("latchkey.seed", 1);
    private static final long USUALLY = 400;
    /** A tenth of what a mix of the swarm plays: threads make each schedule ten times as long. */
    private static final long SCHEDULES = (Long.getLong("latchkey.schedules", 10 * USUALLY) + 9) / 10;

    private static final Duration SESSION = Duration.ofSeconds(6);
    private static final Duration SLICE = SESSION.dividedBy(6);
    private static final Duration GRACE = SESSION.multipliedBy(2);
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final String PATH = "/leader";
    private static final int MEMBERS = 3;
    private static final int STEPS = 20;

    private enum Situation {
        LOST_WHILE_CUT_OFF,
        LOST_WHILE_DISCONNECTED,
        LOST_BY_FORCE,
        LED_ON_AFTER_A_RECONNECT,
        STEPPED_DOWN,
        CLOSED_WHILE_LEADING,
        CLIENT_CLOSED_WHILE_LEADING,
        ENDED_IN_THE_GRACE,
        INTERRUPTED_AFTER_THE_GRACE,
        RETURNED,
        ENDED,
        FAILED,
        FAILED_BY_ANOTHER_LOSS,
        BODY_OUTLASTED_ITS_TERM,
        REFUSED
    }

    /** What the schedule tells a body. */
    private enum Order {
        NONE,
        CANDIDATE,
        END,
        FAIL,
        LOSE_ANOTHER
    }

    private final Map<Situation, Integer> reached = new EnumMap<>(Situation.class);

    @Test
    @Timeout(300)
    void oneLeadsAtATime_whateverHappens() throws Exception {
        for (long seed = FIRST; seed < FIRST + SCHEDULES; seed++) {
            try (SimulatedLocks locks = SimulatedLocks.start(SESSION)) {
                new Schedule(locks, seed).play();
            }
        }
        if (SCHEDULES >= USUALLY) {
            assertEquals(EnumSet.allOf(Situation.class), reached.keySet(), reached::toString);
        }
    }

    /** One term, from the beginning of its body to the end of it. */
    private static final class Term {
        private final Candidate of;
        private final Lease lease;
        private final Thread thread = Thread.currentThread();
        /** Whether the schedule can tell it what to do. */
        private final boolean isBody;
        /** Whether the test's code waits for the interrupt; a listener may leave that to the leadership. */
        private final boolean looks;
        /** Whether the body goes on after its interruption until the schedule lets it end. */
        private final boolean lingers;

        private volatile Order order = Order.NONE;
        /** Whether the schedule has asked for the end of the term. */
        private volatile boolean asked;
        /** Whether the body has noticed its interruption, or has ended by itself. Set before the status is cleared. */
        private volatile boolean stopped;

        private volatile boolean mayEnd;
        private volatile boolean over;

        Term(Candidate of, Lease lease, boolean isBody, boolean looks, boolean lingers) {
            this.of = of;
            this.lease = lease;
            this.isBody = isBody;
            this.looks = looks;
            this.lingers = lingers;
        }

        /** An interrupt that came is either pending or was noticed. */
        boolean wasInterrupted() {
            return thread.isInterrupted() || stopped;
        }

        void give(Order given) {
            asked = true;
            order = given;
            LockSupport.unpark(thread);
        }

        /** Goes on, whatever happens, until the schedule lets it end. */
        void outlast() {
            while (!mayEnd) {
                LockSupport.park(this);
            }
        }

        void allowEnd() {
            mayEnd = true;
            LockSupport.unpark(thread);
        }

        /** Of one that is over the queue tells, also if it ends in this moment. */
        boolean isQuiet() {
            return stopped ? lingers && !mayEnd : !asked && lease.isValid();
        }
    }

    /** A client, and whether it has a connection. */
    private static final class Member {
        private final String name;
        private LockClient client;
        private Candidate candidate;
        private boolean cutOff;
        private boolean disconnected;
        /** Whether its session or node has ended by force, and it may not know yet. */
        private volatile boolean byForce;

        Member(String name) {
            this.name = name;
        }

        boolean isStruck() {
            return cutOff || disconnected;
        }
    }

    private static final class Candidate {
        private final Member member;
        private final CompletableFuture<Leadership> itself = new CompletableFuture<>();
        private final List<Exception> failures = new CopyOnWriteArrayList<>();
        private volatile Term term;
        private volatile boolean returnedEnd;
        private volatile boolean closed;
        private volatile boolean clientClosed;

        Candidate(Member member) {
            this.member = member;
        }

        Leadership leadership() {
            return itself.join();
        }

        boolean isEnded() {
            return leadership().ended().toCompletableFuture().isDone();
        }

        Optional<Term> present() {
            return Optional.ofNullable(term).filter(last -> !last.over);
        }
    }

    private final class Schedule {
        private final SimulatedLocks locks;
        private final long seed;
        private final SplittableRandom random;
        private final List<String> steps = new ArrayList<>();
        private final List<Member> members = new ArrayList<>();
        /** Also those that have ended: they must not lead again. */
        private final List<Candidate> all = new CopyOnWriteArrayList<>();

        private final Queue<String> broken = new ConcurrentLinkedQueue<>();
        private final List<CompletableFuture<?>> closing = new ArrayList<>();
        private long lastEpoch;

        Schedule(SimulatedLocks locks, long seed) {
            this.locks = locks;
            this.seed = seed;
            this.random = new SplittableRandom(seed);
        }

        void play() throws Exception {
            try {
                for (int i = 0; i < MEMBERS; i++) {
                    Member member = new Member("client " + i);
                    members.add(member);
                    open(member);
                }
                settle(); // before the first step, which asks who leads
                for (int i = 0; i < STEPS; i++) {
                    step();
                    settle();
                }
                steps.add("all is well");
                for (Member member : members) {
                    heal(member);
                }
                all.forEach(each -> each.present().ifPresent(Term::allowEnd));
                advance(SESSION.multipliedBy(2));
                settle();
                assertTrue(leaders().size() == 1, () -> "no candidate leads: " + locks.nodesUnder("/"));
                close();
            } catch (AssertionError | Exception failed) {
                throw new AssertionError("seed " + seed + ": " + steps + ": " + failed.getMessage(), failed);
            }
        }

        // ---- candidates

        private void open(Member member) throws InterruptedException {
            member.client = locks.client(member.name);
            member.cutOff = false;
            member.disconnected = false;
            member.byForce = false;
            stand(member);
        }

        private void stand(Member member) {
            Candidate candidate = new Candidate(member);
            SplittableRandom own = random.split();
            Mutex mutex = member.client.mutex(PATH);
            member.candidate = candidate;
            Leadership leadership = random.nextBoolean()
                    ? Leadership.start(mutex, lease -> body(candidate, lease, own), new RecordingReports())
                    : Leadership.start(mutex, new RecordingListener(candidate, own));
            candidate.itself.complete(leadership);
            all.add(candidate);
        }

        private Next body(Candidate of, Lease lease, SplittableRandom own) throws IOException, InterruptedException {
            Term term = new Term(of, lease, true, true, own.nextInt(4) == 0);
            if (own.nextBoolean()) {
                var unused = lease.releaseRequested().thenRun(() -> term.give(Order.CANDIDATE));
            }
            begin(term);
            try {
                untilInterrupted(term);
                switch (term.order) {
                    case FAIL -> throw failure(of, new IOException("of the body"));
                    case LOSE_ANOTHER ->
                        throw failure(of, new LeaseLostException("of another lock", LossCause.NODE_DELETED));
                    case END -> {
                        of.returnedEnd = true;
                        return Next.END;
                    }
                    case CANDIDATE -> {
                        return Next.QUEUE_AGAIN;
                    }
                    case NONE -> {
                        return afterAnInterrupt(own);
                    }
                }
                throw new AssertionError();
            } finally {
                term.over = true;
            }
        }

        /** What a body does then has no effect. */
        private Next afterAnInterrupt(SplittableRandom own) throws InterruptedException {
            switch (own.nextInt(4)) {
                case 0 -> Thread.currentThread().interrupt();
                case 1 -> throw new InterruptedException();
                case 2 -> throw new IllegalStateException("of an interrupted body");
                default -> {}
            }
            return Next.QUEUE_AGAIN;
        }

        private <X extends Exception> X failure(Candidate of, X failure) {
            of.failures.add(failure);
            return failure;
        }

        private void untilInterrupted(Term term) {
            while (!term.thread.isInterrupted() && term.order == Order.NONE) {
                LockSupport.park(term);
            }
            term.stopped = true;
            boolean unused = Thread.interrupted();
            if (term.lingers) {
                term.outlast();
            }
        }

        private class RecordingReports implements Leadership.Reports {
            @Override
            public void mutexRefused(Throwable why, Duration pause) {
                reach(Situation.REFUSED);
            }
        }

        private final class RecordingListener extends RecordingReports implements Leadership.Listener {
            private final Candidate of;
            private final SplittableRandom own;
            private Optional<Term> present = Optional.empty();

            RecordingListener(Candidate of, SplittableRandom own) {
                this.of = of;
                this.own = own;
            }

            @Override
            public void elected(Lease lease) throws InterruptedException {
                Term term = new Term(of, lease, false, own.nextBoolean(), own.nextInt(4) == 0);
                check(present.isEmpty(), of, "was elected during a term");
                present = Optional.of(term);
                begin(term);
                if (term.looks) {
                    untilInterrupted(term);
                    throw new InterruptedException();
                }
            }

            @Override
            public void termOver(Lease lease) {
                check(present.filter(term -> term.lease.equals(lease)).isPresent(), of, "has the end of another term");
                present.ifPresent(term -> {
                    term.stopped = true;
                    if (term.lingers) {
                        term.outlast();
                    }
                    term.over = true;
                });
                present = Optional.empty();
            }
        }

        // ---- laws

        private void check(boolean obeyed, Candidate candidate, String what) {
            if (!obeyed) {
                broken.add(candidate.member.name + " " + what);
            }
        }

        /** What is true when a term begins. A lease that is valid after a look was valid at the look. */
        private void begin(Term term) {
            Candidate me = term.of;
            for (Candidate other : all) {
                if (other.equals(me) || other.member.byForce || me.member.byForce) {
                    continue;
                }
                boolean leads = other.leadership().isLeader();
                Optional<Term> works = other.present().filter(each -> each.looks && !each.wasInterrupted());
                if (term.lease.isValid()) {
                    check(!leads, me, "leads beside " + other.member.name);
                    check(works.isEmpty(), me, "leads while the body of " + other.member.name + " goes on");
                    if (other.present().isPresent()) {
                        reach(Situation.BODY_OUTLASTED_ITS_TERM);
                    }
                }
            }
            synchronized (this) {
                // A thread may be late: then its lease has ended, and the next candidate's term has begun before.
                check(
                        me.member.byForce || term.lease.token() > lastEpoch || !term.lease.isValid(),
                        me,
                        "has epoch " + term.lease.token() + " after " + lastEpoch);
                lastEpoch = Math.max(lastEpoch, term.lease.token());
            }
            OptionalLong epoch = me.leadership().epoch();
            check(
                    epoch.isEmpty() ? !term.lease.isValid() : epoch.getAsLong() == term.lease.token(),
                    me,
                    "has a lease with token " + term.lease.token() + " and says " + epoch);
            me.term = term;
        }

        /** A candidate that has the same epoch in both looks has led in between, and so have all such at once. */
        private void look() {
            Map<Candidate, OptionalLong> first = epochs();
            Map<Candidate, OptionalLong> second = epochs();
            List<String> believe = first.keySet().stream()
                    .filter(leader ->
                            !leader.member.byForce && first.get(leader).equals(second.get(leader)))
                    .map(leader -> leader.member.name)
                    .toList();
            if (believe.size() > 1) {
                broken.add("leaders at once: " + believe);
            }
        }

        private Map<Candidate, OptionalLong> epochs() {
            Map<Candidate, OptionalLong> epochs = new LinkedHashMap<>();
            all.forEach(each -> epochs.put(each, each.leadership().epoch()));
            epochs.values().removeIf(OptionalLong::isEmpty);
            return epochs;
        }

        private void reach(Situation what) {
            synchronized (reached) {
                reached.merge(what, 1, Integer::sum);
            }
        }

        private List<Candidate> leaders() {
            return all.stream().filter(each -> each.leadership().isLeader()).toList();
        }

        private List<ServerNode> queue() {
            return locks.nodesUnder(PATH).stream()
                    .filter(node -> NodeName.parse(node.name()).isPresent())
                    .sorted(Comparator.comparingLong(ServerNode::created))
                    .toList();
        }

        /** The first of the queue leads if it is connected, and all others wait behind. */
        private void settle() throws InterruptedException {
            locks.advance(Duration.ZERO);
            Eventually.holds("nothing moves: " + locks.nodesUnder("/"), SOON, () -> {
                List<ServerNode> queue = queue();
                return members.stream().allMatch(member -> isQuiet(member, queue));
            });
            members.stream().filter(member -> !member.isStruck()).forEach(member -> member.byForce = false);
            look();
            assertEquals(List.of(), List.copyOf(broken));
            for (Member member : members) {
                if (member.candidate.isEnded() && !member.candidate.clientClosed) {
                    assertEndedAsItShould(member.candidate);
                    stand(member);
                    settle();
                }
            }
        }

        private boolean isQuiet(Member member, List<ServerNode> queue) {
            Candidate candidate = member.candidate;
            if (candidate.isEnded()) {
                return true;
            }
            Optional<Term> present = candidate.present();
            if (present.isPresent()) {
                return present.get().isQuiet();
            }
            if (member.isStruck()) {
                return true;
            }
            if (candidate.closed || candidate.clientClosed) {
                return false;
            }
            long session = locks.session(member.client);
            return queue.stream().anyMatch(node -> node.session() == session)
                    && queue.get(0).session() != session;
        }

        private void assertEndedAsItShould(Candidate candidate) {
            try {
                candidate.leadership().ended().toCompletableFuture().join();
                assertTrue(candidate.closed || candidate.returnedEnd, "a candidate ended by itself");
            } catch (CompletionException failed) {
                assertTrue(
                        candidate.failures.contains(failed.getCause())
                                || (candidate.clientClosed && failed.getCause() instanceof ClientClosedException),
                        () -> "ended with " + failed.getCause());
            }
        }

        // ---- steps

        private void step() throws Exception {
            Member member = leaders().stream()
                    .map(leader -> leader.member)
                    .findFirst()
                    .filter(leader -> random.nextInt(3) > 0)
                    .orElseGet(() -> one(members));
            Optional<Term> leads = member.candidate.present().filter(term -> !term.stopped && term.lease.isValid());
            int kind = random.nextInt(19);
            steps.add(member.name + (leads.isPresent() ? ", which leads, " : " ") + kind);
            switch (kind) {
                case 0, 1 -> {
                    member.cutOff = true;
                    locks.cutOff(member.client);
                }
                case 2 -> {
                    member.disconnected = true;
                    locks.disconnect(member.client);
                }
                case 3 -> {
                    boolean was = member.isStruck();
                    heal(member);
                    if (was && leads.filter(term -> term.lease.isValid()).isPresent()) {
                        reach(Situation.LED_ON_AFTER_A_RECONNECT);
                    }
                }
                case 4, 5, 6 -> advance(SLICE.multipliedBy(random.nextInt(1, 10)));
                case 7 -> expire(member, leads);
                case 8 -> {
                    leads.ifPresent(term -> reach(Situation.STEPPED_DOWN));
                    leads.ifPresent(term -> term.asked = true);
                    member.candidate.leadership().stepDown();
                }
                case 9 -> closeCandidate(member, leads);
                case 10 -> closeClient(member, leads, Duration.ZERO);
                case 11 -> closeClient(member, leads, GRACE);
                case 12, 13 -> {
                    if (leads.filter(term -> term.isBody && !member.isStruck()).isPresent()) {
                        order(leads.get());
                    }
                }
                case 14 -> {
                    for (ServerNode node : queue().stream().limit(1).toList()) {
                        delete(node, leads);
                    }
                }
                case 15, 16 -> refuseNextCreate(member);
                default -> all.forEach(each -> each.present().ifPresent(Term::allowEnd));
            }
        }

        /** Until it strikes or the client is healed. */
        private void refuseNextCreate(Member member) {
            Fault unused =
                    locks.refuseRequest(member.client, RequestMatch.create(), 1, KeeperException.Code.QUOTAEXCEEDED);
        }

        private <T> T one(List<T> of) {
            return of.get(random.nextInt(of.size()));
        }

        private void heal(Member member) {
            // A session that has ended is over for the client when it is back, and its leases with it.
            member.cutOff = false;
            member.disconnected = false;
            locks.heal(member.client);
        }

        /** In slices, so that laws are looked at in between. */
        private void advance(Duration span) throws InterruptedException {
            List<Term> led = leaders().stream()
                    .flatMap(leader -> leader.present().stream())
                    .filter(term -> !term.stopped)
                    .toList();
            for (Duration left = span; !left.isNegative() && !left.isZero(); left = left.minus(SLICE)) {
                locks.advance(SLICE);
                look();
            }
            for (Term term : led) {
                if (!term.lease.isValid() && term.of.member.cutOff) {
                    reach(Situation.LOST_WHILE_CUT_OFF);
                } else if (!term.lease.isValid() && term.of.member.disconnected) {
                    reach(Situation.LOST_WHILE_DISCONNECTED);
                }
            }
        }

        private void expire(Member member, Optional<Term> leads) {
            ExpiryOrder order = one(List.of(ExpiryOrder.values()));
            steps.add(order.name());
            if (order == ExpiryOrder.SERVER_FIRST || order == ExpiryOrder.BOTH) {
                member.byForce = true;
                leads.ifPresent(term -> reach(Situation.LOST_BY_FORCE));
            }
            locks.expire(member.client, order);
            if (order == ExpiryOrder.PARTITION) {
                heal(member);
            }
        }

        /** Its client finds that with the next heartbeat. */
        private void delete(ServerNode node, Optional<Term> leads) throws InterruptedException {
            members.stream()
                    .filter(member -> locks.session(member.client) == node.session())
                    .forEach(member -> member.byForce = true);
            leads.filter(term -> term.of.member.byForce).ifPresent(term -> reach(Situation.LOST_BY_FORCE));
            locks.delete(node.path());
            advance(SESSION);
        }

        private void order(Term term) throws InterruptedException {
            Order order = one(List.copyOf(EnumSet.complementOf(EnumSet.of(Order.NONE))));
            steps.add(order.name());
            reach(
                    switch (order) {
                        case END -> Situation.ENDED;
                        case FAIL -> Situation.FAILED;
                        case LOSE_ANOTHER -> Situation.FAILED_BY_ANOTHER_LOSS;
                        default -> Situation.RETURNED;
                    });
            term.give(order);
            term.allowEnd();
            if (order != Order.CANDIDATE) {
                Eventually.holds("a candidate ends with its body", SOON, term.of::isEnded);
            }
        }

        private void closeCandidate(Member member, Optional<Term> leads) throws Exception {
            leads.ifPresent(term -> reach(Situation.CLOSED_WHILE_LEADING));
            leads.ifPresent(term -> term.asked = true);
            member.candidate.closed = true;
            member.candidate.present().ifPresent(Term::allowEnd);
            closing.add(inThread(member.candidate.leadership()::close));
        }

        private void closeClient(Member member, Optional<Term> leads, Duration grace) throws Exception {
            Candidate candidate = member.candidate;
            LockClient client = member.client;
            candidate.clientClosed = true;
            leads.ifPresent(term -> reach(Situation.CLIENT_CLOSED_WHILE_LEADING));
            CompletableFuture<?> closed = inThread(() -> client.close(grace));
            closing.add(closed);
            candidate.present().ifPresent(Term::allowEnd);
            settle();
            advance(grace);
            Eventually.holds("its candidate ends", SOON, () -> {
                candidate.present().ifPresent(Term::allowEnd);
                locks.advance(SLICE);
                return candidate.isEnded();
            });
            leads.filter(term -> !grace.isZero() && !member.isStruck())
                    .ifPresent(term -> reach(
                            term.order == Order.NONE
                                    ? Situation.INTERRUPTED_AFTER_THE_GRACE
                                    : Situation.ENDED_IN_THE_GRACE));
            assertEndedAsItShould(candidate);
            soon(closed);
            open(member);
        }

        private CompletableFuture<?> inThread(Runnable task) {
            return CompletableFuture.runAsync(task, call -> {
                Thread thread = new Thread(call, "latchkey-closes");
                thread.setDaemon(true);
                thread.start();
            });
        }

        private void soon(CompletableFuture<?> due) throws Exception {
            due.get(SOON.toSeconds(), TimeUnit.SECONDS);
        }

        private void close() throws Exception {
            for (Member member : members) {
                member.candidate.closed = true;
                closing.add(inThread(member.candidate.leadership()::close));
            }
            Eventually.holds("all candidates end", SOON, () -> {
                all.forEach(each -> each.present().ifPresent(Term::allowEnd));
                return all.stream().allMatch(Candidate::isEnded);
            });
            for (CompletableFuture<?> each : closing) {
                soon(each);
            }
            all.forEach(this::assertEndedAsItShould);
            locks.advance(Duration.ZERO);
            assertEquals(
                    List.of(),
                    locks.nodesUnder("/").stream()
                            .filter(ServerNode::isEphemeral)
                            .toList());
            assertEquals(List.of(), locks.watches());
            assertEquals(List.of(), List.copyOf(broken));
        }
    }
}
