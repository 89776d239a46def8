// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.Owner;
import io.latchkey.lock.admin.Contender;
import io.latchkey.testkit.LatchkeyTest;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.zk.ZkLockClient;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The command {@code watch} beside a load of ours, and its page in a browser. */
@Tag("slow")
@LatchkeyTest(sessionMillis = 10_000)
@Timeout(300)
class WatchTest extends CommandFixture {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final long HELD_MILLIS = 600;
    private static final String HOSTILE = "<script>alert(1)</script>\"'&<img src=//evil.example/x>";

    WatchTest(EmbeddedZooKeeper server, LockClient other) {
        super(server, other);
    }

    /** A process: a signal ends it when the test has seen what it waits for, where a time might end before. */
    private Program watch(String path, String interval, String... more) {
        List<String> args = new ArrayList<>(List.of("watch", path, "--interval=" + interval));
        args.addAll(List.of(more));
        return start(args.toArray(String[]::new));
    }

    private static Program.Exit interrupted(Program watch) throws Exception {
        watch.signal("INT");
        Program.Exit ended = watch.ended();
        assertEquals(130, ended.status(), ended::toString);
        return ended;
    }

    private static void awaitLine(Program watch, String regex) throws InterruptedException {
        Pattern wanted = Pattern.compile("(?m)^" + regex + "\\R");
        Eventually.holds(
                regex,
                SOON,
                () -> wanted.matcher(watch.out()).find() || !watch.process().isAlive());
        assertTrue(watch.process().isAlive(), () -> watch.out() + watch.err());
    }

    /** Waits until the watch has said this of a request. */
    private static void awaitSaid(Program watch, String change, long token) throws InterruptedException {
        String text = change + "\\s+" + token + "\\D.*";
        String json = "\"change\":\"" + change + "\",\"token\":" + token + ",.*";
        awaitLine(watch, ".*(" + text + "|" + json + ")");
    }

    /** Waits until the watch shows a hold and its end: from then on it looks, and hears of marks. */
    private long awaitWatch(Program watch, String path) throws InterruptedException {
        long token;
        try (Lease first = other.mutex(path).acquire()) {
            token = first.token();
            awaitSaid(watch, "granted", token);
        }
        awaitSaid(watch, "released", token);
        return token;
    }

    private static Map<Long, List<String>> changes(Program.Exit ended) {
        Map<Long, List<String>> changes = new HashMap<>();
        ended.out().lines().forEach(line -> {
            JsonObject event = JsonParser.parseString(line).getAsJsonObject();
            changes.computeIfAbsent(event.get("token").getAsLong(), none -> new ArrayList<>())
                    .add(event.get("change").getAsString());
        });
        return changes;
    }

    @Test
    void watchLastsForItsTime() {
        long begin = System.nanoTime();
        Program.Exit ended = latchkey("watch", "/watch/none", "--for=1s", "--interval=20ms");
        assertEquals(new Program.Exit(0, "", ""), ended);
        assertTrue(System.nanoTime() - begin >= TimeUnit.SECONDS.toNanos(1));
    }

    @Test
    void endsAreToldApart() throws Exception {
        Program watch = watch("/watch/ends", "20ms", "--json");
        Lease released = other.mutex("/watch/ends").acquire();
        awaitSaid(watch, "granted", released.token());
        CompletableFuture<Lease> waiter = other.mutex("/watch/ends").acquireAsync();
        Eventually.holds(
                "a waiter", SOON, () -> other.mutex("/watch/ends").queue().size() == 2);
        long left = other.mutex("/watch/ends").queue().get(1).token();
        awaitSaid(watch, "asked", left);
        waiter.cancel(false);
        awaitSaid(watch, "left", left);
        released.close();
        awaitSaid(watch, "released", released.token());
        Lease evicted = other.mutex("/watch/ends").acquire();
        awaitSaid(watch, "granted", evicted.token());
        other.mutex("/watch/ends").queue().get(0).evict();
        awaitSaid(watch, "gone", evicted.token());
        long expired;
        try (LockClient dying = ZkLockClient.connect(server.connectString())) {
            expired = dying.mutex("/watch/ends").acquire().token();
            awaitSaid(watch, "granted", expired);
            server.expireSession(dying.session().id());
            awaitSaid(watch, "gone", expired);
        }

        Program.Exit ended = interrupted(watch);
        assertEquals("", ended.err());
        Map<Long, List<String>> changes = changes(ended);
        assertAll(
                () -> assertEquals(List.of("asked", "granted", "released"), changes.get(released.token())),
                () -> assertEquals(List.of("asked", "left"), changes.get(left)),
                () -> assertEquals(List.of("asked", "granted", "gone"), changes.get(evicted.token())),
                () -> assertEquals(List.of("asked", "granted", "gone"), changes.get(expired)));
    }

