// SPDX-License-Identifier: Apache-2.0
package io.latchkey.docs;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** docs/architecture.md shows a hand-over as it passes between clients and a real server. */
@Timeout(60)
class HandOverPageTest {
    private static final String PATH = "/orders/42";

    private final Map<String, String> ids = new HashMap<>();
    private final List<String> lines = new ArrayList<>();

    /** The own node and the one node in the way are watched by their children. */
    @Test
    void oneNodeInTheWay() throws InterruptedException {
        try (QueueScene scene = new QueueScene()) {
            ask(scene, "till-1", 0);
            lines.clear();
            ask(scene, "till-2", 2);
            release(scene, "till-1", "till-2");
            assertDrawn("hand-over");
        }
    }

    /** Three watches of each client that waits behind a waiter. */
    @Test
    void severalNodesInTheWay() throws InterruptedException {
        try (QueueScene scene = new QueueScene()) {
            ask(scene, "till-1", 0);
            ask(scene, "till-2", 2);
            lines.clear();
            ask(scene, "till-3", 2 + 3);
            release(scene, "till-1", "till-2");
            release(scene, "till-2", "till-3");
            assertDrawn("hand-over-several");
        }
    }

    private void ask(QueueScene scene, String owner, int watches) throws InterruptedException {
        var unused = scene.joins(owner, locks -> locks.mutex(PATH), PATH);
        scene.awaitWatches(watches);
        if (watches == 0) {
            var unused2 = scene.lease(owner);
        }
        note(scene, owner + " asks");
    }

    private void release(QueueScene scene, String holder, String next) {
        scene.lease(holder).close();
        var unused = scene.lease(next);
        note(scene, holder + " releases, " + next + " holds");
    }

    private void note(QueueScene scene, String step) {
        lines.add(step);
        scene.passed(ids).forEach(line -> lines.add("  " + line));
    }

    private void assertDrawn(String part) {
        Docs.assertDrawn(
                "docs/architecture.md", part, lines.stream().collect(Collectors.joining("\n", "```text\n", "\n```\n")));
    }
}
