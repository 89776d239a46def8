// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.testkit.LatchkeyTest;
import io.latchkey.testkit.proxy.Fault.HeldFrames;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.time.Eventually;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The command {@code watch} when it cannot reach a server for a while. */
@Tag("slow")
@LatchkeyTest(sessionMillis = 10_000)
@Timeout(300)
class WatchOutagesTest extends CommandFixture {
    private static final Duration SOON = Duration.ofSeconds(60);

    WatchOutagesTest(EmbeddedZooKeeper server, LockClient other) {
        super(server, other);
    }

    /** Starts it behind a proxy, on a held lock, and waits until it shows the holder. */
    private Program watch(FaultProxy proxy, Lease held, String path, String... more) throws InterruptedException {
        Program watch = start(
                Map.of("LATCHKEY_CONNECT", proxy.connectString(), "PATH", PATH),
                Stream.concat(Stream.of("watch", path, "--interval=50ms"), Stream.of(more))
                        .toArray(String[]::new));
        awaitSaid(watch, "granted", held.token());
        return watch;
    }

    private static void awaitSaid(Program watch, String change, long token) throws InterruptedException {
        Pattern line = Pattern.compile("Z +" + change + " +" + token + " ");
        Eventually.holds(
                change + " " + token, SOON, () -> line.matcher(watch.out()).find());
    }

    private static void awaitComplaint(Program watch, String text) throws InterruptedException {
        Eventually.holds("the complaint " + text, SOON, () -> watch.err().contains(text));
    }

    @Test
    void holderIsNotGone_whenNoServerAnswers() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server);
                Lease held = other.mutex("/outage/held").acquire()) {
            Program watch = watch(proxy, held, "/outage/held", "--session-timeout=2s");
            proxy.blackHole();
            awaitComplaint(watch, "not shown: /outage/held");
            proxy.heal();
            watch.signal("TERM");
            Program.Exit ended = watch.ended();
            assertFalse(ended.out().contains("gone"), ended::toString);
            assertEquals(2, ended.out().lines().count(), ended::toString);
            assertTrue(held.isValid());
        }
    }

    /** After the end of its sessions, and after a mere disconnect. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void releasesAreTold_afterAnInterruption(boolean expired) throws Exception {
        String path = "/outage/" + expired;
        try (FaultProxy proxy = FaultProxy.to(server)) {
            Lease before = other.mutex(path).acquire();
            Program watch = watch(proxy, before, path);
            if (expired) {
                for (long session : server.sessions()) {
                    if (session != other.session().id()) {
                        server.expireSession(session);
                    }
                }
            } else {
                proxy.cut();
            }
            awaitComplaint(watch, "was interrupted: a holder that released meanwhile is 'gone'");
            before.close();
            awaitSaid(watch, "released", before.token());
            Lease after = other.mutex(path).acquire();
            awaitSaid(watch, "granted", after.token());
            after.close();
            awaitSaid(watch, "released", after.token());
        }
    }

    /** A look waits for a server for as long as a session lasts, and a signal does not. */
    @Test
    void pageIsWritten_whenASignalComesWithoutAServer() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server);
                Lease held = other.mutex("/outage/page").acquire()) {
            Program watch = watch(proxy, held, "/outage/page", "--html=page.html", "--session-timeout=30s");
            HeldFrames answers = proxy.holdAnswers(RequestMatch.list());
            answers.firstCaught().get(SOON.toSeconds(), TimeUnit.SECONDS);
            watch.signal("TERM");
            assertEquals(143, watch.ended().status());
            String page = Files.readString(folder.resolve("page.html"));
            assertTrue(page.contains(Long.toString(held.token())) && page.endsWith("</html>\n"), page);
        }
    }
}
