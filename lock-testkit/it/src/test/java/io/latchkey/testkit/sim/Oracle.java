// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.ZkLease;
import io.latchkey.zk.internal.session.AwaitedProof;
import io.latchkey.zk.internal.store.SessionNodes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The rules that every state must obey, judged by the leader's tree with an implementation of its own, see {@link
 * OracleRules}.
 */
final class Oracle {
    private static final String EXCLUSION = "holders do not exclude each other";
    private static final String NEIGHBOURS = "a client has no two valid leases that exclude each other";
    private static final String BELIEF = "believed-valid intervals do not overlap";
    private static final String SLEEP = "a waiter that may hold is granted";
    private static final String OWN_NODE = "a waiter without a node queues again";
    private static final String TOKENS = "tokens grow";
    private static final String VALID_AT_FIRST = "a lease is valid when it is granted";
    private static final String OWN_TOKEN = "the token is the number of the transaction that made the nodes";
    private static final String OWN_NODES = "a lease has the nodes that were asked for";
    private static final String TURN = "no request is granted before its turn";
    private static final String OUTLIVED = "a valid lease has a live session";
    private static final String LOSS = "a loss is reported";
    private static final String BOUND = "local turns have a bound";
    private static final String CLEAN = "only a clean release passes a node on";
    private static final String BODY = "a body is interrupted before the next grant";
    private static final String GRACE = "a client that closes has no waiters, and no leases after the grace";
    private static final String CLOSED = "a client is closed when its holders have released";
    private static final String LEFT = "nothing is left";
    private static final String UNCOUNTED = "a client counts a node before it exists";
    private static final String STILL_COUNTED = "a client does not count a node that is gone";

    private final Leader leader;
    private final WorldSpec spec;
    private final List<Client> clients;
    private final List<Worker> workers;
    private final OracleRules law;
    /** By path, the highest token granted, and the highest exclusive one. */
    private final Map<String, long[]> tokens = new HashMap<>();

    /** By node. */
    private final Map<String, Turns> turns = new HashMap<>();
    /** The nodes of leases that were lost. */
    private final Set<String> lostByNode = new HashSet<>();

    /** How many leases there were by one node, and when the first of them began. */
    private record Turns(int count, long since, Client client) {
        Turns plusOne() {
            return new Turns(count + 1, since, client);
        }
    }

    /** The time at which a server last heard from each session. */
    private final Map<Long, Long> heard = new HashMap<>();

    Oracle(Leader leader, WorldSpec spec, List<Client> clients, List<Worker> workers) {
        this.leader = leader;
        this.spec = spec;
        this.clients = clients;
        this.workers = workers;
        this.law = new OracleRules(leader.tree());
    }

    OracleRules law() {
        return law;
    }

    // ---- holds

    /** Called after each grant: only then can two holders begin to exclude each other. */
    void checkExclusion() {
        for (int i = 0; i < workers.size(); i++) {
            Worker one = workers.get(i);
            if (one.lease() != null && counts(one)) {
                for (TaskTarget wish : one.wishes()) {
                    check(wish, one, i);
                }
                checkBodies(one);
            }
            checkNeighbours(one);
        }
    }

    /** A former holder whose process runs has been interrupted by now, if its session ended by time. */
    private void checkBodies(Worker holder) {
        if (spec.closes() == 0 || spec.ends() != WorldSpec.Ends.BY_TIME) {
            return;
        }
        for (Worker other : workers) {
            ZkLease lease = other.lease();
            boolean ran = other != holder
                    && lease != null
                    && !other.client().isStill()
                    && !other.client().hasDue();
            if (ran && exclude(holder, other) && !lease.isValid() && other.runsOn()) {
                throw new BrokenRuleError(BODY, other + " beside " + holder);
            }
        }
    }

