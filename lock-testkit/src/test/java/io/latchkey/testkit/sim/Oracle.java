// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.ZkLease;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What must be true, judged by the leader's tree, which it reads by itself, see {@link Law}. */
final class Oracle {
    private static final String EXCLUSION = "nobody holds beside whom it excludes";
    private static final String NEIGHBOURS = "a client believes in no two leases that exclude each other";
    private static final String BELIEF = "believed-valid intervals do not overlap";
    private static final String SLEEP = "nobody sleeps who may hold";
    private static final String OWN_NODE = "nobody sleeps whose own node is gone";
    private static final String TOKENS = "tokens grow";
    private static final String VALID_AT_FIRST = "a lease is valid when it is granted";
    private static final String OWN_TOKEN = "the token is the number of the transaction that made the nodes";
    private static final String OWN_NODES = "a lease has the nodes that were asked for";
    private static final String TURN = "nobody is granted before its turn";
    private static final String OUTLIVED = "a valid lease has a session that lives";
    private static final String LOSS = "loss is told";
    private static final String LEFT = "nothing is left";

    private final Leader leader;
    private final Scenario scenario;
    private final List<Client> clients;
    private final List<Worker> workers;
    private final Law law;
    /** By path, the highest token granted, and the highest granted to somebody that excludes others. */
    private final Map<String, long[]> tokens = new HashMap<>();

    /** When a server heard of each session last. */
    private final Map<Long, Long> heard = new HashMap<>();

    Oracle(Leader leader, Scenario scenario, List<Client> clients, List<Worker> workers) {
        this.leader = leader;
        this.scenario = scenario;
        this.clients = clients;
        this.workers = workers;
        this.law = new Law(leader.tree());
    }

    Law law() {
        return law;
    }

    // ---- holds

    /** To be asked when somebody has come to hold: two that exclude each other can only begin then. */
    void checkExclusion() {
        for (int i = 0; i < workers.size(); i++) {
            Worker one = workers.get(i);
            if (one.lease() != null && counts(one)) {
                for (Wish wish : one.wishes()) {
                    check(wish, one, i);
                }
            }
            checkNeighbours(one);
        }
    }

    /** Whatever operators delete, a client that grants the one knows of the other. */
    private static void checkNeighbours(Worker one) {
        ZkLease lease = one.lease();
        if (lease == null || one.client().workers().size() == 1 || !lease.isValid()) {
            return;
        }
        for (Worker other : one.client().workers()) {
            ZkLease its = other.lease();
            if (other != one && its != null && its.isValid() && exclude(one, other)) {
                throw new Broken(NEIGHBOURS, one + " and " + other);
            }
        }
    }

    private static boolean exclude(Worker one, Worker other) {
        for (Wish wish : one.wishes()) {
            for (Wish its : other.wishes()) {
                if (its.path().equals(wish.path())
                        && wish.sort() != Ticket.Sort.PERMITS
                        && !(reads(one, wish) && reads(other, its))) {
                    return true;
                }
            }
        }
        return false;
    }

    private void check(Wish wish, Worker one, int index) {
        long permits = wish.permits();
        boolean alone = true;
        for (int j = 0; j < workers.size(); j++) {
            Worker other = workers.get(j);
            if (j != index && other.lease() != null && other.isAt(wish.path()) && counts(other)) {
                alone = false;
                for (Wish its : other.wishes()) {
                    if (its.path().equals(wish.path())) {
                        permits += its.permits();
                        if (j > index
                                && wish.sort() != Ticket.Sort.PERMITS
                                && !(reads(one, wish) && reads(other, its))) {
                            throw broken(one + " and " + other);
                        }
                    }
                }
            }
        }
        if (!alone && wish.sort() == Ticket.Sort.PERMITS) {
            int most = law.room(wish.path()).most();
            if (permits > most) {
                throw broken(permits + " permits of " + most + " at " + wish.path());
            }
        }
    }

    private Broken broken(String how) {
        return new Broken(scenario.ends() == Scenario.Ends.BY_TIME ? BELIEF : EXCLUSION, how);
    }

    /** Who downgrades must be content with reading from then on. */
    private static boolean reads(Worker worker, Wish wish) {
        return wish.sort() == Ticket.Sort.READ || worker.isDowngrading();
    }

