// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import io.latchkey.testkit.history.Attempt;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Which paths of a history have to be looked at together: those that attempts on several paths connect. */
final class ConnectedPaths {
    private final Map<String, String> parents = new HashMap<>();

    private ConnectedPaths() {}

    /** The attempts of each group of paths, by the name of one of its paths. */
    static Map<String, List<Attempt.Summary>> group(List<Attempt.Summary> summaries) {
        ConnectedPaths paths = new ConnectedPaths();
        for (Attempt.Summary summary : summaries) {
            String first = summary.claims().get(0).path();
            summary.claims().forEach(claim -> paths.connect(first, claim.path()));
        }
        Map<String, List<Attempt.Summary>> groups = new TreeMap<>();
        for (Attempt.Summary summary : summaries) {
            groups.computeIfAbsent(paths.root(summary.claims().get(0).path()), root -> new ArrayList<>())
                    .add(summary);
        }
        return groups;
    }

    private void connect(String one, String other) {
        String root = root(one);
        String otherRoot = root(other);
        if (!root.equals(otherRoot)) {
            parents.put(otherRoot, root);
        }
    }

    private String root(String path) {
        String at = path;
        while (parents.containsKey(at)) {
            at = parents.get(at);
        }
        return at;
    }
}
