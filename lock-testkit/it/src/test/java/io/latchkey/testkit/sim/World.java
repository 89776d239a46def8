// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.log.LoggedErrors;
import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.check.LeakChecker;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.testkit.sim.Coverage.Situation;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.request.ZkLease;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Clients, servers and their possible steps. Nothing runs and no clock advances except by a step: the same steps on the
 * same spec give the same world.
 */
final class World {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    /** A time limit that no world needs. */
    private static final long MOST_STEPS = 100_000;

    /** The sequence numbers left at paths that are nearly worn out. */
    private static final int FEW = 2;

    private final WorldSpec spec;
    private final SimulatedTime time = new SimulatedTime();
    private final Leader leader;
    private final List<Server> servers = new ArrayList<>(4);
    private final List<Client> clients = new ArrayList<>(4);
    private final List<Worker> workers = new ArrayList<>(4);
    private final Oracle oracle;
    private final OwnNodesRule ownNodesRule;
    private final Coverage coverage;
    /** The events for people to read; null if not recorded. */
    private final @Nullable List<String> diary;
    /** The events for the checkers; null if not recorded. */
    private final @Nullable ScheduleHistory history;

    private int faults;
    private int cancels;
    private int closes;
    private int written;
    private boolean newHolder;
    /** Whether an operator has deleted a node. */
    private boolean tampered;
    /** A failure in a callback, whose future would hide it. */
    private @Nullable BrokenRuleError broken;

    private long steps;

    World(WorldSpec spec, Coverage coverage, @Nullable List<String> diary) {
        this(spec, coverage, diary, false);
    }

    /** Creates a world that keeps its history. */
    static World recorded(WorldSpec spec, Coverage coverage) {
        return new World(spec, coverage, null, true);
    }

    private World(WorldSpec spec, Coverage coverage, @Nullable List<String> diary, boolean recorded) {
        this.spec = spec;
        this.coverage = coverage;
        this.diary = diary;
        this.history = recorded ? new ScheduleHistory(time, spec) : null;
        this.leader = new Leader(time, spec.ends().expiry());
        this.oracle = new Oracle(leader, spec, clients, workers);
        this.ownNodesRule = new OwnNodesRule(leader);
        this.faults = spec.faults();
        var unused = LoggedErrors.ofThisThread(); // of a world that was given up
        this.cancels = spec.cancels();
        this.closes = spec.closes();
        for (int i = 0; i < spec.servers(); i++) {
            servers.add(new Server(leader));
        }
        for (int i = 0; i < spec.clients(); i++) {
            clients.add(new Client(
                    i,
                    leader,
                    spec.turns(),
                    spec.hostile() ? Optional.of(new HostileCode(i, coverage)) : Optional.empty(),
                    this::broke));
        }
        for (WorldSpec.Plan plan : spec.plans()) {
            Client client = clients.get(plan.client());
            String name = client + String.valueOf((char) ('a' + client.workers().size()));
            Worker worker = new Worker(name, client, plan.tasks(), this);
            client.workers().add(worker);
            workers.add(worker);
        }
        clients.forEach(Client::start);
        if (spec.start() != WorldSpec.Start.NOTHING) {
            makePaths();
            settle();
        }
    }

    /** Starts with connected clients and existing paths. */
    private void makePaths() {
        Map<String, LockTarget> paths = new TreeMap<>();
        for (WorldSpec.Plan plan : spec.plans()) {
            for (Task task : plan.tasks()) {
                task.members().forEach(member -> paths.put(member.path().node(), member));
            }
        }
        paths.values()
                .forEach(member ->
                        make(member.path().node(), member.recipe().purpose().bytes()));
        if (spec.start() == WorldSpec.Start.WORN_OUT) {
            paths.keySet().forEach(path -> leader.tree().get(path).creates = OracleRules.WORN_OUT - FEW);
        }
    }

    /** Creates a path with its parents, as another client does. */
    private void make(String path, byte[] data) {
        for (int end = path.indexOf('/', 1); end >= 0; end = path.indexOf('/', end + 1)) {
            if (!leader.tree().has(path.substring(0, end))) {
                create(path.substring(0, end), new byte[0]);
            }
        }
        create(path, data);
    }