    /** Called when a client has begun to close. */
    void checkClose(Client client, Duration grace) {
        for (Worker worker : client.workers()) {
            if (worker.waits() || (grace.isZero() && worker.hasValidLease())) {
                throw new BrokenRuleError(GRACE, worker.toString());
            }
        }
    }

    private void checkClosing(Client client) {
        if (client.isPastGrace() && client.workers().stream().anyMatch(Worker::hasValidLease)) {
            throw new BrokenRuleError(GRACE, client.workers().toString());
        }
        if (reaches(client) && client.workers().stream().noneMatch(worker -> worker.lease() != null)) {
            throw new BrokenRuleError(CLOSED, client.toString());
        }
    }

    /** Even if operators delete nodes, a client knows of its own leases when it grants another one. */
    private static void checkNeighbours(Worker one) {
        ZkLease lease = one.lease();
        if (lease == null || one.client().workers().size() == 1 || !lease.isValid()) {
            return;
        }
        for (Worker other : one.client().workers()) {
            ZkLease its = other.lease();
            if (other != one && its != null && its.isValid() && exclude(one, other)) {
                throw new BrokenRuleError(NEIGHBOURS, one + " and " + other);
            }
        }
    }

    private static boolean exclude(Worker one, Worker other) {
        for (TaskTarget wish : one.wishes()) {
            for (TaskTarget its : other.wishes()) {
                if (its.path().equals(wish.path())
                        && wish.sort() != RequestNode.Sort.PERMITS
                        && !(reads(one, wish) && reads(other, its))) {
                    return true;
                }
            }
        }
        return false;
    }

    private void check(TaskTarget wish, Worker one, int index) {
        long permits = wish.permits();
        boolean alone = true;
        for (int j = 0; j < workers.size(); j++) {
            Worker other = workers.get(j);
            if (j != index && other.lease() != null && other.isAt(wish.path()) && counts(other)) {
                alone = false;
                for (TaskTarget its : other.wishes()) {
                    if (its.path().equals(wish.path())) {
                        permits += its.permits();
                        if (j > index
                                && wish.sort() != RequestNode.Sort.PERMITS
                                && !(reads(one, wish) && reads(other, its))) {
                            throw broken(one + " and " + other);
                        }
                    }
                }
            }
        }
        if (!alone && wish.sort() == RequestNode.Sort.PERMITS) {
            int most = law.room(wish.path()).most();
            if (permits > most) {
                throw broken(permits + " permits of " + most + " at " + wish.path());
            }
        }
    }

    private BrokenRuleError broken(String how) {
        return new BrokenRuleError(spec.ends() == WorldSpec.Ends.BY_TIME ? BELIEF : EXCLUSION, how);
    }

    /** A holder that is downgrading counts as a reader. */
    private static boolean reads(Worker worker, TaskTarget wish) {
        return wish.sort() == RequestNode.Sort.READ || worker.isDowngrading();
    }

    /**
     * Returns whether the lease counts. If sessions end by timeout only, a lease counts while its owner finds it valid.
     * Otherwise it also needs a live session and existing nodes, because no client can know at once of a forced expiry
     * or of a node that an operator has deleted.
     */
    private boolean counts(Worker worker) {
        ZkLease lease = worker.lease();
        if (lease == null || !lease.isValid()) {
            return false;
        }
        return spec.ends() == WorldSpec.Ends.BY_TIME || stands(worker, lease);
    }

    /** Returns whether its session is alive and its nodes exist. */
    private boolean stands(Worker worker, ZkLease lease) {
        if (!(lease.store() instanceof SimulatedStore store) || !leader.hasSession(store.session())) {
            return false;
        }
        for (String node : lease.nodePaths()) {
            boolean replaced = worker.isDowngrading() && leader.tree().has(node.replace("/write-", "/read-"));
            if (!leader.tree().has(node) && !replaced) {
                return false;
            }
        }
        return true;
    }

