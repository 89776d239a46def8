package io.latchkey.testkit.sim;

import io.latchkey.zk.queue.Decision;
import io.latchkey.zk.queue.NodeName;
import io.latchkey.zk.queue.Queue;
import io.latchkey.zk.queue.Tag;
import io.latchkey.zk.recipe.Recipe;
import io.latchkey.zk.session.Member;
import io.latchkey.zk.session.ZkLease;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What must be true, judged by the leader's tree. */
final class Oracle {
    private final Leader leader;
    private final List<Client> clients;

    Oracle(Leader leader, List<Client> clients) {
        this.leader = leader;
        this.clients = clients;
    }

    /** What one worker holds at one path. */
    private record Hold(Worker worker, Recipe recipe) {
        boolean reads() {
            // Who downgrades must be content with reading from then on.
            boolean downgraded = worker.lease()
                    .filter(lease -> !lease.isOf(worker.task().members().get(0)))
                    .isPresent();
            boolean alone = worker.task().members().size() == 1;
            return recipe.tag() == Tag.READ || worker.isDowngrading() || (alone && downgraded);
        }
    }

    /**
     * Of workers that find their leases valid, whose sessions live and whose nodes are there, no two exclude each other.
     * Of a node that an operator deleted no client can know at once.
     */
    void checkExclusion() {
        Map<String, List<Hold>> byPath = new HashMap<>();
        for (Client client : clients) {
            for (Worker worker : client.workers()) {
                if (worker.lease().filter(lease -> counts(worker, lease)).isPresent()) {
                    for (Member member : worker.task().members()) {
                        byPath.computeIfAbsent(member.path(), path -> new ArrayList<>())
                                .add(new Hold(worker, member.recipe()));
                    }
                }
            }
        }
        byPath.forEach(this::check);
    }

    private boolean counts(Worker worker, ZkLease lease) {
        boolean lives = lease.port() instanceof SimulatedPort port && leader.hasSession(port.session());
        return lives && lease.isValid() && lease.nodePaths().stream().allMatch(node -> isThere(worker, node));
    }

    private boolean isThere(Worker worker, String node) {
        boolean replaced = worker.isDowngrading() && leader.tree().has(node.replace(Tag.WRITE.text(), Tag.READ.text()));
        return leader.tree().has(node) || replaced;
    }

    private void check(String path, List<Hold> holds) {
        if (holds.size() < 2) {
            return;
        }
        if (holds.get(0).recipe().tag() == Tag.LEASE) {
            int permits =
                    holds.stream().mapToInt(hold -> hold.recipe().permits()).sum();
            int most = leader.purpose(path).largest();
            if (permits > most) {
                throw new AssertionError(permits + " permits of " + most + " held at " + path + ": " + holds);
            }
        } else if (!holds.stream().allMatch(Hold::reads)) {
            throw new AssertionError("held at once at " + path + ": " + holds);
        }
    }

    /**
     * Every request that may hold has a wake-up on its way: where nothing is on its way, none waits that may hold. Asked
     * of clients with one busy worker only, whose nodes therefore are its.
     */
    void checkThatNobodySleepsOn() {
        for (Client client : clients) {
            List<Worker> busy =
                    client.workers().stream().filter(worker -> !worker.isIdle()).toList();
            if (busy.size() == 1 && busy.get(0).waits() && client.port().isUp()) {
                List<String> nodes = leader.tree().ephemeralsOf(client.port().session());
                if (nodes.size() == busy.get(0).task().members().size()
                        && nodes.stream().allMatch(this::mayHold)) {
                    throw new AssertionError(busy + " sleeps on, though it may hold " + nodes);
                }
            }
        }
    }

    private boolean mayHold(String node) {
        String path = Tree.parent(node);
        NodeName name = NodeName.parse(Tree.name(node)).orElseThrow();
        Queue queue = Queue.of(leader.tree().list(path).orElseThrow().children(), leader.purpose(path));
        return Recipe.ruleFor(name.tag()).decide(queue, name) instanceof Decision.Hold;
    }

    /** Everybody has gone: so have all nodes and watches. */
    void checkThatNothingIsLeft() {
        if (!leader.tree().ephemerals().isEmpty()) {
            throw new AssertionError("left: " + leader.tree().ephemerals());
        }
        for (Client client : clients) {
            if (!client.port().watches().isEmpty()) {
                throw new AssertionError(client + " leaves " + client.port().watches());
            }
        }
    }
}