    private void create(String path, byte[] data) {
        leader.commit(List.of(Tree.Effect.Created.of(path, data, Tree.CONTAINER)), 0);
    }

    // ---- for players

    List<Client> clients() {
        return clients;
    }

    List<Server> servers() {
        return servers;
    }

    List<Worker> workers() {
        return workers;
    }

    Leader leader() {
        return leader;
    }

    SimulatedTime time() {
        return time;
    }

    WorldSpec spec() {
        return spec;
    }

    int faultsLeft() {
        return faults;
    }

    int cancelsLeft() {
        return cancels;
    }

    int closesLeft() {
        return closes;
    }

    ScheduleHistory history() {
        return Objects.requireNonNull(history, "nothing was recorded");
    }

    private void record(Consumer<ScheduleHistory> what) {
        if (history != null) {
            what.accept(history);
        }
    }

    /** Returns the nodes that are left on the servers. */
    LeakChecker.Leftovers left() {
        List<ServerNode> nodes = new ArrayList<>();
        for (String path : Nodes.ephemerals(leader.tree())) {
            Tree.Node node = leader.tree().get(path);
            nodes.add(
                    new ServerNode(path, ByteBuffer.wrap(node.data), node.owner, node.czxid, node.mzxid, node.creates));
        }
        List<ServerNode.Watch> watches = new ArrayList<>();
        for (Client client : clients) {
            for (SimulatedStore.Watch watch : client.store().watches()) {
                ServerNode.Watch.Kind kind = watch.what() == SimulatedStore.WatchedPart.DATA
                        ? ServerNode.Watch.Kind.DATA
                        : ServerNode.Watch.Kind.CHILDREN;
                watches.add(
                        new ServerNode.Watch(watch.path(), kind, client.store().session()));
            }
        }
        return new LeakChecker.Leftovers(nodes, watches);
    }

    /** Returns the number of steps. */
    long steps() {
        return steps;
    }

    boolean isDone() {
        for (int i = 0; i < workers.size(); i++) {
            if (!workers.get(i).isDone()) {
                return false;
            }
        }
        return true;
    }

    // ---- steps

    /** Makes a step; returns whether it was possible. If not, nothing has changed. */
    boolean take(int step) {
        Move move = Move.move(step);
        int first = Move.first(step);
        if (!mayTake(step)) {
            return false;
        }
        if (++steps > MOST_STEPS) {
            throw new BrokenRuleError("all workers finish", MOST_STEPS + " steps led to none");
        }
        if (diary != null) {
            diary.add(describe(move, first, Move.second(step)));
        }
        if (costs(move, first)) {
            faults--;
        }
        if (move.isFault() || move == Move.HEAL || move == Move.GO_ON) {
            record(history -> history.fault(move.name()));
        }
        carryOut(move, first, Move.second(step));
        look(move, first);
        if (diary != null) {
            for (; written < leader.log().size(); written++) {
                diary.add("    " + leader.log().get(written));
            }
        }
        List<LoggedErrors.LoggedError> errors = LoggedErrors.ofThisThread();
        if (!errors.isEmpty()) {
            throw new BrokenRuleError(
                    "nothing unexpected in the machinery", errors.get(0).toString());
        }
        if (broken != null) {
            throw broken;
        }
        if (newHolder) {
            newHolder = false;
            oracle.checkExclusion();
            record(this::look);
        }
        return true;
    }

    /** All holders look at their leases. */
    private void look(ScheduleHistory history) {
        for (Worker worker : workers) {
            ZkLease lease = worker.lease();
            if (lease != null && !worker.client().isStill() && lease.isValid()) {
                history.looked(worker, lease);
            }
        }
    }