    /** Checks a lease at its grant. */
    void checkGrant(Worker worker, ZkLease lease) {
        if (!lease.isValid()) {
            throw new BrokenRuleError(VALID_AT_FIRST, worker + " got " + lease);
        }
        checkTurn(worker, lease);
        law.grants(lease.nodePaths());
        if (stands(worker, lease)) {
            checkNodes(worker, lease);
            checkToken(worker, lease);
        }
    }

    /**
     * Checks that other clients wait for so many turns of a node at most, or for so long, and that no turn follows the
     * loss of one.
     */
    private void checkTurn(Worker worker, ZkLease lease) {
        for (String node : lease.nodePaths()) {
            long now = worker.client().time().nanos();
            Turns former = turns.get(node);
            Turns next = former == null ? new Turns(1, now, worker.client()) : former.plusOne();
            boolean late = now - next.since() > WorldSpec.LONGEST.toNanos();
            if (former != null && (next.count() > spec.turns() || late || next.client() != worker.client())) {
                throw new BrokenRuleError(BOUND, worker + " by " + node + ", " + next);
            }
            if (lostByNode.contains(node)) {
                throw new BrokenRuleError(CLEAN, worker + " by " + node);
            }
            turns.put(node, next);
        }
    }

    /** Returns whether its node has been granted before. */
    boolean isTurn(ZkLease lease) {
        return turns.containsKey(lease.nodePaths().get(0));
    }

    /** Records a loss: no other lease is granted by its nodes. */
    void lost(ZkLease lease) {
        lostByNode.addAll(lease.nodePaths());
    }

    /** Checks a lease that a downgrade returned: it has the writer's place and token. */
    void checkDowngrade(Worker worker, ZkLease write, ZkLease read) {
        if (read.token() != write.token()) {
            throw new BrokenRuleError(OWN_TOKEN, worker + ", token " + read.token() + " after " + write.token());
        }
        if (stands(worker, read)) {
            checkNodes(worker, read);
            RequestNode before = RequestNode.of(write.nodePaths().get(0));
            if (RequestNode.of(read.nodePaths().get(0)).number() != before.number()) {
                throw new BrokenRuleError(OWN_NODES, worker + ", " + read.nodePaths() + " after " + write.nodePaths());
            }
        }
    }

    /** With local turns, a request may be granted and released without a worker that waits for it. */
    private boolean nobodyHolds(String node) {
        for (Worker worker : workers) {
            ZkLease lease = worker.lease();
            if (lease != null && lease.nodePaths().contains(node)) {
                return false;
            }
        }
        return true;
    }

    /** Checks that it has a node for each of its targets, and that each may be granted by the leader's tree. */
    private void checkNodes(Worker worker, ZkLease lease) {
        List<String> nodes = lease.nodePaths();
        List<TaskTarget> wishes = worker.wishes();
        if (nodes.size() != wishes.size()) {
            throw new BrokenRuleError(OWN_NODES, worker + ": " + nodes);
        }
        for (int i = 0; i < nodes.size(); i++) {
            String node = nodes.get(i);
            boolean asked = Tree.parent(node).equals(wishes.get(i).path())
                    && wishes.get(i).isGrantedBy(RequestNode.of(node), spec.turns() > 0);
            if (!asked) {
                throw new BrokenRuleError(OWN_NODES, worker + ": " + nodes);
            }
            if (!law.mayBeGranted(node, before -> spec.turns() > 0 && nobodyHolds(before))) {
                throw new BrokenRuleError(TURN, worker + " before its turn: " + Nodes.ephemerals(leader.tree()));
            }
        }
    }