    /**
     * Where sessions end by time alone a lease counts when its owner believes in it. Else only with a session that
     * lives and nodes that are there: of a decree, or of a node that an operator deleted, no client can know at once.
     */
    private boolean counts(Worker worker) {
        ZkLease lease = worker.lease();
        if (lease == null || !lease.isValid()) {
            return false;
        }
        return scenario.ends() == Scenario.Ends.BY_TIME || stands(worker, lease);
    }

    /** Whether its session lives and its nodes are there. */
    private boolean stands(Worker worker, ZkLease lease) {
        if (!(lease.port() instanceof SimulatedPort port) || !leader.hasSession(port.session())) {
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

    /** What must be true of a lease when it is granted. */
    void checkGrant(Worker worker, ZkLease lease) {
        if (!lease.isValid()) {
            throw new Broken(VALID_AT_FIRST, worker + " got " + lease);
        }
        if (stands(worker, lease)) {
            checkNodes(worker, lease);
            checkToken(worker, lease);
        }
    }

    /** What must be true of a lease that a downgrade gave: it has the writer's place and token. */
    void checkDowngrade(Worker worker, ZkLease write, ZkLease read) {
        if (read.token() != write.token()) {
            throw new Broken(OWN_TOKEN, worker + ", token " + read.token() + " after " + write.token());
        }
        if (stands(worker, read)) {
            checkNodes(worker, read);
            Ticket before = Ticket.of(write.nodePaths().get(0));
            if (Ticket.of(read.nodePaths().get(0)).number() != before.number()) {
                throw new Broken(OWN_NODES, worker + ", " + read.nodePaths() + " after " + write.nodePaths());
            }
        }
    }

    /** It has a node for each of its wishes, and by the leader's tree it is the turn of each. */
    private void checkNodes(Worker worker, ZkLease lease) {
        List<String> nodes = lease.nodePaths();
        List<Wish> wishes = worker.wishes();
        if (nodes.size() != wishes.size()) {
            throw new Broken(OWN_NODES, worker + ": " + nodes);
        }
        for (int i = 0; i < nodes.size(); i++) {
            String node = nodes.get(i);
            boolean asked = Tree.parent(node).equals(wishes.get(i).path())
                    && wishes.get(i).isGrantedBy(Ticket.of(node));
            if (!asked) {
                throw new Broken(OWN_NODES, worker + ": " + nodes);
            }
            if (!law.mayBeGranted(node)) {
                throw new Broken(
                        TURN, worker + " before its turn: " + leader.tree().ephemerals());
            }
        }
    }

    /**
     * Tokens grow over grants to sessions that live: an exclusive one is above all before it, a shared one above
     * exclusive ones.
     */
    private void checkToken(Worker worker, ZkLease lease) {
        for (String node : lease.nodePaths()) {
            if (leader.tree().get(node).czxid != lease.token()) {
                throw new Broken(OWN_TOKEN, worker + ", token " + lease.token() + " of " + node);
            }
        }
        for (Wish wish : worker.wishes()) {
            if (wish.sort() == Ticket.Sort.PERMITS) {
                continue;
            }
            long[] highest = tokens.computeIfAbsent(wish.path(), path -> new long[2]);
            boolean excludes = wish.sort() == Ticket.Sort.WRITE;
            if (lease.token() <= highest[excludes ? 0 : 1]) {
                throw new Broken(TOKENS, worker + " after " + highest[0]);
            }
            highest[0] = Math.max(highest[0], lease.token());
            if (excludes) {
                highest[1] = lease.token();
            }
        }
    }

    /** To be asked when time has ended a session at the leader: whoever held in it must have known before. */
    void checkThatNobodyBelievedIn(long session) {
        for (Worker worker : workers) {
            ZkLease lease = worker.lease();
            if (lease != null
                    && lease.port() instanceof SimulatedPort port
                    && port.session() == session
                    && lease.isValid()) {
                throw new Broken(OUTLIVED, worker + " in session " + session);
            }
        }
    }

    /** A server has heard of the session's client just now. */
    void heardOf(long session) {
        heard.put(session, leader.time().nanos());
    }

    /**
     * To be asked when the client has been told something: it may not believe that the session lives for longer than
     * its time-out from when a server heard of it last.
     */
    void checkValidity(Client client) {
        for (Worker worker : client.workers()) {
            ZkLease lease = worker.lease();
            if (lease != null && lease.port() instanceof SimulatedPort port) {
                long until = leader.time().nanos() + lease.remaining().toNanos();
                if (until > heard.getOrDefault(port.session(), 0L) + Client.SESSION.toNanos() && lease.isValid()) {
                    throw new Broken(OUTLIVED, worker + " until " + until / 1_000_000 + " ms");
                }
            }
        }
    }

    // ---- waiting

    /** To be asked when nothing is on its way, before time passes and a heartbeat could find what no watch has told. */
    void checkThatNobodySleeps() {
        for (Worker worker : workers) {
            checkThatLapseIsTold(worker);
            SimulatedPort port = worker.client().port();
            if (!reaches(worker.client()) || !leader.hasSession(port.session())) {
                continue;
            }
            if (worker.waits()) {
                check(worker, port);
            } else if (worker.lease() != null) {
                checkThatLossIsTold(worker, worker.lease());
            }
        }
    }

    /** Whether what a server tells a client comes to it, and it can do something about it. */
    private static boolean reaches(Client client) {
        return client.port().isUp() && !client.port().isSilent() && !client.isStill();
    }

    /** When the deadline passes, connected or not, and not when somebody looks: so it is asked before that. */
    private static void checkThatLapseIsTold(Worker worker) {
        ZkLease lease = worker.lease();
        boolean told = worker.knowsOfLoss() || worker.client().isStill();
        if (lease != null && !told && !lease.isValid()) {
            throw new Broken(LOSS, worker.toString());
        }
    }

    /** Its client has a session that lives: so it knows whether the lease is of another one, before anybody looks. */
    private void checkThatLossIsTold(Worker worker, ZkLease lease) {
        if (lease.port() instanceof SimulatedPort port
                && !leader.hasSession(port.session())
                && (!worker.knowsOfLoss() || lease.isValid())) {
            throw new Broken(LOSS, worker.toString());
        }
    }

    /** Of a path at which others of its client are, it cannot be said which node is whose. */
    private void check(Worker worker, SimulatedPort port) {
        // After slow answers it may take heartbeats to prove that the session has time left; they look for the nodes,
        // too.
        boolean awaitsProof = worker.client().engine().awaitsProof();
        boolean mayHold = true;
        for (Wish wish : worker.wishes()) {
            List<String> nodes = nodesOf(port, wish.path());
            if (!isOnlyOneOfItsClientAt(worker, wish.path()) || nodes.size() > 1) {
                mayHold = false;
            } else if (nodes.isEmpty()) {
                mayHold = false;
                // Who steps back at the counter's end has none until everybody has gone and the path is made anew.
                if (!awaitsProof
                        && !law.isWornOut(wish.path())
                        && worker.task().members().get(0).recipe().equals(Recipe.MUTEX)
                        && worker.wishes().size() == 1) {
                    throw new Broken(OWN_NODE, worker.toString());
                }
            } else {
                mayHold &= law.mayHold(nodes.get(0)) && everybodyIsThere(wish.path());
            }
        }
        if (mayHold && !awaitsProof) {
            throw new Broken(SLEEP, worker + " of " + leader.tree().ephemerals());
        }
    }

    /**
     * Whether every node is of a client that can be reached and waits for no proof of its session: in a semaphore's
     * line the request ahead has to tell, and it may have to wait for a heartbeat before it is granted or asks for a
     * list.
     */
    private boolean everybodyIsThere(String path) {
        for (String child : leader.tree().get(path).children()) {
            long owner = leader.tree().get(path + '/' + child).owner;
            boolean reached = false;
            for (Client client : clients) {
                reached |= client.port().session() == owner
                        && reaches(client)
                        && !client.engine().awaitsProof();
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

    private List<String> nodesOf(SimulatedPort port, String path) {
        List<String> found = new ArrayList<>(2);
        for (String node : leader.tree().ephemeralsOf(port.session())) {
            if (Tree.parent(node).equals(path)) {
                found.add(node);
            }
        }
        return found;
    }

    // ---- the end

    /** Everybody has gone: so have all nodes and watches. */
    void checkThatNothingIsLeft() {
        if (leader.tree().hasEphemerals()) {
            throw new Broken(LEFT, "nodes " + leader.tree().ephemerals());
        }
        for (Client client : clients) {
            if (!client.port().watches().isEmpty()) {
                throw new Broken(LEFT, client + "'s watches " + client.port().watches());
            }
        }
    }
}