    /** At what the leader has written by that. */
    private void look(Move move, int client) {
        boolean byClient = move == Move.TAKE_REQUEST || move == Move.TAKE_GHOST || move == Move.CONNECT;
        if (byClient) {
            oracle.heardOf(store(client).session());
        }
        if (move == Move.TAKE_MESSAGE && spec.ends() != WorldSpec.Ends.BY_FORCE) {
            oracle.checkValidity(clients.get(client));
        }
        if (move == Move.CONNECT) {
            record(history -> history.connected(clients.get(client)));
        }
        if (!ownNodesRule.hasNews()) {
            return;
        }
        ownNodesRule.check(byClient ? store(client).session() : 0, txn -> {
            oracle.law().wrote(txn);
            oracle.checkLedgers(txn);
            boolean decreed = move == Move.END_SESSION;
            record(history -> history.wrote(txn, decreed ? ExpiryOrder.SERVER_FIRST : ExpiryOrder.PARTITION));
            if (txn.ended() != 0 && !decreed) {
                oracle.checkThatNoLeaseWasValidIn(txn.ended());
            }
        });
    }

    /** Returns whether the step is possible now. */
    boolean mayTake(int step) {
        Move move = Move.move(step);
        int first = Move.first(step);
        return (faults > 0 || !costs(move, first)) && isPossible(move, first, Move.second(step));
    }

    /** Once a client's answers are lost, its connection breaks, and its session may end, without another fault. */
    private boolean costs(Move move, int client) {
        boolean goesOn = (move == Move.BREAK || move == Move.END_SESSION) && isClient(client) && store(client).losing;
        return move.isFault() && !goesOn;
    }

    private boolean isPossible(Move move, int first, int second) {
        boolean decree = spec.ends().byDecree();
        return switch (move) {
            case TAKE_REQUEST -> isClient(first) && store(first).hasRequest();
            case TAKE_MESSAGE -> isClient(first) && store(first).hasMessage();
            case TAKE_GHOST -> isClient(first) && !store(first).ghosts.isEmpty();
            case APPLY -> isServer(first) && servers.get(first).lags();
            case CONNECT -> isClient(first) && isServer(second) && store(first).seeksConnection();
            case FIRE -> isClient(first) && clients.get(first).hasDue();
            case BEGIN -> isWorker(first) && workers.get(first).mayBegin();
            case RELEASE -> isWorker(first) && workers.get(first).mayRelease();
            case DOWNGRADE -> isWorker(first) && workers.get(first).mayDowngrade();
            case CANCEL -> isWorker(first) && workers.get(first).mayCancel() && cancels > 0;
            case CLOSE ->
                isClient(first)
                        && second < Client.GRACES.size()
                        && !clients.get(first).isStill()
                        && closes > 0;
            case PASS_TIME -> time.hasNext();
            case CALM, AGE -> true;
            case REAP -> !Nodes.deserted(leader.tree()).isEmpty();
            case HEAL -> isClient(first) && store(first).silent;
            case GO_ON -> isClient(first) && clients.get(first).isStill();
            case BREAK, CUT -> isClient(first) && store(first).isUp();
            case LOSE_ANSWERS -> isClient(first) && store(first).isUp() && !store(first).losing;
            case SILENCE -> isClient(first) && !store(first).silent;
            case STAND_STILL -> isClient(first) && !clients.get(first).isStill();
            case END_SESSION ->
                decree && isClient(first) && leader.hasSession(store(first).session());
            case DELETE -> decree && !Nodes.ephemerals(leader.tree()).isEmpty();
            case RESIZE -> decree && !oracle.law().semaphores().isEmpty();
        };
    }