    /**
     * Checks that tokens grow over grants to live sessions: an exclusive token is above all earlier ones, a shared
     * token above earlier exclusive ones.
     */
    private void checkToken(Worker worker, ZkLease lease) {
        for (String node : lease.nodePaths()) {
            if (leader.tree().get(node).czxid != lease.token()) {
                throw new BrokenRuleError(OWN_TOKEN, worker + ", token " + lease.token() + " of " + node);
            }
        }
        for (TaskTarget wish : worker.wishes()) {
            if (wish.sort() == RequestNode.Sort.PERMITS) {
                continue;
            }
            long[] highest = tokens.computeIfAbsent(wish.path(), path -> new long[2]);
            boolean excludes = wish.sort() == RequestNode.Sort.WRITE;
            boolean turn = turns.get(lease.nodePaths().get(0)).count() > 1;
            if (lease.token() <= highest[excludes ? 0 : 1] && !(turn && lease.token() == highest[0])) {
                throw new BrokenRuleError(TOKENS, worker + " after " + highest[0]);
            }
            highest[0] = Math.max(highest[0], lease.token());
            if (excludes) {
                highest[1] = lease.token();
            }
        }
    }

    /** Called when a session has expired at the leader: its leases must have become invalid before. */
    void checkThatNoLeaseWasValidIn(long session) {
        for (Worker worker : workers) {
            ZkLease lease = worker.lease();
            if (lease != null
                    && lease.store() instanceof SimulatedStore store
                    && store.session() == session
                    && lease.isValid()) {
                throw new BrokenRuleError(OUTLIVED, worker + " in session " + session);
            }
        }
    }

    /** Records that a server has just heard from the session's client. */
    void heardOf(long session) {
        heard.put(session, leader.time().nanos());
    }

    /**
     * Called when the client has received a message: no lease may be valid for longer than a session timeout after a
     * server last heard from the client.
     */
    void checkValidity(Client client) {
        for (Worker worker : client.workers()) {
            ZkLease lease = worker.lease();
            if (lease != null && lease.store() instanceof SimulatedStore store) {
                long until = leader.time().nanos() + lease.remaining().toNanos();
                if (until > heard.getOrDefault(store.session(), 0L) + Client.SESSION.toNanos() && lease.isValid()) {
                    throw new BrokenRuleError(OUTLIVED, worker + " until " + until / 1_000_000 + " ms");
                }
            }
        }
    }

    // ---- waiting

    /** Called when no message is in transit, before time passes and a heartbeat could make up for a missed watch. */
    void checkThatNoWaiterIsForgotten() {
        for (Client client : clients) {
            if (client.isClosing() && !client.isStill()) {
                checkClosing(client);
            }
        }
        for (Worker worker : workers) {
            checkThatLapseIsReported(worker);
            SimulatedStore store = worker.client().store();
            if (!reaches(worker.client()) || !leader.hasSession(store.session())) {
                continue;
            }
            if (worker.waits()) {
                check(worker, store);
            } else if (worker.lease() != null) {
                checkThatLossIsReported(worker, worker.lease());
            }
        }
    }

    /** Returns whether messages of a server reach the client, and its process runs. */
    private static boolean reaches(Client client) {
        return client.store().isUp() && !client.store().silent && !client.isStill();
    }

    /**
     * The client reports the loss when the deadline passes, whether connected or not, and without a look at the lease.
     */
    private static void checkThatLapseIsReported(Worker worker) {
        ZkLease lease = worker.lease();
        boolean told = worker.knowsOfLoss() || worker.client().isStill();
        if (lease != null && !told && !lease.isValid()) {
            throw new BrokenRuleError(LOSS, worker.toString());
        }
    }

    /** The client has a new session, so it knows the loss of a lease of an earlier one without a look at it. */
    private void checkThatLossIsReported(Worker worker, ZkLease lease) {
        if (lease.store() instanceof SimulatedStore store
                && !leader.hasSession(store.session())
                && (!worker.knowsOfLoss() || lease.isValid())) {
            throw new BrokenRuleError(LOSS, worker.toString());
        }
    }