    /** Far shorter than the interval: what a look does not show, the watch on the path does. */
    @Test
    void shortHoldsAreSeen() throws Exception {
        Program watch = watch("/watch/short", "1s", "--json");
        Set<Long> held = new HashSet<>(Set.of(awaitWatch(watch, "/watch/short")));
        long last = 0;
        for (int n = 0; n < 100; n++) {
            try (Lease lease = other.mutex("/watch/short").acquire()) {
                last = lease.token();
                held.add(last);
            }
        }
        awaitSaid(watch, "released", last);
        Program.Exit ended = interrupted(watch);
        Map<Long, List<String>> changes = changes(ended);
        assertEquals(held, changes.keySet(), ended::toString);
        assertEquals(Set.of(List.of("asked", "granted", "released")), Set.copyOf(changes.values()), ended::toString);
    }

    /** The times are those of the events, not of the looks. */
    @Test
    void holdsAreTimed_whenTheyAreShorterThanTheInterval() throws Exception {
        Path page = folder.resolve("short.html");
        Program watch = watch("/watch/timed", "4s", "--json", "--html=" + page);
        Set<Long> before = Set.of(awaitWatch(watch, "/watch/timed"));
        Set<Long> tokens = new HashSet<>();
        for (int n = 0; n < 4; n++) {
            Lease first = other.mutex("/watch/timed").acquire();
            CompletableFuture<Lease> second = other.mutex("/watch/timed").acquireAsync();
            Thread.sleep(HELD_MILLIS);
            first.close();
            try (Lease last = second.get(20, TimeUnit.SECONDS)) {
                Thread.sleep(HELD_MILLIS);
                tokens.addAll(List.of(first.token(), last.token()));
            }
        }
        awaitSaid(watch, "released", Collections.max(tokens));
        Program.Exit ended = interrupted(watch);
        assertFalse(tokens.isEmpty() || before.isEmpty());
        List<JsonObject> ends = ended.out()
                .lines()
                .map(line -> JsonParser.parseString(line).getAsJsonObject())
                .filter(line -> tokens.contains(line.get("token").getAsLong()))
                .filter(line -> line.get("change").getAsString().equals("released"))
                .toList();
        assertEquals(tokens.size(), ends.size(), ended::toString);
        for (JsonObject end : ends) {
            double seconds = end.get("heldSeconds").getAsDouble();
            // Of the interval, and not of a stall that delays what the watch hears of a begin or an end.
            assertTrue(seconds > 0.05 && seconds < 3.5, () -> end + " of " + ended);
        }
        assertFalse(Files.readString(page).contains("Left out: "), "the grants are known");
    }

    /** What the page makes of these requests, each of which holds in turn. */
    private static WatchPage page(List<Owner> owners) throws InterruptedException {
        WatchedLock lock = new WatchedLock(Optional.empty());
        Instant begin = Instant.parse("2026-01-01T00:00:00Z");
        lock.look(List.of(), begin, begin);
        for (int n = 0; n < owners.size(); n++) {
            Instant now = begin.plusSeconds(n + 1L);
            lock.look(List.of(contender(Contender.State.HOLDING, n + 1, owners.get(n))), now, now);
        }
        Instant end = begin.plusSeconds(owners.size() + 10L);
        lock.look(List.of(), end, end);
        return new WatchPage("/lanes", begin, end, Duration.ofSeconds(1), lock);
    }

    private static List<String> lanes(String html) {
        return Pattern.compile("<div class=\"lane\"><span class=\"who\"><bdi>([^<]*)<")
                .matcher(html)
                .results()
                .map(lane -> lane.group(1))
                .toList();
    }

    @Test
    void runsOfOneJobHaveOneLane() throws Exception {
        String html = page(IntStream.range(0, 25)
                        .mapToObj(n -> new Owner("app-1", "report.sh", 4000 + n))
                        .toList())
                .text();
        assertEquals(List.of("app-1, report.sh"), lanes(html));
        assertTrue(html.contains("token 25, process 4024"), html);
    }