    private void carryOut(Move move, int first, int second) {
        switch (move) {
            case TAKE_REQUEST -> {
                do {
                    store(first).takeRequest();
                } while (second == Move.ALL_AT_ONCE && store(first).hasRequest());
            }
            case TAKE_MESSAGE -> store(first).takeMessage();
            case TAKE_GHOST -> {
                coverage.count(Situation.LATE_WRITE);
                store(first).ghosts.remove().commit();
            }
            case APPLY -> servers.get(first).applyNext();
            case CONNECT -> store(first).connect(servers.get(second));
            case FIRE -> clients.get(first).runDue();
            case BEGIN -> workers.get(first).begin();
            case RELEASE -> workers.get(first).release();
            case DOWNGRADE -> workers.get(first).downgrade();
            case CANCEL -> {
                cancels--;
                coverage.count(Situation.CANCELLED);
                workers.get(first).cancel();
            }
            case CLOSE -> {
                closes--;
                close(clients.get(first), Client.GRACES.get(second));
            }
            case PASS_TIME -> time.runNext();
            case CALM -> {
                settle();
                oracle.checkThatNoWaiterIsForgotten();
            }
            case AGE -> {
                settle();
                long end = time.nanos() + first * Client.SESSION.toNanos();
                while (time.hasNext() && time.nextAt() <= end) {
                    take(Move.PASS_TIME.of(0));
                    settle();
                }
            }
            case REAP -> {
                coverage.count(Situation.PATH_REAPED);
                String path = Nodes.deserted(leader.tree()).get(0);
                record(history -> history.reaped(path, oracle.law().room(path)));
                leader.delete(path);
            }
            case HEAL -> store(first).heal();
            case GO_ON -> clients.get(first).goOn();
            case BREAK -> store(first).breakOff();
            case CUT -> store(first).cut();
            case LOSE_ANSWERS -> store(first).losing = true;
            case SILENCE -> store(first).silence();
            case STAND_STILL -> {
                coverage.count(Situation.STOOD_STILL);
                clients.get(first).standStill();
            }
            case END_SESSION -> endSession(clients.get(first));
            case DELETE -> {
                List<String> nodes = Nodes.ephemerals(leader.tree());
                coverage.count(Situation.OWN_NODE_DELETED);
                record(ScheduleHistory::nodeDeleted);
                tampered = true;
                leader.delete(nodes.get(first % nodes.size()));
            }
            case RESIZE -> resize(first, second);
        }
    }

    private void resize(int which, int to) {
        coverage.count(Situation.RESIZED);
        NavigableMap<String, SemaphoreState> semaphores =
                new TreeMap<>(oracle.law().semaphores());
        String path = List.copyOf(semaphores.keySet()).get(which % semaphores.size());
        SemaphoreState now = semaphores.get(path);
        SemaphoreState resized = now.resized(1 + to % (now.declared() + 3));
        record(history -> history.resized(path, resized));
        leader.commit(List.of(new Tree.Effect.DataSet(path, resized.data())), 0);
    }

    private void close(Client client, Duration grace) {
        boolean holds = client.workers().stream().anyMatch(Worker::hasValidLease);
        if (holds && !grace.isZero()) {
            coverage.count(Situation.CLOSED_WITH_HOLDERS);
        }
        client.close(grace);
        oracle.checkClose(client, grace);
    }

    private void endSession(Client client) {
        for (String node : leader.tree().ephemeralsOf(client.store().session())) {
            if (oracle.law().mayHold(node)) {
                coverage.count(Situation.DIED_AT_ITS_TURN);
            }
        }
        leader.closeSession(client.store().session());
    }

    private SimulatedStore store(int client) {
        return clients.get(client).store();
    }

    private boolean isClient(int index) {
        return index < clients.size();
    }

    private boolean isServer(int index) {
        return index < servers.size();
    }

    private boolean isWorker(int index) {
        return index < workers.size();
    }

    // ---- reports of workers

    void granted(Worker worker, ZkLease lease) {
        newHolder = true;
        coverage.count(Situation.GRANTED);
        if (worker.client().isClosing()) {
            broke(new BrokenRuleError("a client that closes is granted nothing", worker + " got " + lease));
        }
        if (workers.stream().anyMatch(other -> other != worker && other.isAtNodesOf(lease))) {
            coverage.count(Situation.SHARED_NODE);
        }
        if (oracle.isTurn(lease)) {
            coverage.count(Situation.LOCAL_TURN);
        }
        boolean byAWriter = lease.nodePaths().get(0).contains("/write-");
        if (worker.wishes().get(0).sort() == RequestNode.Sort.READ && byAWriter) {
            coverage.count(Situation.READ_BY_A_WRITERS_NODE);
        }
        if (lease.store() instanceof SimulatedStore store && !leader.hasSession(store.session())) {
            coverage.count(Situation.ZOMBIE_GRANT);
        }
        try {
            oracle.checkGrant(worker, lease);
        } catch (BrokenRuleError found) {
            broke(found);
        }
        record(history -> history.granted(worker, lease));
        note(() -> worker.name() + " holds " + lease);
    }

    /** Records that the current step breaks a rule. */
    void broke(BrokenRuleError found) {
        if (broken == null) {
            broken = found;
        }
    }

