// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.zk.ZkLockClient;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException;

/** Where a scenario is played, and what it prints: progress, claims that are true or not, and the verdict. */
final class ScenarioRun {
    private final Servers servers;
    private final ScenarioNodes nodes;
    private final boolean locked;
    private final PrintStream out;
    private boolean holds = true;

    ScenarioRun(Servers servers, ScenarioNodes nodes, boolean locked, PrintStream out) {
        this.servers = servers;
        this.nodes = nodes;
        this.locked = locked;
        this.out = out;
    }

    /** Looks at data. */
    interface Look<T> {
        T look() throws KeeperException, InterruptedException;
    }

    Servers servers() {
        return servers;
    }

    ScenarioNodes nodes() {
        return nodes;
    }

    /** Whether the clients take locks. */
    boolean isLocked() {
        return locked;
    }

    /** Says what the clients do under their locks. */
    void announce(String turns) {
        out.println(turns + (locked ? " Sessions are killed." : " WITHOUT LOCKS."));
    }

    /**
     * Checks under the lock as well: once this client holds it, no former holder can write any more.
     *
     * @param lock a lock that excludes all writers
     */
    <T> T audit(Function<LockClient, Acquirable> lock, Look<T> data) throws KeeperException, InterruptedException {
        try (LockClient auditor = ZkLockClient.builder()
                        .connectString(servers.fixture().connectString())
                        .basePath(nodes.root())
                        .build();
                Lease lease = lock.apply(auditor).acquire()) {
            T seen = data.look();
            lease.ensureValid();
            out.println();
            return seen;
        }
    }

    /** Shows the status every two seconds, and at the end. */
    void follow(Supplier<String> status, CountDownLatch end) throws InterruptedException {
        while (!end.await(2, TimeUnit.SECONDS)) {
            out.println(status.get());
        }
        out.println(status.get());
    }

    void claim(String claim, boolean isTrue) {
        out.println("  [%s] %s".formatted(isTrue ? "true" : "FALSE", claim));
        holds &= isTrue;
    }

    /**
     * Says the verdict, which holds if all claims are true.
     *
     * @param damage what is to be seen if they are not
     */
    boolean verdict(String damage) {
        String good = locked ? "the lock did what it promises" : "no harm done, by luck";
        String bad = locked ? "THE LOCK FAILED: " + damage : damage;
        out.println();
        out.println("VERDICT: " + (holds ? good : bad));
        return holds;
    }

    static String count(long value) {
        return String.format(Locale.ROOT, "%,d", value);
    }

    static String text(Duration time) {
        return time.compareTo(Duration.ofSeconds(1)) < 0
                ? time.toMillis() + " ms"
                : String.format(Locale.ROOT, "%.1f s", time.toMillis() / 1e3);
    }
}