    /** Several nodes of one client at a path cannot be attributed to its workers. */
    private void check(Worker worker, SimulatedStore store) {
        // After slow responses, it may take several heartbeats to prove that the session is alive; these also check the
        // nodes.
        boolean awaitsProof = AwaitedProof.isAwaitedBy(worker.client().engine());
        boolean mayHold = true;
        for (TaskTarget wish : worker.wishes()) {
            List<String> nodes = nodesOf(store, wish.path());
            if (!isOnlyOneOfItsClientAt(worker, wish.path()) || nodes.size() > 1) {
                mayHold = false;
            } else if (nodes.isEmpty()) {
                mayHold = false;
                // A request that steps back at the end of the counter has no node until the path is empty and created
                // again.
                if (!awaitsProof
                        && !law.isWornOut(wish.path())
                        && worker.task().members().get(0).recipe().equals(Recipe.MUTEX)
                        && worker.wishes().size() == 1) {
                    throw new BrokenRuleError(OWN_NODE, worker.toString());
                }
            } else {
                mayHold &= law.mayHold(nodes.get(0)) && allOwnersRespond(wish.path());
            }
        }
        if (mayHold && !awaitsProof) {
            throw new BrokenRuleError(SLEEP, worker + " of " + Nodes.ephemerals(leader.tree()));
        }
    }

    /**
     * Returns whether every node belongs to a client that can be reached and does not wait for a proof of its session.
     * In the chain of a semaphore, the request ahead notifies the next, and may itself have to wait for a heartbeat.
     */
    private boolean allOwnersRespond(String path) {
        for (String child : leader.tree().get(path).children()) {
            long owner = leader.tree().get(path + '/' + child).owner;
            boolean reached = false;
            for (Client client : clients) {
                reached |= client.store().session() == owner
                        && reaches(client)
                        && !AwaitedProof.isAwaitedBy(client.engine());
            }
            if (!reached) {
                return false;
            }
        }
        return true;
    }

    private boolean isOnlyOneOfItsClientAt(Worker worker, String path) {
        for (Worker other : worker.client().workers()) {
            if (other != worker && other.isAt(path)) {
                return false;
            }
        }
        return true;
    }

    private List<String> nodesOf(SimulatedStore store, String path) {
        List<String> found = new ArrayList<>(2);
        for (String node : leader.tree().ephemeralsOf(store.session())) {
            if (Tree.parent(node).equals(path)) {
                found.add(node);
            }
        }
        return found;
    }

    // ---- the end

    /** Called after a transaction: the client whose session has created a node counted it before. */
    void checkLedgers(Tree.Txn txn) {
        for (Tree.Effect change : txn.changes()) {
            if (change instanceof Tree.Effect.Created created && created.owner() > Tree.NO_OWNER) {
                for (Client client : clients) {
                    if (client.store().session() == created.owner() && !counts(client.nodes(), created.path())) {
                        throw new BrokenRuleError(UNCOUNTED, created + " of " + client);
                    }
                }
            }
        }
    }

    private static boolean counts(SessionNodes nodes, String path) {
        return nodes.known().contains(path) || nodes.open().stream().anyMatch(path::startsWith);
    }

    /** Checks that no nodes and watches are left after all workers have finished. */
    void checkThatNothingIsLeft() {
        for (Client client : clients) {
            // A client that has closed learns of no more.
            boolean learns =
                    !client.isClosing() && leader.hasSession(client.store().session());
            if (learns && !client.nodes().known().isEmpty()) {
                throw new BrokenRuleError(
                        STILL_COUNTED, client + " " + client.nodes().known());
            }
        }
        if (!Nodes.ephemerals(leader.tree()).isEmpty()) {
            throw new BrokenRuleError(LEFT, "nodes " + Nodes.ephemerals(leader.tree()));
        }
        for (Client client : clients) {
            if (!client.store().watches().isEmpty()) {
                throw new BrokenRuleError(
                        LEFT, client + "'s watches " + client.store().watches());
            }
        }
    }
}