    void requested(Worker worker) {
        record(history -> history.requested(worker));
    }

    void gotNothing(Worker worker, String why) {
        record(history -> history.gotNothing(worker, why));
    }

    /** Returns a time for {@link #downgraded}. */
    long now() {
        return history == null ? time.nanos() : history.now();
    }

    /** Returns the consumer of the release's outcome. */
    Consumer<ReleaseOutcome> releasing(Worker worker, ZkLease lease) {
        boolean valid = lease.isValid();
        if (valid && workers.stream().noneMatch(other -> other != worker && other.isAtNodesOf(lease))) {
            oracle.law().releases(lease.nodePaths());
        }
        note(() -> worker.name() + " releases " + lease);
        Consumer<ReleaseOutcome> told = history == null ? outcome -> {} : history.releasing(worker, lease);
        boolean inGrace = worker.client().isClosing() && !worker.client().isPastGrace();
        return told.andThen(outcome -> {
            if (inGrace && outcome == ReleaseOutcome.RELEASED) {
                coverage.count(Situation.RELEASED_IN_GRACE);
            }
            if (valid && outcome == ReleaseOutcome.LOST) {
                checkDeletion(worker, lease);
            }
        });
    }

    /** A node of a live session is gone only if an operator has deleted it. */
    private void checkDeletion(Worker worker, ZkLease lease) {
        boolean alive = lease.store() instanceof SimulatedStore store && leader.hasSession(store.session());
        if (alive && !tampered) {
            broke(new BrokenRuleError("a lease is lost for a cause", worker.name() + " without its nodes: " + lease));
        }
    }

    void downgraded(Worker worker, ZkLease write, ZkLease read, long since) {
        newHolder = true;
        record(history -> history.downgraded(worker, read, since));
        coverage.count(Situation.DOWNGRADED);
        try {
            oracle.checkDowngrade(worker, write, read);
        } catch (BrokenRuleError found) {
            broke(found);
        }
    }

    void lost(Worker worker, ZkLease lease, LossCause cause) {
        record(history -> history.lost(worker, lease, cause));
        oracle.lost(lease);
        coverage.count(Situation.LOST_WHILE_HELD);
        if (cause == LossCause.NODE_DELETED) {
            checkDeletion(worker, lease);
        }
        if (cause == LossCause.DEADLINE_PASSED) {
            coverage.count(Situation.LOST_BY_DEADLINE);
        }
        if (cause == LossCause.HELD_TOO_LONG) {
            coverage.count(Situation.LOST_BY_LIMIT);
        }
        if (cause == LossCause.CLIENT_CLOSED) {
            coverage.count(Situation.LOST_BY_CLOSE);
            if (!worker.client().isPastGrace()) {
                broke(new BrokenRuleError("holders have the whole grace", worker + " lost " + lease));
            }
        }
        note(() -> worker.name() + " lost " + lease + ": " + cause);
    }

    void note(Supplier<String> what) {
        if (diary != null) {
            diary.add("  " + what.get());
        }
    }

    private static Object nextContent(SimulatedStore store) {
        SimulatedStore.Message next = store.peekMessage();
        return next == null ? "" : next.content();
    }

    private String describe(Move move, int first, int second) {
        return switch (move) {
            case TAKE_REQUEST ->
                "C" + first + "'s server takes " + store(first).outgoing.peek();
            case TAKE_MESSAGE -> "C" + first + " takes " + nextContent(store(first));
            case TAKE_GHOST -> "a server takes a late request of C" + first;
            case APPLY -> "S" + first + " applies";
            case CONNECT -> "C" + first + " tries S" + second;
            case FIRE -> "C" + first + "'s timer runs";
            case BEGIN -> workers.get(first).name() + " asks";
            case RELEASE -> workers.get(first).name() + " releases";
            case DOWNGRADE -> workers.get(first).name() + " downgrades";
            case CANCEL -> workers.get(first).name() + " cancels";
            case CLOSE -> "C" + first + " closes with a grace of " + Client.GRACES.get(second);
            case PASS_TIME -> (time.nextAt() - time.nanos()) / 1_000_000 + " ms pass";
            case CALM -> "-- calm";
            case AGE -> first + " session time-outs pass";
            case REAP -> "the leader reaps " + Nodes.deserted(leader.tree()).get(0);
            case HEAL -> "C" + first + "'s network is restored";
            case GO_ON -> "C" + first + " goes on";
            case BREAK, CUT -> "C" + first + "'s connection breaks";
            case LOSE_ANSWERS -> "messages to C" + first + " are lost";
            case SILENCE -> "C" + first + "'s network drops everything";
            case STAND_STILL -> "C" + first + " stands still";
            case END_SESSION -> "C" + first + "'s session is ended";
            case DELETE -> "an operator deletes a node";
            case RESIZE -> "an operator resizes a semaphore";
        };
    }

