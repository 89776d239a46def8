// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.server.EmbeddedZooKeeper;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The simulation says what a real server says: to the same script of requests the same answers, zxids in the same order
 * and the same watch events, each at the same place. {@code -Dlatchkey.scripts=} plays more of them,
 * {@code -Dlatchkey.seed=} from another one on.
 */
@Tag("slow")
class DifferentialTest {
    private static final int SCRIPTS = Integer.getInteger("latchkey.scripts", 60);
    private static final long FIRST = Long.getLong("latchkey.seed", 1);
    private static final int CONTEXT = 12;

    @Test
    void simulationRespondsAsAServer() throws Exception {
        Set<String> told = new HashSet<>();
        for (long seed = FIRST; seed < FIRST + SCRIPTS; seed++) {
            List<String> real;
            List<String> simulated;
            try (EmbeddedZooKeeper zooKeeper = EmbeddedZooKeeper.start();
                    TestServer server = new RealTestServer(zooKeeper)) {
                zooKeeper.holdExpiry();
                real = new RequestScript(seed, server).play();
            }
            try (TestServer server = new SimulatedTestServer()) {
                simulated = new RequestScript(seed, server).play();
            }
            assertAlike(seed, real, simulated);
            real.forEach(line -> told.add(line.strip().replaceAll("^S\\d ", "").replaceAll(" .*", "")));
        }
        Set<String> all = Set.of(
                "created",
                "children",
                "data",
                "written,",
                "refused",
                "failed:",
                "DATA",
                "CHILDREN",
                "DELETED",
                "expired");
        assertTrue(told.containsAll(all), () -> "never reached: " + all + " but " + told);
    }

    private static void assertAlike(long seed, List<String> real, List<String> simulated) {
        int same = 0;
        while (same < real.size() && same < simulated.size() && real.get(same).equals(simulated.get(same))) {
            same++;
        }
        if (same < real.size() || same < simulated.size()) {
            throw new AssertionError("script " + seed + ", after " + same + " lines that were alike\n"
                    + String.join("\n", real.subList(Math.max(0, same - CONTEXT), same)) + "\n-- the server\n"
                    + String.join("\n", real.subList(same, Math.min(real.size(), same + CONTEXT)))
                    + "\n-- the simulation\n"
                    + String.join("\n", simulated.subList(same, Math.min(simulated.size(), same + CONTEXT))));
        }
    }
}
