// SPDX-License-Identifier: Apache-2.0
package io.latchkey.docs;

import io.latchkey.docs.QueueScene.LockQueue;
import io.latchkey.docs.QueueScene.Request;
import io.latchkey.lock.Acquirable;
import io.latchkey.lock.LockClient;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** docs/queues.md shows the nodes of each queue as a real server has them. */
@Timeout(60)
class QueuesPageTest {
    @Test
    void mutexIsDrawnOnThePage() throws InterruptedException {
        try (QueueScene scene = new QueueScene()) {
            for (int i = 1; i <= 4; i++) {
                scene.asks("till-" + i, locks -> locks.mutex("/orders/42"), "/orders/42");
            }
            assertDrawn("mutex", scene.show("/orders/42"));
        }
    }

    @Test
    void readWriteLockIsDrawnOnThePage() throws InterruptedException {
        try (QueueScene scene = new QueueScene()) {
            for (String who : List.of("reader-1", "reader-2", "writer-3", "reader-4", "reader-5", "writer-6")) {
                scene.asks(who, locks -> side(locks, who), "/document");
            }
            assertDrawn("read-write-lock", scene.show("/document"));
        }
    }

    @Test
    void semaphoreIsDrawnOnThePage() throws InterruptedException {
        try (QueueScene scene = new QueueScene()) {
            int[] permits = {1, 2, 1, 2, 1};
            for (int i = 0; i < permits.length; i++) {
                int wanted = permits[i];
                scene.asks(
                        "worker-" + (i + 1),
                        locks -> locks.semaphore("/printers", 3).permits(wanted),
                        "/printers");
            }
            assertDrawn("semaphore", scene.show("/printers"));
        }
    }

    @Test
    void largeSemaphoreIsDrawnOnThePage() throws InterruptedException {
        try (QueueScene scene = new QueueScene()) {
            int[] permits = {9, 9, 5, 9};
            for (int i = 0; i < permits.length; i++) {
                int wanted = permits[i];
                scene.asks(
                        "job-" + (i + 1), locks -> locks.semaphore("/pool", 20).permits(wanted), "/pool");
            }
            assertDrawn("semaphore-line", scene.show("/pool"));
        }
    }

    @Test
    void multiLockIsDrawnOnThePage() throws InterruptedException {
        try (QueueScene scene = new QueueScene()) {
            String[] paths = {"/accounts/a", "/accounts/b", "/accounts/c"};
            scene.asks("transfer-1", locks -> mutexes(locks, paths[0], paths[1]), paths[0], paths[1]);
            scene.asks("transfer-2", locks -> mutexes(locks, paths[2], paths[1]), paths[1], paths[2]);
            scene.asks("transfer-3", locks -> mutexes(locks, paths[0], paths[2]), paths[0], paths[2]);
            assertDrawn("multi-lock", scene.show(paths));
        }
    }

    @Test
    void stripedMutexIsDrawnOnThePage() throws InterruptedException {
        try (QueueScene scene = new QueueScene()) {
            Map<String, String> stripes =
                    Map.of("jones", "/customers/1", "smith", "/customers/1", "baker", "/customers/0");
            int clerk = 1;
            for (String key : List.of("jones", "smith", "baker")) {
                scene.asks(
                        "clerk-" + clerk++,
                        locks -> locks.stripedMutex("/customers", 4).forKey(key),
                        stripes.get(key));
            }
            assertDrawn("striped-mutex", scene.show("/customers/0", "/customers/1"));
        }
    }

    private static Acquirable side(LockClient locks, String who) {
        return who.startsWith("reader")
                ? locks.readWriteLock("/document").readLock()
                : locks.readWriteLock("/document").writeLock();
    }

    private static Acquirable mutexes(LockClient locks, String one, String other) {
        return locks.multiLock(locks.mutex(one), locks.mutex(other));
    }

    private static void assertDrawn(String part, List<LockQueue> shown) {
        Docs.assertDrawn("docs/queues.md", part, listing(shown));
    }

    private static String listing(List<LockQueue> paths) {
        List<String> lines = new ArrayList<>();
        for (LockQueue path : paths) {
            lines.add(row(path.path(), "\"" + path.data() + "\""));
            path.requests().forEach(request -> lines.add(row("  " + request.name(), said(request))));
        }
        return lines.stream().collect(Collectors.joining("\n", "```text\n", "\n```\n"));
    }

    private static String row(String node, String said) {
        return String.format("%-40s %s", node, said);
    }

    private static String said(Request request) {
        String standing = request.holds() ? "holds" : "waits";
        String watched = request.watches().stream()
                .map(name -> "…" + name.substring(name.lastIndexOf('-')))
                .collect(Collectors.joining(", "));
        return request.owner() + ", " + standing + (watched.isEmpty() ? "" : ", watches " + watched)
                + (request.watchesThePath() ? ", watches the path" : "");
    }
}
