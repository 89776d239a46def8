// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.request;

import io.latchkey.zk.internal.path.ParentNodes;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The paths that one creation has to make with its nodes, and the levels that it has made above them.
 *
 * <p>A refused transaction names one path only. So the creation of a multi-lock looks at all its paths, and at the
 * levels above them, in one flight: otherwise each missing path would cost a round trip, and each of these as many
 * requests as there are paths. A path may change after the look; then the next transaction is refused as well.
 */
final class MissingPaths {
    private final Session session;
    private final List<QueueEntry> entries;
    private final Set<QueueEntry> missing = new LinkedHashSet<>();
    private final List<ParentNodes> levels = new ArrayList<>(0);

    MissingPaths(Session session, List<QueueEntry> entries) {
        this.session = session;
        this.entries = entries;
    }

    boolean isEmpty() {
        return missing.isEmpty();
    }

    boolean contains(QueueEntry entry) {
        return missing.contains(entry);
    }

    Set<QueueEntry> entries() {
        return missing;
    }

    /** The reason why a transaction was refused. */
    enum Refusal {
        /** A path is missing that the transaction did not create. */
        PATH_MISSING,
        /** The level above a path is missing. */
        LEVEL_MISSING,
        /** Another client was faster to create a path. */
        PATH_EXISTS
    }

    /**
     * Prepares the next transaction after one that was refused, and makes the missing levels.
     *
     * @param of the entry that the refusal is about
     */
    void prepare(QueueEntry of, Refusal refusal, Consumer<Result> then) {
        switch (refusal) {
            case PATH_MISSING, LEVEL_MISSING -> missing.add(of);
            case PATH_EXISTS -> missing.remove(of);
        }
        Map<String, QueueEntry> below = new LinkedHashMap<>();
        if (refusal == Refusal.LEVEL_MISSING) {
            below.put(levelAbove(of), of);
        }
        if (entries.size() == 1) {
            makeLevels(below, then);
        } else {
            look(of, below, then);
        }
    }

    /** The result of a preparation: the first level that could not be made, if any. */
    record Result(QueueEntry entry, Response<?> levels) {}

    /** Looks at the other paths, and at the levels that are not known to be missing. */
    private void look(QueueEntry of, Map<String, QueueEntry> below, Consumer<Result> then) {
        Map<String, QueueEntry> others = new LinkedHashMap<>();
        Map<String, QueueEntry> above = new LinkedHashMap<>();
        for (QueueEntry entry : entries) {
            if (!entry.equals(of)) {
                others.put(entry.path().node(), entry);
            }
            String level = levelAbove(entry);
            // The root is there, unless it is a chroot: then the next transaction says so.
            if (!level.isEmpty() && !below.containsKey(level)) {
                above.put(level, entry);
            }
        }
        Set<String> nodes = new LinkedHashSet<>(others.keySet());
        nodes.addAll(above.keySet());
        Set<String> absent = new HashSet<>();
        int[] unanswered = {nodes.size()};
        for (String node : nodes) {
            session.connection().read(node, answer -> {
                // Whatever else the answer is, the next transaction finds out what it means.
                if (answer.code() == Status.NO_NODE) {
                    absent.add(node);
                }
                if (--unanswered[0] == 0) {
                    missing.removeAll(others.values());
                    others.keySet().retainAll(absent);
                    missing.addAll(others.values());
                    above.keySet().retainAll(absent);
                    above.forEach(below::putIfAbsent);
                    makeLevels(below, then);
                }
            });
        }
    }

    private static String levelAbove(QueueEntry entry) {
        String node = entry.path().node();
        return node.substring(0, node.lastIndexOf('/'));
    }

    /** Makes the levels, all at the same time: whichever makes a common level first, the others find it there. */
    private void makeLevels(Map<String, QueueEntry> below, Consumer<Result> then) {
        if (below.isEmpty()) {
            then.accept(new Result(entries.get(0), Response.of(true)));
            return;
        }
        List<Result> results = new ArrayList<>(below.size());
        List.copyOf(below.values()).forEach(entry -> {
            ParentNodes above = new ParentNodes(session, () -> true);
            levels.add(above);
            above.makeAbove(entry.path(), outcome -> {
                results.add(new Result(entry, outcome));
                if (results.size() == below.size()) {
                    then.accept(results.stream()
                            .filter(each -> !each.levels().ok())
                            .findFirst()
                            .orElse(results.get(0)));
                }
            });
        });
    }

    /** Deletes the levels that were made for nothing. */
    void leave() {
        levels.forEach(ParentNodes::leave);
    }
}
