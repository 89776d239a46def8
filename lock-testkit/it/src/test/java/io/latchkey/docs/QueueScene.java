// SPDX-License-Identifier: Apache-2.0
package io.latchkey.docs;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.admin.Contender;
import io.latchkey.testkit.proxy.FastReconnects;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.Wire;
import io.latchkey.testkit.proxy.WireRecord;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.zk.ZkLockClient;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.OwnerData;
import io.latchkey.zk.internal.queue.Queue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Clients that request a lock one after the other on a real server, the resulting nodes and watches, and what passes
 * between each client and the server. Request ids are random; here the first is all ones, the second all twos.
 */
final class QueueScene implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Pattern ID = Pattern.compile("\\b[0-9a-f]{" + NodeName.ID_LENGTH + "}\\b");

    private final EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
    private final Map<String, FaultProxy> proxies = new LinkedHashMap<>();
    private final List<FastReconnects> fast = new ArrayList<>();
    private final Map<String, ZkLockClient> clients = new LinkedHashMap<>();
    /** For each client, up to where {@link #passed} has told what passed. */
    private final Map<String, Wire.Mark> told = new HashMap<>();

    private final Map<String, CompletableFuture<Lease>> asked = new LinkedHashMap<>();
    private final Set<String> used = new LinkedHashSet<>();

    /**
     * One request's node, as the server has it, and what its client watches: other requests, or whatever comes and
     * goes.
     */
    record Request(
            String name, String owner, int permits, boolean holds, List<String> watches, boolean watchesThePath) {
        boolean isWatching() {
            return watchesThePath || !watches.isEmpty();
        }
    }

    /** One lock's path with the requests under it, first come first. */
    record LockQueue(String path, String data, List<Request> requests) {}

    /**
     * Lets a client of that name ask, and waits until each client holds or watches: the first that waits renews its
     * watch for each that comes.
     */
    void asks(String owner, Function<LockClient, Acquirable> lock, String... paths) throws InterruptedException {
        Acquirable wanted = joins(owner, lock, paths);
        // All events before the end of these reads have been processed: one session is served in order.
        for (int trip = 0; trip < 4; trip++) {
            List<Contender> unused = wanted.queue();
        }
        // A multi-lock that waits at one of its paths watches there alone.
        used.addAll(List.of(paths));
        Eventually.holds("each client holds or watches", PATIENCE, () -> {
            Set<String> idle = new HashSet<>(asked.keySet());
            show(used.toArray(String[]::new)).stream()
                    .flatMap(path -> path.requests().stream())
                    .filter(request -> request.holds() || request.isWatching())
                    .forEach(request -> idle.remove(request.owner()));
            return idle.isEmpty();
        });
    }

    /** Lets a client of that name ask, and waits until its requests are in their queues. */
    Acquirable joins(String owner, Function<LockClient, Acquirable> lock, String... paths) throws InterruptedException {
        FaultProxy proxy = FaultProxy.to(server);
        proxies.put(owner, proxy);
        told.put(owner, proxy.mark());
        fast.add(FastReconnects.of(proxy));
        ZkLockClient client = ZkLockClient.builder()
                .connectString(proxy.connectString())
                .ownerLabel(owner)
                .build();
        clients.put(owner, client);
        Acquirable wanted = lock.apply(client);
        asked.put(owner, wanted.acquireAsync());
        Eventually.holds(owner + " stands in " + List.of(paths), PATIENCE, () -> List.of(paths).stream()
                .allMatch(path -> owners(path).contains(owner)));
        return wanted;
    }

    /** Waits for the client's lease. */
    Lease lease(String owner) {
        return asked.get(owner)
                .orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                .join();
    }

    void awaitWatches(int count) throws InterruptedException {
        Eventually.holds(count + " watches", PATIENCE, () -> server.watchCount() == count);
    }

    /**
     * What passed since the last call, one client after the other: requests without heartbeats, and watch events. An
     * event has the number of its transaction, counted from 1.
     */
    List<String> passed(Map<String, String> ids) {
        List<String> lines = new ArrayList<>();
        List<Long> transactions = new ArrayList<>();
        proxies.forEach((owner, proxy) -> {
            Wire since = proxy.since(told.put(owner, proxy.mark()));
            for (WireRecord each : since.timeline()) {
                if (each instanceof WireRecord.Request request
                        && RequestMatch.any().butHeartbeats().matches(request)) {
                    lines.add(owner + " -> " + withShownIds(request.toString(), ids));
                } else if (each instanceof WireRecord.Event event) {
                    if (!transactions.contains(event.zxid())) {
                        transactions.add(event.zxid());
                    }
                    lines.add(owner + " <- " + event.type() + " " + withShownIds(event.path(), ids) + ", transaction "
                            + (transactions.indexOf(event.zxid()) + 1));
                }
            }
        });
        return lines;
    }

    private static String withShownIds(String text, Map<String, String> ids) {
        return ID.matcher(text).replaceAll(found -> shownId(found.group(), ids));
    }

    /** What the server has at these paths. */
    List<LockQueue> show(String... paths) {
        Map<String, String> ids = new HashMap<>();
        return List.of(paths).stream().map(path -> displayPath(path, ids)).toList();
    }

    private LockQueue displayPath(String path, Map<String, String> ids) {
        ServerNode lock = server.nodesUnder("/").stream()
                .filter(node -> node.path().equals(path))
                .findFirst()
                .orElseThrow();
        Map<String, ServerNode> nodes = children(path).stream()
                .collect(Collectors.toMap(ServerNode::name, node -> node, (a, b) -> a, LinkedHashMap::new));
        List<Request> requests = new ArrayList<>();
        for (NodeName name : Queue.of(nodes.keySet()).requests()) {
            ServerNode node = nodes.get(name.text());
            String owner = OwnerData.parse(node.data()).label();
            CompletableFuture<Lease> lease = asked.get(owner);
            List<String> watches = watchedBy(node, nodes).stream()
                    .map(watched -> shownName(watched, ids))
                    .toList();
            boolean leads = server.watches()
                    .contains(new ServerNode.Watch(path, ServerNode.Watch.Kind.CHILDREN, node.session()));
            requests.add(
                    new Request(shownName(name.text(), ids), owner, name.permits(), lease.isDone(), watches, leads));
        }
        return new LockQueue(path, lock.text(), requests);
    }

    /** The other requests' nodes that the node's session watches, oldest first. */
    private List<String> watchedBy(ServerNode node, Map<String, ServerNode> nodes) {
        Set<String> watched = server.watches().stream()
                .filter(watch -> watch.session() == node.session())
                .map(watch -> watch.path())
                .collect(Collectors.toSet());
        return nodes.values().stream()
                .filter(other -> watched.contains(other.path()) && other.session() != node.session())
                .sorted(Comparator.comparing(ServerNode::created))
                .map(ServerNode::name)
                .toList();
    }

    private List<String> owners(String path) {
        return children(path).stream()
                .map(node -> OwnerData.parse(node.data()).label())
                .toList();
    }

    private List<ServerNode> children(String path) {
        return server.nodesUnder(path).stream()
                .filter(node -> node.path().lastIndexOf('/') == path.length()
                        && node.path().startsWith(path))
                .sorted(Comparator.comparing(ServerNode::created))
                .toList();
    }

    private static String shownName(String name, Map<String, String> ids) {
        String id = NodeName.parse(name).orElseThrow().id();
        return name.replace(id, shownId(id, ids));
    }

    private static String shownId(String id, Map<String, String> ids) {
        return ids.computeIfAbsent(id, unseen -> String.valueOf(ids.size() + 1).repeat(NodeName.ID_LENGTH));
    }

    @Override
    public void close() {
        clients.values().forEach(ZkLockClient::close);
        fast.forEach(FastReconnects::close);
        proxies.values().forEach(FaultProxy::close);
        server.close();
    }
}
