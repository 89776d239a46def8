// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.server.EmbeddedEnsemble;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.testkit.time.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Checks that finished work leaves nothing on the server: neither a request, which is an ephemeral node, nor a watch.
 * Call it when there are no holders and waiters. Containers and persistent nodes in them are not checked: the server
 * deletes paths some time after their last request, by its own clock.
 *
 * <p>It sees a snapshot of the servers. Nodes and watches that a client removes in the background may still exist;
 * {@link #within} checks again until the given time has passed. The watches of a client that is not connected cannot be
 * seen: the server has forgotten them, and the client will set them again. So end all faults and let clients reconnect
 * first. Given a server, it makes sure of that itself: where one of the clients named has no live session, or is not
 * connected before and after the look, the verdict is undecided.
 */
public final class LeakChecker {
    private static final String RULE = "nothing left on the server";

    private LeakChecker() {}

    /**
     * What a server has at one moment.
     *
     * @param nodes nodes below the paths in question
     * @param watches all watches
     */
    public record Leftovers(List<ServerNode> nodes, List<ServerNode.Watch> watches) {}

    /**
     * Says whose session owns what is left.
     *
     * @param left what the servers have, whichever they are
     * @param clients names by the ids of sessions, as far as they are known
     * @return broken, with each ephemeral node and each watch, or obeyed
     */
    public static Verdict check(Leftovers left, Map<Long, String> clients) {
        List<String> found = new ArrayList<>();
        left.nodes().stream()
                .filter(ServerNode::isEphemeral)
                .forEach(node -> found.add(node + ", " + owner(node.session(), clients)));
        left.watches().forEach(watch -> found.add(watch + ", " + owner(watch.session(), clients)));
        return Verdict.of(RULE, 0, found, List.of());
    }

    private static String owner(long session, Map<Long, String> clients) {
        String client = clients.get(session);
        return client == null ? "a session of none of the clients named" : "the session of " + client;
    }

    /**
     * Looks at the nodes below the path and at all watches of the server.
     *
     * @param server the server, which runs
     * @param path absolute
     * @param clients those whose sessions may own what is found
     * @return undecided if nothing is found and one of the clients has no session with a connection
     */
    public static Verdict check(EmbeddedZooKeeper server, String path, List<FaultyClient> clients) {
        return check(
                server::connectedSessions, () -> new Leftovers(server.nodesUnder(path), server.watches()), clients);
    }

    /**
     * Looks at the nodes below the path as the leader has them and at all watches of all servers.
     *
     * @param servers the ensemble, of which a majority serves
     * @param path absolute
     * @param clients those whose sessions may own what is found
     * @return undecided if nothing is found and one of the clients has no session with a connection
     */
    public static Verdict check(EmbeddedEnsemble servers, String path, List<FaultyClient> clients) {
        return check(
                servers::connectedSessions, () -> new Leftovers(servers.nodesUnder(path), servers.watches()), clients);
    }

    private static Verdict check(
            Supplier<Set<Long>> connections, Supplier<Leftovers> look, List<FaultyClient> clients) {
        Map<Long, String> names = new HashMap<>();
        clients.forEach(client -> names.put(client.proxy().session().orElse(0), client.name()));
        Set<Long> connected = new HashSet<>(connections.get());
        Verdict found = check(look.get(), names);
        connected.retainAll(connections.get());
        List<String> away = clients.stream()
                .filter(client -> !connected.contains(client.proxy().session().orElse(0)))
                .map(client -> client.name() + " has no connection: the watches that it will set again cannot be seen")
                .toList();
        return found instanceof Verdict.Obeyed ? Verdict.of(RULE, 0, List.of(), away) : found;
    }

    /**
     * Looks again and again until nothing is left or the time is over.
     *
     * @param time how long to wait at most
     * @param check one look, by one of the other methods
     * @return what the last look said
     * @throws InterruptedException if interrupted while waiting
     */
    public static Verdict within(Duration time, Supplier<Verdict> check) throws InterruptedException {
        List<Verdict> last = new ArrayList<>(List.of(check.get()));
        try {
            Eventually.holds(RULE, time, () -> {
                last.set(0, check.get());
                return last.get(0) instanceof Verdict.Obeyed;
            });
        } catch (AssertionError late) {
            return last.get(0);
        }
        return last.get(0);
    }
}