    /** The last one holds for the longest time. */
    @Test
    void longestHoldersAreKept_whenThereAreTooManyLanes() throws Exception {
        String html = page(IntStream.range(0, 65)
                        .mapToObj(n -> new Owner("app-" + n, "report.sh", 7))
                        .toList())
                .text();
        assertEquals(60, lanes(html).size());
        assertTrue(lanes(html).contains("app-64, report.sh"), lanes(html)::toString);
        assertTrue(html.contains("5 of 65 owners are left out"), html);
    }

    @Test
    void clientsThatCannotBeReadHaveLanesOfTheirOwn() throws Exception {
        Owner unreadable = new Owner("", "", 0);
        String html = page(List.of(unreadable, unreadable)).text();
        assertEquals(
                List.of("a client that cannot be read, token 1", "a client that cannot be read, token 2"), lanes(html));
        assertFalse(html.contains("between two looks</bdi>"), html);
    }

    /** A hold that no look has seen, and whose grant the watch may have missed, is no hold of 0 ms. */
    @Test
    void holdWithoutAKnownGrantIsLeftOut() throws Exception {
        ZooKeeper handle = new ZooKeeper("127.0.0.1:1", 10_000, event -> {});
        ReleaseMarks marks = new ReleaseMarks("/left", handle);
        try {
            WatchedLock lock = new WatchedLock(Optional.of(marks));
            Instant begin = Instant.now();
            List<WatchedLock.Event> first = lock.look(List.of(), begin, begin);
            for (long token = 5; token < 9; token += 3) {
                String node = "/left/write-0123456789abcdef-000000000" + token;
                marks.seen(event(EventType.NodeCreated, node, token));
                if (token == 5) {
                    marks.seen(new WatchedEvent(EventType.None, KeeperState.Disconnected, null));
                }
                Thread.sleep(20);
                marks.seen(event(EventType.NodeDataChanged, node, token + 1));
                marks.seen(event(EventType.NodeDeleted, node, token + 1));
            }
            List<String> changes = lock.finish(Instant.now()).stream()
                    .map(event -> event.change() + " " + event.request().token() + " "
                            + event.request().held().isPresent())
                    .toList();
            assertEquals(List.of(), first);
            assertEquals(
                    List.of(
                            "ASKED 5 false",
                            "GRANTED 5 false",
                            "RELEASED 5 false",
                            "ASKED 8 true",
                            "GRANTED 8 true",
                            "RELEASED 8 true"),
                    changes);
            String html = new WatchPage("/left", begin, Instant.now(), Duration.ofSeconds(1), lock).text();
            assertTrue(html.contains("Left out: 1 hold whose time of grant is unknown."), html);
            assertTrue(html.contains("held until the end</td><td class=\"n\">1<"), html);
        } finally {
            handle.close();
        }
    }

    /** The path of a lock below it, which only ends in ten digits. */
    @Test
    void pathBelowIsNoRequest() throws Exception {
        ZooKeeper handle = new ZooKeeper("127.0.0.1:1", 10_000, event -> {});
        try {
            ReleaseMarks marks = new ReleaseMarks("/above", handle);
            marks.seen(event(EventType.NodeCreated, "/above/order-1234567890", 5));
            marks.seen(event(EventType.NodeCreated, "/above/write-0000000000000009-0000000001", 9));
            assertTrue(marks.granted(9, true).isPresent(), "nothing is ahead of it");
            marks.seen(event(EventType.NodeDeleted, "/above/order-1234567890", 12));
            assertTrue(marks.take(5).isEmpty(), "no request has ended");
        } finally {
            handle.close();
        }
    }

    private static WatchedEvent event(EventType type, String node, long zxid) {
        return new WatchedEvent(type, KeeperState.SyncConnected, node, zxid);
    }

    /** Its node is for itself only, below a path that all may read. */
    @Test
    void holderIsShown_whenItCannotBeRead() throws Exception {
        String path = "/watch/unreadable";
        Program watch = watch(path, "100ms");
        long readable = awaitWatch(watch, path);
        Program.Exit ended;
        try (LockClient theirs = strictClient()) {
            Lease secret = theirs.mutex(path).acquire();
            assertEquals(0, other.mutex(path).queue().get(0).token());
            assertTrue(secret.token() > readable);
            awaitLine(watch, ".*  granted .*read");
            secret.close();
            awaitLine(watch, ".*  (released|gone) .*read");
            ended = interrupted(watch);
            assertEquals("", ended.err());
        }
        List<String> theirs = ended.out()
                .lines()
                .filter(line -> line.endsWith("  a client that cannot be read"))
                .toList();
        assertEquals(3, theirs.size(), ended::toString);
        assertFalse(ended.out().contains("(between two looks)"), ended::toString);
    }

