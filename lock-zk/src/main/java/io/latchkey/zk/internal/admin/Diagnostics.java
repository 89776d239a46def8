// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.admin;

import io.latchkey.lock.LockException;
import io.latchkey.lock.SessionStatus;
import io.latchkey.lock.admin.Diagnosis;
import io.latchkey.zk.internal.admin.DeadlockDetector.QueuedRequest;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.OwnerData;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.request.OwnRequest;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.threads.CallerWait;
import io.latchkey.zk.internal.validity.ClockReading;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The requests and leases of a client, and the cycles of requests that wait for each other. */
public final class Diagnostics {
    private final Engine engine;
    private final String basePath;
    /** Why the search for cycles is incomplete; empty as long as it is complete. */
    private Optional<String> gap = Optional.empty();

    /**
     * @param basePath the base path of the client; empty if it has none
     */
    public Diagnostics(Engine engine, String basePath) {
        this.engine = engine;
        this.basePath = basePath;
    }

    public Diagnosis diagnose() {
        SessionStatus session = engine.context().events().view();
        List<OwnRequest> all = List.of();
        Optional<String> unknown = Optional.empty();
        try {
            all = engine.requests();
        } catch (LockException | IllegalStateException noAnswer) {
            unknown = Optional.of(String.valueOf(noAnswer.getMessage()));
        }
        List<OwnRequest> waits = all.stream().filter(mine -> !mine.holds()).toList();
        List<List<Diagnosis.CycleMember>> cycles = waits.isEmpty() ? List.of() : cycles(all, waits);
        return new Diagnosis(
                describe(all.stream().filter(OwnRequest::holds).toList()),
                describe(waits),
                cycles,
                unknown.or(() -> gap),
                session);
    }

    private List<Diagnosis.OwnRequest> describe(List<OwnRequest> some) {
        ClockReading now = engine.context().now();
        return some.stream()
                .map(mine -> mine.events()
                        .toDiagnosis(
                                now,
                                !mine.holds()
                                        && engine.context()
                                                .heldByCallerOf(mine.events())
                                                .isPresent()))
                .sorted(Comparator.comparing(Diagnosis.OwnRequest::since))
                .toList();
    }

    /**
     * Returns the cycles that contain a request of this client. The queues are read one after the other, so an
     * apparent cycle may never have existed. So the queues of a cycle are read a second time. No name is ever used
     * twice: a request that is in both reads was there in between, when all the others were.
     */
    private List<List<Diagnosis.CycleMember>> cycles(List<OwnRequest> all, List<OwnRequest> waits) {
        Set<LockPath> paths = all.stream()
                .flatMap(mine -> mine.events().members().stream())
                .map(LockTarget::path)
                .collect(Collectors.toCollection(LinkedHashSet::new));
        if (engine.context().naming().isShared()) {
            gap = Optional.of("the paths are shared with Curator or kazoo, whose nodes do not show the kind of lock");
            return List.of();
        }
        LockTree tree = new LockTree(engine, basePath, path -> {});
        long end = System.nanoTime() + engine.context().sessionTimeout().toNanos();
        // The client's own paths first: these are read even if there are too many others.
        List<String> nodes = Stream.concat(paths.stream().map(LockPath::node), roots(paths).stream())
                .toList();
        Map<LockPath, QueueInspector.Picture> queues =
                new LinkedHashMap<>(read(limit -> tree.contendedBelow(nodes, limit), end));
        Set<String> ids = waits.stream().map(OwnRequest::id).collect(Collectors.toSet());
        Set<List<QueuedRequest>> suspects = cycles(queues, ids);
        if (suspects.isEmpty()) {
            return List.of();
        }
        Set<LockPath> again =
                suspects.stream().flatMap(List::stream).map(QueuedRequest::path).collect(Collectors.toSet());
        queues.keySet().removeAll(again);
        queues.putAll(read(limit -> tree.contendedAt(again, limit), end));
        Set<QueuedRequest> deadlocked = detect(queues).deadlocked();
        return suspects.stream()
                .filter(deadlocked::containsAll)
                .map(cycle -> links(cycle, queues))
                .toList();
    }

