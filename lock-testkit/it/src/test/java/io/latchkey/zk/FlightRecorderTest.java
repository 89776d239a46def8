// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LossCause;
import io.latchkey.testkit.SimulatedLocks;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.stream.Collectors;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a recording has of the locks, read back. */
@Timeout(60)
class FlightRecorderTest {
    private static final long LONG_NANOS = Duration.ofMillis(15).toNanos();

    @AutoClose
    private final SimulatedLocks locks = SimulatedLocks.start();

    private final LockClient client = locks.client("billing");
    private final LockClient other = locks.client();

    @TempDir
    private Path folder;

    private interface Play {
        void run() throws Exception;
    }

    /** The events of the locks while {@code play} ran. */
    private List<RecordedEvent> recorded(Recording recording, Play play) throws Exception {
        recording.start();
        play.run();
        recording.stop();
        return read(recording);
    }

    private List<RecordedEvent> read(Recording recording) throws IOException {
        Path file = folder.resolve("recording.jfr");
        recording.dump(file);
        return RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().startsWith("latchkey."))
                .sorted(Comparator.comparing(RecordedEvent::getStartTime))
                .toList();
    }

    private static Recording everything() {
        Recording recording = new Recording();
        for (String name : List.of("Requested", "Granted", "Released")) {
            recording.enable("latchkey." + name).withoutThreshold().withStackTrace();
        }
        return recording;
    }

    private static RecordedEvent one(List<RecordedEvent> events, String name, String path) {
        List<RecordedEvent> found = events.stream()
                .filter(event -> event.getEventType().getName().equals("latchkey." + name)
                        && event.getString("path").equals(path))
                .toList();
        assertEquals(1, found.size(), () -> name + " of " + path + " in " + events);
        return found.get(0);
    }

    /** Events of this class only: clients of other tests may run at the same time. */
    private static List<RecordedEvent> ours(List<RecordedEvent> events, String name) {
        return events.stream()
                .filter(event -> event.getEventType().getName().equals("latchkey." + name)
                        && event.getString("path").startsWith("/jfr/"))
                .toList();
    }

    private static boolean isFrom(String method, RecordedEvent event) {
        return event.getStackTrace().getFrames().stream()
                .anyMatch(frame -> frame.getMethod().getName().equals(method)
                        && frame.getMethod().getType().getName().equals(FlightRecorderTest.class.getName()));
    }

    /** Not parked: that may end at once. */
    private static void hold() {
        long start = System.nanoTime();
        while (System.nanoTime() - start < LONG_NANOS) {
            Thread.onSpinWait();
        }
    }

    private void holdForLong(String path) throws InterruptedException {
        Lease lease = client.mutex(path).acquire();
        hold();
        lease.close();
    }

    private void holdUninterruptiblyForLong(String path) {
        Lease lease = client.mutex(path).acquireUninterruptibly();
        hold();
        lease.close();
    }

    private void holdAViewForLong(String path) {
        Lock view = client.mutex(path).asLock();
        view.lock();
        try {
            hold();
        } finally {
            view.unlock();
        }
    }

    @Test
    void waitsAndHoldsHaveTheStackTracesOfTheirCallers() throws Exception {
        try (Recording recording = everything()) {
            List<RecordedEvent> events = recorded(recording, () -> {
                holdForLong("/jfr/lease");
                holdUninterruptiblyForLong("/jfr/uninterrupted");
                holdAViewForLong("/jfr/view");
            });
            for (String name : List.of("Requested", "Granted", "Released")) {
                assertTrue(isFrom("holdForLong", one(events, name, "/jfr/lease")), name);
                assertTrue(isFrom("holdUninterruptiblyForLong", one(events, name, "/jfr/uninterrupted")), name);
                assertTrue(isFrom("holdAViewForLong", one(events, name, "/jfr/view")), name);
            }
            for (String path : List.of("/jfr/lease", "/jfr/uninterrupted", "/jfr/view")) {
                Duration after = Duration.between(
                        one(events, "Granted", path).getEndTime(),
                        one(events, "Released", path).getEndTime());
                assertTrue(
                        after.toNanos() >= LONG_NANOS / 2,
                        () -> path + ": its wait ends " + after + " before the release");
            }
            RecordedEvent hold = one(events, "Released", "/jfr/lease");
            assertTrue(hold.getDuration().toNanos() >= LONG_NANOS, () -> "held " + hold);
            assertTrue(hold.getLong("token") > 0);
            assertEquals("mutex", hold.getString("lock"));
            assertEquals(
                    one(events, "Requested", "/jfr/lease").getLong("request"),
                    one(events, "Granted", "/jfr/lease").getLong("request"));
        }
    }

    @Test
    void everyEventIsThere() throws Exception {
        String ofTheClient = "0x" + Long.toHexString(locks.session(client));
        try (Recording recording = everything()) {
            List<RecordedEvent> events = recorded(recording, () -> {
                Lease first = other.mutex("/jfr/wait").acquire();
                CompletableFuture<Lease> waiting = client.mutex("/jfr/wait").acquireAsync();
                first.close();
                waiting.get(10, TimeUnit.SECONDS).close();

                Lease held = other.mutex("/jfr/busy").acquire();
                CompletableFuture<Optional<Lease>> tried =
                        client.mutex("/jfr/busy").tryAcquireAsync(Duration.ofSeconds(5));
                locks.advance(Duration.ofSeconds(5));
                assertEquals(Optional.empty(), tried.get(10, TimeUnit.SECONDS));
                held.close();

                client.mutex("/jfr/labelled").labelled("nightly run").acquire().close();
                Lease lost = client.mutex("/jfr/lost").acquire();
                locks.advance(Duration.ofSeconds(3));
                locks.disconnect(client);
                locks.heal(client);
                locks.expire(client);
                assertEquals(
                        LossCause.SESSION_EXPIRED,
                        lost.lost().toCompletableFuture().join());
            });
            RecordedEvent queued = ours(events, "Queued").get(0);
            assertEquals("/jfr/wait", queued.getString("path"));
            assertEquals(1, queued.getInt("position"));
            RecordedEvent late = one(events, "NotGranted", "/jfr/busy");
            assertNotNull(one(events, "Granted", "/jfr/busy"), "the holder's alone");
            assertEquals("TIMED_OUT", late.getString("failure"));
            assertEquals(Duration.ofSeconds(5), late.getDuration("waited"));
            RecordedEvent lost = one(events, "Lost", "/jfr/lost");
            assertEquals("SESSION_EXPIRED", lost.getString("cause"));
            assertEquals("billing", lost.getString("label"), "the client's");
            assertEquals("nightly run", one(events, "Granted", "/jfr/labelled").getString("label"), "the request's");
            assertEquals(ofTheClient, lost.getString("session"));
            assertEquals(Duration.ofSeconds(3), lost.getDuration("held"));
            assertEquals(one(events, "Granted", "/jfr/lost").getLong("token"), lost.getLong("token"));
            assertNull(lost.getStackTrace());
            assertEquals(
                    List.of("/jfr/wait", "/jfr/wait", "/jfr/busy", "/jfr/labelled"),
                    ours(events, "Released").stream()
                            .map(event -> event.getString("path"))
                            .toList());
            List<Long> suspected = ours(events, "Suspect").stream()
                    .map(event -> event.getLong("token"))
                    .toList();
            assertEquals(
                    List.of(lost.getLong("token"), lost.getLong("token")), suspected, "once for each disconnection");
            // The event names no client; a simulation emits it on the thread that causes it.
            long me = Thread.currentThread().getId();
            List<String> session = events.stream()
                    .filter(event -> event.getEventType().getName().equals("latchkey.Session")
                            && event.getThread().getJavaThreadId() == me)
                    .map(event -> event.getString("state"))
                    .toList();
            assertEquals(List.of("DISCONNECTED", "CONNECTED", "DISCONNECTED", "EXPIRED", "CONNECTED"), session);
        }
    }

    @Test
    void onlyLongWaitsAndFailuresAreRecorded_withoutSettings() throws Exception {
        try (Recording recording = new Recording()) {
            List<RecordedEvent> events = recorded(recording, () -> {
                locks.client().mutex("/jfr/warm").acquire().close();
                for (int i = 0; i < 20; i++) {
                    client.mutex("/jfr/short").acquire().close();
                }
                holdForLong("/jfr/long");
                Lease held = other.mutex("/jfr/contended").acquire();
                Thread waiting = new Thread(() -> holdAViewForLong("/jfr/contended"));
                waiting.start();
                while (other.mutex("/jfr/contended").queue().size() < 2) {
                    Thread.onSpinWait();
                }
                hold();
                held.close();
                waiting.join();
            });
            assertTrue(
                    events.stream()
                                    .filter(event -> event.hasField("path")
                                            && event.getString("path").equals("/jfr/short"))
                                    .count()
                            < 20,
                    "short ones are left out");
            assertEquals(
                    List.of(),
                    events.stream()
                            .filter(event -> event.getEventType().getName().equals("latchkey.Requested"))
                            .toList());
            assertNotNull(one(events, "Released", "/jfr/long").getStackTrace());
            RecordedEvent waited = events.stream()
                    .filter(event -> event.getEventType().getName().equals("latchkey.Granted")
                            && event.getString("path").equals("/jfr/contended")
                            && isFrom("holdAViewForLong", event))
                    .findFirst()
                    .orElseThrow();
            assertFalse(waited.getDuration().minusNanos(LONG_NANOS).isNegative());
        }
    }

    @Test
    void missionControlShowsThemUnderOneCategoryWithNames() throws Exception {
        try (Recording recording = everything()) {
            List<RecordedEvent> events = recorded(recording, () -> holdForLong("/jfr/names"));
            RecordedEvent event = one(events, "Released", "/jfr/names");
            assertEquals("Lock Released", event.getEventType().getLabel());
            assertEquals(List.of("Latchkey"), event.getEventType().getCategoryNames());
            assertEquals(
                    new TreeSet<>(List.of("path", "lock", "request", "token", "label", "session")),
                    event.getEventType().getFields().stream()
                            .map(field -> field.getName())
                            .filter(name -> !List.of("startTime", "duration", "eventThread", "stackTrace")
                                    .contains(name))
                            .collect(Collectors.toCollection(TreeSet::new)));
        }
    }
}