    // ---- without choices

    /** Lets all messages in transit arrive; no worker acts, and time stands still. */
    void settle() {
        int next = nextOfItsOwn();
        while (next >= 0) {
            if (!take(next)) {
                throw new IllegalStateException("not possible: " + Move.move(next));
            }
            next = nextOfItsOwn();
        }
    }

    private int nextOfItsOwn() {
        for (int i = 0; i < servers.size(); i++) {
            if (servers.get(i).lags()) {
                return Move.APPLY.of(i);
            }
        }
        for (int i = 0; i < clients.size(); i++) {
            SimulatedStore store = store(i);
            if (store.losing) {
                return Move.BREAK.of(i);
            } else if (store.hasMessage()) {
                return Move.TAKE_MESSAGE.of(i);
            } else if (store.hasRequest()) {
                return Move.TAKE_REQUEST.of(i);
            } else if (!store.ghosts.isEmpty()) {
                return Move.TAKE_GHOST.of(i);
            } else if (store.seeksConnection()) {
                return Move.CONNECT.of(i, i % servers.size());
            } else if (clients.get(i).hasDue()) {
                return Move.FIRE.of(i);
            }
        }
        return -1;
    }

    private int nextOfWorkers() {
        for (int i = 0; i < workers.size(); i++) {
            if (workers.get(i).mayRelease()) {
                return Move.RELEASE.of(i);
            } else if (workers.get(i).mayBegin()) {
                return Move.BEGIN.of(i);
            }
        }
        return -1;
    }

    /** Heals all faults: all workers finish their tasks, and time passes only when nothing else can happen. */
    void finish() {
        note(() -> "-- no more faults");
        faults = 0;
        record(ScheduleHistory::heals);
        for (Client client : clients) {
            client.store().heal();
            if (client.isStill()) {
                client.goOn();
            }
        }
        settle();
        oracle.checkThatNoWaiterIsForgotten();
        long end = time.nanos() + PATIENCE.toNanos();
        while (true) {
            int next = nextOfWorkers();
            if (next >= 0) {
                take(next);
                settle();
            } else if (isDone() && Nodes.ephemerals(leader.tree()).isEmpty() && noneIsClosing()) {
                break;
            } else if (!time.hasNext() || time.nextAt() > end) {
                throw new BrokenRuleError(
                        "all workers finish, and clients that close are closed",
                        workers + ", nodes " + Nodes.ephemerals(leader.tree()));
            } else {
                take(Move.PASS_TIME.of(0));
                settle();
            }
        }
        clients.forEach(client -> client.hostile().ifPresent(HostileCode::end));
        settle();
        // Requests from callbacks are no worker's. One may wait for a moment to list, or for the end of its time.
        while (clients.stream().anyMatch(client -> client.observer().isAnyOpen())
                && time.hasNext()
                && time.nextAt() <= end) {
            take(Move.PASS_TIME.of(0));
            settle();
        }
        oracle.checkThatNothingIsLeft();
        clients.forEach(client -> client.observer().checkThatAllHaveEnded());
        if (broken != null) {
            throw broken;
        }
        if (spec.start() == WorldSpec.Start.WORN_OUT) {
            leader.tree().forEach((path, node) -> {
                if (node.creates > 0 && node.creates < OracleRules.WORN_OUT - FEW) {
                    coverage.count(Situation.PATH_CREATED_AGAIN);
                }
            });
        }
        coverage.add(leader.counters());
    }

    private boolean noneIsClosing() {
        return clients.stream().allMatch(client -> !client.isClosing() || client.isClosed());
    }
}