    /**
     * Reads queues with waiters until {@code end}. If some are missing, that is noted as the gap. The search has three
     * quarters of the time that is left, and returns the queues that were read by then.
     */
    private Map<LockPath, QueueInspector.Picture> read(
            Function<Duration, CompletableFuture<LockSearch.ContendedQueues>> search, long end) {
        Duration left = Duration.ofNanos(end - System.nanoTime());
        CompletableFuture<LockSearch.ContendedQueues> asked =
                search.apply(left.multipliedBy(3).dividedBy(4));
        try {
            if (CallerWait.await(asked, left)) {
                LockSearch.ContendedQueues seen = Errors.valueOf(asked);
                gap = gap.or(seen::gap);
                return seen.queues();
            }
            gap = Optional.of("the servers do not answer in time");
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            gap = Optional.of("interrupted");
        } catch (RuntimeException failed) {
            gap = Optional.of(String.valueOf(failed.getMessage()));
        } finally {
            asked.cancel(false);
        }
        return Map.of();
    }

    private List<String> roots(Collection<LockPath> paths) {
        return basePath.isEmpty() ? firstLevels(paths) : List.of(basePath);
    }

    private static List<String> firstLevels(Collection<LockPath> paths) {
        return paths.stream()
                .map(LockPath::node)
                .map(path -> path.substring(0, path.indexOf('/', 1) < 0 ? path.length() : path.indexOf('/', 1)))
                .distinct()
                .toList();
    }

    private Set<List<QueuedRequest>> cycles(Map<LockPath, QueueInspector.Picture> pictures, Set<String> waiting) {
        DeadlockDetector detector = detect(pictures);
        Map<Set<QueuedRequest>, List<QueuedRequest>> cycles = new LinkedHashMap<>();
        for (QueuedRequest request : detector.deadlocked()) {
            if (waiting.contains(request.name().id())) {
                List<QueuedRequest> cycle = detector.cycleBehind(request);
                // A request may wait for a cycle without being part of it. One that is part begins it.
                cycles.merge(Set.copyOf(cycle), cycle, (one, other) -> other.contains(request) ? other : one);
            }
        }
        return new LinkedHashSet<>(cycles.values());
    }

    private DeadlockDetector detect(Map<LockPath, QueueInspector.Picture> pictures) {
        List<DeadlockDetector.Line> lines = new ArrayList<>();
        pictures.forEach((path, picture) -> {
            Set<NodeName> holders = picture.holders();
            List<QueuedRequest> requests = picture.queue().requests().stream()
                    .filter(picture.nodes()::containsKey)
                    .map(name -> request(
                            path, name, Objects.requireNonNull(picture.nodes().get(name)), holders.contains(name)))
                    .toList();
            lines.add(new DeadlockDetector.Line(
                    requests, picture.queue().purpose().capacity()));
        });
        return DeadlockDetector.of(lines);
    }

    private QueuedRequest request(LockPath path, NodeName name, ZnodeStore.NodeData node, boolean holds) {
        OwnerData owner = engine.context().naming().owner(name, node.data());
        long token = QueueInspector.Picture.token(name, node, owner);
        return new QueuedRequest(path, name, token, node.session(), holds);
    }

    private List<Diagnosis.CycleMember> links(
            List<QueuedRequest> cycle, Map<LockPath, QueueInspector.Picture> pictures) {
        List<Diagnosis.CycleMember> links = new ArrayList<>();
        for (int i = 0; i < cycle.size(); i++) {
            QueuedRequest request = cycle.get(i);
            if (!request.holds()) {
                QueuedRequest before = cycle.get((i + cycle.size() - 1) % cycle.size());
                ZnodeStore.NodeData node = Objects.requireNonNull(Objects.requireNonNull(pictures.get(request.path()))
                        .nodes()
                        .get(request.name()));
                OwnerData owner = engine.context().naming().owner(request.name(), node.data());
                links.add(new Diagnosis.CycleMember(
                        ClientContext.shown(owner),
                        before.holds() ? Optional.of(before.path().shown()) : Optional.empty(),
                        request.path().shown(),
                        Instant.ofEpochMilli(node.ctimeMillis())));
            }
        }
        return links;
    }
}