    @Test
    void pageShowsTheLoad_andIsHarmless() throws Exception {
        Path page = folder.resolve("lock.html");
        Program watch = watch("/watch/page", "20ms", "--html=" + page);
        long first = awaitWatch(watch, "/watch/page");
        List<CompletableFuture<Void>> load = IntStream.range(0, 4)
                .mapToObj(n -> CompletableFuture.runAsync(() -> work(n == 0 ? HOSTILE : "worker " + n)))
                .toList();
        load.forEach(CompletableFuture::join);
        assertTrue(awaitWatch(watch, "/watch/page") > first);
        Program.Exit ended = interrupted(watch);
        assertEquals("", ended.err());

        String html = Files.readString(page);
        assertFalse(html.contains("<script") || html.contains("<img"), html);
        assertTrue(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), html);
        assertFalse(html.matches("(?s).*<[^>]*\\s(src|href)\\s*=.*"), "nothing from elsewhere");
        assertTrue(html.contains("default-src 'none'"), html);
        assertTrue(html.contains("worker 3") && html.contains("class=\"h\""), html);

        Optional<String> chromium = chromium();
        if (chromium.isEmpty()) {
            System.out.println("chromium is not installed: the page was not looked at");
        }
        assumeTrue(chromium.isPresent(), "chromium is not installed: the page was not looked at");
        Path wide = picture(chromium.get(), page, 1200, false);
        Path narrow = picture(chromium.get(), page, 400, false);
        Path dark = picture(chromium.get(), page, 1200, true);
        String dump = browser(chromium.get(), page, "--dump-dom");
        assertTrue(dump.contains("worker 1") && dump.contains("&lt;script&gt;"), dump);
        BufferedImage light = ImageIO.read(wide.toFile());
        assertEquals(1200, light.getWidth());
        assertTrue(brightness(light) > 200, "light: " + brightness(light));
        int darkness = brightness(ImageIO.read(dark.toFile()));
        assertTrue(darkness < 80, "dark: " + darkness);
        BufferedImage small = ImageIO.read(narrow.toFile());
        assertEquals(400, small.getWidth());
    }

    private void work(String label) {
        try (LockClient client = ZkLockClient.builder()
                .connectString(server.connectString())
                .ownerLabel(label)
                .build()) {
            for (int n = 0; n < 5; n++) {
                try (Lease lease = client.mutex("/watch/page").acquire()) {
                    Thread.sleep(120);
                    assertTrue(lease.isValid());
                }
            }
        } catch (InterruptedException none) {
            throw new AssertionError(none);
        }
    }

    private static int brightness(BufferedImage picture) {
        int rgb = picture.getRGB(3, 3);
        return ((rgb >> 16 & 255) + (rgb >> 8 & 255) + (rgb & 255)) / 3;
    }

    // ---- a browser

    private static Optional<String> chromium() {
        for (String name : List.of("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")) {
            if (Files.isExecutable(Path.of(name))) {
                return Optional.of(name);
            }
        }
        return Optional.empty();
    }

    private Path picture(String chromium, Path page, int width, boolean dark) throws Exception {
        Path file = folder.resolve("page-" + width + (dark ? "-dark" : "") + ".png");
        List<String> args = new ArrayList<>(
                List.of("--screenshot=" + file, "--window-size=" + width + ",1000", "--hide-scrollbars"));
        if (dark) {
            args.add("--blink-settings=preferredColorScheme=0");
        }
        browser(chromium, page, args.toArray(String[]::new));
        Path kept = Path.of("target", "watch-" + file.getFileName());
        Files.write(kept, Files.readAllBytes(file));
        return file;
    }

    private String browser(String chromium, Path page, String... args) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                chromium,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--user-data-dir=" + folder.resolve("profile"),
                "--virtual-time-budget=2000"));
        command.addAll(List.of(args));
        command.add(page.toUri().toString());
        Path out = folder.resolve("browser.out");
        Process browser = new ProcessBuilder(command)
                .redirectOutput(out.toFile())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        assertTrue(browser.waitFor(120, TimeUnit.SECONDS), "the browser is slow");
        assertEquals(0, browser.exitValue(), "the browser's exit status");
        return Files.readString(out);
    }
}
