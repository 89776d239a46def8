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
import io.latchkey.testkit.LatchkeyTest;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.testkit.time.Slowness;
import io.latchkey.zk.ZkLockClient;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The command {@code watch} beside a load of ours, and its page in a browser. */
@Tag("slow")
@LatchkeyTest(sessionMillis = 10_000)
@Timeout(300)
class WatchTest {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final String HOSTILE = "<script>alert(1)</script>\"'&<img src=//evil.example/x>";

    @TempDir
    private Path folder;

    private final EmbeddedZooKeeper server;
    private final LockClient other;

    WatchTest(EmbeddedZooKeeper server, LockClient other) {
        this.server = server;
        this.other = other;
    }

    private InThisJvm.Running watch(String path, int seconds, String interval, String... more) {
        List<String> args = new ArrayList<>(List.of(
                path,
                "--for=" + Slowness.stretched(Duration.ofSeconds(seconds)).toSeconds(),
                "--interval=" + interval));
        args.addAll(List.of(more));
        return InThisJvm.start(server.connectString(), "watch", args.toArray(String[]::new));
    }

    /** Waits until the watch has said this of a request. */
    private static void awaitSaid(InThisJvm.Running watch, String change, long token) throws InterruptedException {
        String text = change + "\\s+" + token + "\\D.*";
        String json = "\"change\":\"" + change + "\",\"token\":" + token + ",.*";
        Pattern said = Pattern.compile(".*(" + text + "|" + json + ")");
        Eventually.holds(
                change + " " + token,
                SOON,
                () -> watch.lines().stream().anyMatch(line -> said.matcher(line).matches())
                        || watch.end().isDone());
        assertFalse(watch.end().isDone(), () -> watch.end().join().toString());
    }

    /** Waits until the watch shows a hold and its end: from then on it looks, and hears of marks. */
    private long awaitWatch(InThisJvm.Running watch, String path) throws InterruptedException {
        long token;
        try (Lease first = other.mutex(path).acquire()) {
            token = first.token();
            awaitSaid(watch, "granted", token);
        }
        awaitSaid(watch, "released", token);
        return token;
    }

    private static Map<Long, List<String>> changes(Program.Ended ended) {
        Map<Long, List<String>> changes = new HashMap<>();
        ended.out().lines().forEach(line -> {
            JsonObject event = JsonParser.parseString(line).getAsJsonObject();
            changes.computeIfAbsent(event.get("token").getAsLong(), none -> new ArrayList<>())
                    .add(event.get("change").getAsString());
        });
        return changes;
    }

    @Test
    void endsAreToldApart() throws Exception {
        InThisJvm.Running watch = watch("/watch/ends", 9, "20ms", "--json");
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

        Program.Ended ended = watch.end().get(150, TimeUnit.SECONDS);
        assertEquals(0, ended.status(), ended::toString);
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
        InThisJvm.Running watch = watch("/watch/short", 9, "1s", "--json");
        Set<Long> held = new HashSet<>(Set.of(awaitWatch(watch, "/watch/short")));
        for (int n = 0; n < 100; n++) {
            try (Lease lease = other.mutex("/watch/short").acquire()) {
                held.add(lease.token());
            }
        }
        Program.Ended ended = watch.end().get(150, TimeUnit.SECONDS);
        Map<Long, List<String>> changes = changes(ended);
        assertEquals(held, changes.keySet(), ended::toString);
        assertTrue(
                changes.values().stream()
                        .allMatch(each -> each.get(each.size() - 1).equals("released")),
                ended::toString);
    }

    @Test
    void pageShowsTheLoad_andIsHarmless() throws Exception {
        Path page = folder.resolve("lock.html");
        InThisJvm.Running watch = watch("/watch/page", 6, "20ms", "--html=" + page);
        long unused = awaitWatch(watch, "/watch/page");
        List<CompletableFuture<Void>> load = IntStream.range(0, 4)
                .mapToObj(n -> CompletableFuture.runAsync(() -> work(n == 0 ? HOSTILE : "worker " + n)))
                .toList();
        load.forEach(CompletableFuture::join);
        Program.Ended ended = watch.end().get(150, TimeUnit.SECONDS);
        assertEquals(0, ended.status(), ended::toString);

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
