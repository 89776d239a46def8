// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import io.latchkey.testkit.time.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.zookeeper.server.ContainerManager;
import org.apache.zookeeper.server.DataNode;
import org.apache.zookeeper.server.RequestProcessor;
import org.apache.zookeeper.server.ZKDatabase;

/** One round of ZooKeeper's own container manager, now instead of once a minute. */
final class ContainerReaper extends ContainerManager {
    private static final Duration DONE_WITHIN = Duration.ofSeconds(10);
    private static final int NO_PAUSE_BETWEEN = 1_000_000;

    private final List<String> asked = new ArrayList<>();

    private ContainerReaper(ZKDatabase database, RequestProcessor pipeline) {
        super(database, pipeline, Integer.MAX_VALUE, NO_PAUSE_BETWEEN);
    }

    static List<String> reap(ZKDatabase database, RequestProcessor pipeline) throws InterruptedException {
        ContainerReaper reaper = new ContainerReaper(database, pipeline);
        try {
            reaper.checkContainers();
        } finally {
            reaper.stop();
        }
        Eventually.holds("deletion of " + reaper.asked, DONE_WITHIN, () -> reaper.asked.stream()
                .allMatch(path -> goneOrUsedAgain(database.getNode(path))));
        return List.copyOf(reaper.asked);
    }

    private static boolean goneOrUsedAgain(DataNode node) {
        return node == null || !node.getChildren().isEmpty();
    }

    @Override
    protected Collection<String> getCandidates() {
        Collection<String> candidates = super.getCandidates();
        asked.addAll(candidates);
        return candidates;
    }
}
