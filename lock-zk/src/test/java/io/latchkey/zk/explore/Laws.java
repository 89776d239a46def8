// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

import io.latchkey.zk.acquire.State;
import io.latchkey.zk.explore.Ask.Kind;
import io.latchkey.zk.explore.Ask.Manner;
import io.latchkey.zk.explore.Client.At;
import io.latchkey.zk.queue.NodeName;
import io.latchkey.zk.queue.Tag;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What must be true of every world.
 *
 * <p><b>Exclusion.</b> A request is admitted at the first moment at which, by the server's tree, its permits and those of
 * all before it are within the capacity. Whenever somebody is admitted, all that are admitted and not gone are within the
 * capacity of that moment ({@link #checkAdmitted}); and nobody is granted who was not admitted ({@link #checkTurn}).
 * So shrinking revokes nobody and admits nobody until enough is gone. It does not take back an admission that its
 * request has not heard of, either: of A, B and C with a permit each of three, C may be granted before B; if the capacity
 * then shrinks to two, B is still granted, and three hold. A list does not tell who of those behind holds already,
 * so nothing stricter can be promised without a mark.
 *
 * <p><b>Nothing is lost.</b> When nothing is on its way any more, nobody waits who may hold, nobody waits for more than
 * there is, and nobody waits while nobody holds ({@link #checkQuiet}). Together with the absence of endless schedules
 * (the {@link Explorer} looks for them) this says that every request that may hold has a wake-up on its way.
 *
 * <p><b>Bounded wake-ups.</b> The going of one node wakes waiters of at most as many permits as there ever were
 * ({@link #checkWoken}). In a line it may be twice as many: those of the largest capacity may each lead it for a moment
 * after a shrink, and one more that stands behind them.
 *
 * <p><b>Nothing is left.</b> When all is over there is no node and no watch ({@link #checkEnd}).
 */
final class Laws {
    private final Scope scope;

    Laws(Scope scope) {
        this.scope = scope;
    }

    static void checkAdmitted(List<Server.Node> admitted, int capacity) {
        long writers =
                admitted.stream().filter(node -> node.name().tag() == Tag.WRITE).count();
        boolean leases = admitted.stream().anyMatch(node -> node.name().tag() == Tag.LEASE);
        if (leases ? Server.permits(admitted) > capacity : writers > 1 || (writers == 1 && admitted.size() > 1)) {
            throw new Violation("exclusion: " + shown(admitted) + " may hold at once, the capacity is " + capacity);
        }
    }

    /** To be asked when somebody has just been granted. */
    void checkGrants(Server server, List<Client> clients) {
        clients.forEach(client -> checkTurn(server, client));
        for (Server.Tree tree : server.trees()) {
            checkHolders(tree.nodes().stream()
                    .filter(node -> isGranted(node, clients.get(node.session())))
                    .toList());
        }
    }

    /** Nobody is granted before its turn. Whose node is gone was robbed by an operator, and the news is on its way. */
    void checkTurn(Server server, Client client) {
        for (Server.Tree tree : server.trees()) {
            for (Server.Node node : tree.nodes()) {
                if (node.admittedAt() == 0 && node.session() == client.session() && isGranted(node, client)) {
                    throw new Violation("exclusion: granted " + shown(List.of(node)) + " before its turn, the queue is "
                            + shown(tree.nodes()) + ", the capacity " + tree.capacity());
                }
            }
        }
    }

    static boolean isGranted(Server.Node node, Client client) {
        return client.granted().contains(node.request())
                && client.machines().get(node.request()).id().equals(node.name().id());
    }

    /** They hold at once. */
    static void checkHolders(List<Server.Node> holders) {
        checkAdmitted(
                holders,
                holders.stream().mapToInt(Server.Node::admittedAt).max().orElse(0));
    }

    void checkQuiet(Server server, List<Client> clients) {
        boolean held = false;
        boolean waits = false;
        for (Client client : clients) {
            checkOverlooked(server, client);
            held |= !client.granted().isEmpty();
            waits |= !waiting(server, client).isEmpty();
        }
        if (!held && waits) {
            throw deadlock(server);
        }
    }

    static Violation deadlock(Server server) {
        return new Violation("deadlock: somebody waits, nobody holds, the queues are "
                + server.trees().stream().map(tree -> shown(tree.nodes())).toList());
    }

    /** Nobody waits without need, when nothing is on its way. */
    void checkOverlooked(Server server, Client client) {
        for (Waiting waiter : waiting(server, client)) {
            if (waiter.nodes(scope).stream().allMatch(node -> server.mayHold(node.path(), name(node)))) {
                throw new Violation("lost wake-up: " + waiter + " may hold and nothing will tell it");
            }
            for (Target node : waiter.nodes(scope)) {
                Server.Tree tree = server.trees().get(node.path());
                if (name(node).tag() == Tag.LEASE && name(node).permits() > tree.capacity()) {
                    throw new Violation("no refusal: " + waiter + " waits for more than " + tree.capacity());
                }
            }
        }
    }

    /** The requests of a session that wait in the queue. */
    List<Waiting> waiting(Server server, Client client) {
        List<Waiting> waiting = new ArrayList<>();
        for (int r = 0; r < client.machines().size(); r++) {
            Waiting waiter = new Waiting(client, r);
            if (client.machines().get(r).state() == State.QUEUED && waiter.isThere(scope, server)) {
                waiting.add(waiter);
            }
        }
        return waiting;
    }

    record Waiting(Client client, int request) {
        List<Target> nodes(Scope scope) {
            List<Target> nodes = new ArrayList<>();
            List<Scope.Wish> wishes = scope.request(client.session(), request).wishes();
            for (int i = 0; i < wishes.size(); i++) {
                int path = wishes.get(i).path();
                client.machines().get(request).name(i).ifPresent(name -> nodes.add(Target.of(path, name)));
            }
            return nodes;
        }

        /** Who does not watch its own node learns from the next heartbeat, which is not in this world, that it is gone. */
        boolean isThere(Scope scope, Server server) {
            return nodes(scope).stream()
                    .allMatch(node -> server.trees().get(node.path()).has(name(node)));
        }

        @Override
        public String toString() {
            return Scope.name(client.session()) + (request == 0 ? "" : "'s second request");
        }
    }

    /**
     * Whom the going of a node wakes of one session.
     *
     * @param leads whether somebody looks at everything that moves in the queue
     */
    record Woken(List<NodeName> names, boolean leads) {}

    /**
     * Whom the going of a node wakes: those who wait for it with a watch at the server. Whom it hands over to must be
     * there itself, or be about to learn that it is not.
     */
    Woken woken(Server server, Client client, Change.Gone gone) {
        Target target = gone.node();
        Server.Tree tree = server.trees().get(target.path());
        List<NodeName> leaders = leaders(client, target.path());
        List<NodeName> woken = new ArrayList<>(leaders);
        Client.Watched watched = client.watched().get(target);
        boolean data = client.armed().contains(new Client.Armed(target, Kind.DATA));
        boolean children = client.armed().contains(new Client.Armed(target, Kind.CHILDREN));
        if (watched != null && (children || (data && gone.manner() == Manner.PLAIN))) {
            boolean pair = gone.manner() == Manner.MARKED && data;
            for (At at : watched.listeners()) {
                Optional<NodeName> waits = waitsFor(client, at, target);
                waits.filter(tree::has).ifPresent(woken::add);
                boolean robbed = waits.filter(name -> !tree.has(name) && !hears(client, Target.of(target.path(), name)))
                        .isPresent();
                if (pair && robbed) {
                    throw new Violation("exclusion: " + target + " hands over to " + Scope.name(client.session())
                            + ", whose node is gone");
                }
            }
        }
        return new Woken(woken, !leaders.isEmpty());
    }

    void checkWoken(Server server, Change.Gone gone, List<Woken> all) {
        List<NodeName> woken = all.stream().flatMap(one -> one.names().stream()).toList();
        long writers = woken.stream().filter(name -> name.tag() == Tag.WRITE).count();
        int permits = woken.stream()
                .filter(name -> name.tag() == Tag.LEASE)
                .mapToInt(NodeName::permits)
                .sum();
        boolean line = all.stream().anyMatch(Woken::leads);
        int largest = server.trees().get(gone.node().path()).largest();
        if (permits > (line ? 2 * largest : largest) || writers > 1 || (writers == 1 && woken.size() > 1)) {
            throw new Violation("too many wake-ups: the going of " + gone.node() + " wakes "
                    + woken.stream()
                            .map(name -> Target.of(gone.node().path(), name))
                            .toList());
        }
    }

    /** Who look at everything that moves in the queue. */
    private static List<NodeName> leaders(Client client, int path) {
        Client.Watched watched = client.watched().get(Target.of(path));
        if (watched == null || !client.armed().contains(new Client.Armed(Target.of(path), Kind.CHILDREN))) {
            return List.of();
        }
        return watched.listeners().stream()
                .filter(at -> client.places()
                        .getOrDefault(at, Client.Place.NEW)
                        .leading()
                        .isPresent())
                .flatMap(at -> client.machines().get(at.request()).name(at.member()).stream())
                .toList();
    }

    /** Whether the news that its node is gone is on its way. */
    private static boolean hears(Client client, Target own) {
        return client.in().stream()
                .anyMatch(tell -> tell.equals(new Tell.Gone(own))
                        || (tell instanceof Tell.NotThere missing
                                && missing.node().equals(own)));
    }

    private static Optional<NodeName> waitsFor(Client client, At at, Target node) {
        boolean waits =
                client.places().getOrDefault(at, Client.Place.NEW).ahead().contains(name(node));
        return waits ? client.machines().get(at.request()).name(at.member()) : Optional.empty();
    }

    void checkEnd(Server server, List<Client> clients) {
        checkEmpty(server);
        clients.forEach(this::checkNoWatch);
    }

    void checkEmpty(Server server) {
        for (Server.Tree tree : server.trees()) {
            if (!tree.nodes().isEmpty()) {
                throw new Violation("left behind: " + shown(tree.nodes()));
            }
        }
    }

    void checkNoWatch(Client client) {
        if (!client.armed().isEmpty()) {
            throw new Violation("left behind: " + Scope.name(client.session()) + " still watches "
                    + client.armed().stream().map(Client.Armed::target).toList());
        }
    }

    private static NodeName name(Target node) {
        return node.node().orElseThrow();
    }

    private static String shown(List<Server.Node> nodes) {
        return nodes.stream()
                .map(node -> Scope.name(node.session()) + " " + Target.of(0, node.name()))
                .toList()
                .toString();
    }
}
