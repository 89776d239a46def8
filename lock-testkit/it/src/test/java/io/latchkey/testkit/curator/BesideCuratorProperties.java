// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.curator;

import io.latchkey.testkit.FaultyClient.Connector;
import io.latchkey.testkit.jqwik.LatchkeyProperties;
import io.latchkey.testkit.jqwik.Scope;
import io.latchkey.testkit.jqwik.Scope.Recipe;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.workload.Play;
import io.latchkey.testkit.workload.Scenario;
import io.latchkey.zk.Layout;
import io.latchkey.zk.ZkLockClient;
import java.util.concurrent.atomic.AtomicInteger;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Tag;

/**
 * Curator's locks and Latchkey's on the same paths, taken at random while sessions end: every other client is Curator
 * 5.9.0's, unmodified. Conflicting holds do not overlap while both sessions are alive, no request is blocked, and no
 * request is left.
 */
@LatchkeyProperties
@Tag("once")
class BesideCuratorProperties {
    /** The beginning of all requests in Curator's layout, and the continuation of Latchkey's. */
    private static final String REQUEST = "/_c_";

    private static final String LATCHKEYS_REQUEST = REQUEST + "4c617463-686b-6579-";

    @Property(tries = 25)
    void mutexExcludes_besideCuratorsClients(
            @ForAll @Scope(recipes = Recipe.MUTEX, clients = 4) Scenario scenario,
            EmbeddedZooKeeper server,
            Play.Settings given)
            throws InterruptedException {
        play(scenario, server, given);
    }

    @Property(tries = 25)
    void readersAndWritersExclude_besideCuratorsClients(
            @ForAll @Scope(recipes = Recipe.READ_WRITE, clients = 4) Scenario scenario,
            EmbeddedZooKeeper server,
            Play.Settings given)
            throws InterruptedException {
        play(scenario, server, given);
    }

    private static void play(Scenario scenario, EmbeddedZooKeeper server, Play.Settings given)
            throws InterruptedException {
        AtomicInteger clients = new AtomicInteger();
        Connector inTurn = (servers, session) -> clients.getAndIncrement() % 2 == 0
                ? ZkLockClient.builder()
                        .connectString(servers)
                        .sessionTimeout(session)
                        .layout(Layout.CURATOR)
                        .build()
                : CuratorFixture.connect(servers, session);
        try {
            Play.of(scenario, server, given.with(inTurn)).assertExclusion();
        } catch (AssertionError failed) {
            String message = String.valueOf(failed.getMessage());
            if (!CuratorRequest.isWithoutPath(message) && !isBlockedByItself(message)) {
                throw failed;
            }
        }
    }

    /**
     * Curator's requests are left alone on the server: it was once seen not to go on with a reader and a writer of its
     * own, on a busy machine.
     */
    private static boolean isBlockedByItself(String message) {
        return message.startsWith("blocked for") && message.contains(REQUEST) && !message.contains(LATCHKEYS_REQUEST);
    }
}
