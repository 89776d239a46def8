// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.curator;

import io.latchkey.lock.LockClient;
import io.latchkey.testkit.contract.LockFixture.Feature;
import io.latchkey.testkit.contract.ServerFixture;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator on a server, each client behind a proxy of its own. */
public final class CuratorFixture extends ServerFixture {
    private static final int CONNECTS_WITHIN_SECONDS = 10;
    private static final int FIRST_PAUSE_MILLIS = 100;
    private static final int RETRIES = 8;

    CuratorFixture() {
        super(CuratorFixture::connect);
    }

    public static LockClient connect(String connectString, Duration session) {
        int timeout = (int) session.toMillis();
        CuratorFramework framework = CuratorFrameworkFactory.newClient(
                connectString, timeout, timeout, new ExponentialBackoffRetry(FIRST_PAUSE_MILLIS, RETRIES, 1000));
        framework.start();
        try {
            if (!framework.blockUntilConnected(CONNECTS_WITHIN_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("Curator does not connect");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while Curator connects", interrupted);
        }
        return new CuratorLockClient(framework);
    }

    @Override
    public Map<Feature, String> lacking() {
        return Map.ofEntries(
                Map.entry(Feature.TOKENS, "Curator has no fencing tokens"),
                Map.entry(Feature.CONTENDER_DETAILS, "participant nodes tell nothing but their names"),
                Map.entry(Feature.DEADLINES, "Curator's locks know no deadline"),
                Map.entry(Feature.TIMEOUT_REASONS, "Curator does not say why a timed acquire got nothing"),
                Map.entry(Feature.RELEASE_OUTCOMES, "release returns nothing"),
                Map.entry(Feature.KINDS, "a path has no kind"),
                Map.entry(Feature.STRIPED_MUTEXES, "Curator has none"),
                Map.entry(Feature.PATH_RULES, "Curator has rules and exceptions of its own"),
                Map.entry(Feature.PERMIT_COUNTS, "Curator does not tell permits from those that wait"),
                Map.entry(Feature.RESIZING, "Curator has it with a SharedCount only"),
                Map.entry(Feature.ADMINISTRATION, "makeRevocable and Revoker are not on lock-api's terms"),
                Map.entry(Feature.LABELS, "requests carry the address of their client"),
                Map.entry(Feature.LIMITS, "a holder keeps a lock for as long as its session lives"),
                Map.entry(Feature.GRACE, "closing the client ends its session at once"),
                Map.entry(Feature.SESSION_VIEWS, "a connection listener, not a question"),
                Map.entry(Feature.LISTINGS, "Curator has no list of locks"),
                Map.entry(Feature.ASYNC_QUESTIONS, "Curator's questions wait"),
                Map.entry(Feature.OWN_CONTENDERS, "participant nodes tell nothing but their names"),
                Map.entry(Feature.DOWNGRADES, "only by the thread: see the view"));
    }

    @Override
    public Duration patience() {
        return Duration.ofSeconds(6);
    }
}
