// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.latchkey.docs.Docs;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.testkit.LatchkeyTest;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.time.Eventually;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Commands that need no process of their own, in the JVM of the tests; their JSON and the list of exit statuses. */
@Tag("slow")
@LatchkeyTest(sessionMillis = 10_000)
@Timeout(120)
class CommandsTest extends CommandFixture {
    private static final Duration SOON = Duration.ofSeconds(20);

    CommandsTest(EmbeddedZooKeeper server, LockClient other) {
        super(server, other);
    }

    private static String out(Program.Exit ended) {
        assertEquals(0, ended.status(), ended::toString);
        assertEquals("", ended.err());
        return ended.out();
    }

    // ---- acting

    @Test
    void ask_notifiesAHolderThatListens() throws Exception {
        try (Lease held = other.mutex("/ask").acquire()) {
            String token = Long.toString(held.token());
            Program.Exit deaf = latchkey("ask", "/ask", token);
            assertEquals(66, deaf.status(), deaf::toString);
            assertTrue(deaf.err().contains("does not listen. Nothing was changed. 'latchkey evict'"), deaf::toString);

            CompletableFuture<?> wish = held.releaseRequested().toCompletableFuture();
            AtomicReference<Program.Exit> last = new AtomicReference<>(deaf);
            Eventually.holds("a holder that listens", SOON, () -> {
                last.set(latchkey("ask", "/ask", token));
                return last.get().status() != 66;
            });
            String asked = out(last.get());
            assertTrue(asked.startsWith("asked the holder with token " + token + " at /ask: "), asked);
            Object heard = wish.get(20, TimeUnit.SECONDS);
            assertTrue(heard != null && held.isValid());
        }
        Program.Exit gone = latchkey("ask", "/ask", "17");
        assertEquals(66, gone.status(), gone::toString);
        assertTrue(gone.err().contains("no request with token 17 at /ask"), gone::toString);
    }

    @Test
    void resize_changesTheCapacity() throws Exception {
        try (Lease one = other.semaphore("/resize", 2).acquire();
                Lease mutex = other.mutex("/no-semaphore").acquire()) {
            assertEquals("/resize: 2 -> 5\n", out(latchkey("resize", "/resize", "5")));
            assertEquals(5, other.semaphore("/resize", 2).capacity());
            assertEquals("/resize: 5 -> 4\n", out(latchkey("resize", "/resize", "4")));
            assertTrue(one.isValid() && mutex.isValid());
            assertEquals(78, latchkey("resize", "/no-semaphore", "5").status());
            assertEquals(78, latchkey("resize", "/nothing", "5").status());
            assertEquals(64, latchkey("resize", "/resize", "0").status());
        }
    }

    @Test
    void ping_saysWhatWorks_andWhatToDo() throws Exception {
        List<String> said = out(latchkey("ping", "/ping", "--acquire")).lines().toList();
        assertEquals(5, said.size(), said::toString);
        assertTrue(
                said.get(0).matches("connection  in .*, session 0x[0-9a-f]+, session timeout \\d+s"), said::toString);
        assertEquals("login       none by --auth", said.get(1));
        assertEquals("reading     allowed", said.get(2));
        assertTrue(said.get(3).matches("round trip  \\S+ \\(median of 7 .*"), said::toString);
        assertTrue(said.get(4).matches("acquiring   acquired and released in .*, token \\d+"), said::toString);

        try (LockClient theirs = strictClient();
                Lease mine = theirs.mutex("/ping-mine").acquire();
                Lease held = other.mutex("/ping-held").acquire()) {
            Program.Exit denied = latchkey("ping", "/ping-mine", "--auth=digest:you:yours");
            assertEquals(77, denied.status(), denied::toString);
            assertTrue(denied.out().contains("login       digest"), denied::toString);
            assertTrue(denied.err().contains("Check the ACL"), denied::toString);
            assertEquals(75, latchkey("ping", "/ping-held", "--acquire").status());
            assertTrue(mine.isValid() && held.isValid());
        }
        Program.Exit nowhere = InThisJvm.latchkey("127.0.0.1:1", "ping", "/ping", "--connect-timeout=300ms");
        assertEquals(69, nowhere.status(), nowhere::toString);
        assertEquals("", nowhere.out());
    }

    @Test
    void ping_warnsOfAChrootThatDidNotExist() {
        String servers = server.connectString() + "/typo";
        Program.Exit first = InThisJvm.latchkey(servers, "ping", "/ping");
        assertEquals(0, first.status(), first::toString);
        assertTrue(
                first.err().startsWith("latchkey: the chroot /typo of the connect string did not exist"),
                first::toString);
        assertEquals("", InThisJvm.latchkey(servers, "ping", "/ping").err());
    }

    // ---- top, without a terminal

    @Test
    void top_printsALineForEachLock() throws Exception {
        try (Lease one = other.mutex("/top/busy").acquire();
                Lease two = other.mutex("/top/calm").acquire()) {
            List<CompletableFuture<Lease>> waiters = IntStream.range(0, 3)
                    .mapToObj(n -> other.mutex("/top/busy").acquireAsync())
                    .toList();
            Eventually.holds(
                    "three waiters",
                    SOON,
                    () -> other.mutex("/top/busy").queue().size() == 4);
            List<String> lines = out(latchkey("top", "/top", "--count=2", "--interval=200ms"))
                    .lines()
                    .toList();
            assertEquals(4, lines.size(), lines::toString);
            assertTrue(
                    lines.get(0).matches("\\S+Z +/top/busy +mutex +1 +3 +\\d+s +\\d+s .*process \\d+"),
                    lines::toString);
            assertTrue(lines.get(1).matches("\\S+Z +/top/calm +mutex +1 +0 +\\d+s +- .*"), lines::toString);
            List<String> byPath = out(latchkey("top", "/top", "--count=1", "--sort=path"))
                    .lines()
                    .toList();
            assertTrue(byPath.get(0).contains("/top/busy"), byPath::toString);
            waiters.forEach(each -> each.cancel(false));
            assertTrue(one.isValid() && two.isValid());
        }
        assertTrue(out(latchkey("top", "/top-none", "--count=1")).contains("no lock in use at or below /top-none"));
        assertEquals(64, latchkey("top", "--interval=1ms").status());
    }

    @Test
    void top_namesOnceWhatItMayNotRead() throws Exception {
        try (LockClient theirs = strictClient();
                Lease mine = theirs.mutex("/top-mine/lock").acquire()) {
            Program.Exit listed = latchkey("ls", "/top-mine");
            Program.Exit ended = latchkey("top", "/top-mine", "--count=3", "--interval=100ms");
            assertEquals(77, ended.status(), ended::toString);
            assertTrue(ended.err().contains("not shown, since this client may not read it"), ended::toString);
            assertEquals(listed.err(), ended.err());
            assertEquals("", ended.out(), "it may be in use");
            assertTrue(mine.isValid());
        }
    }

    // ---- a later version

    @Test
    void lockOfALaterVersion_isNamedAsUnknown() throws Exception {
        ZooKeeper operator = new ZooKeeper(server.connectString(), 10_000, event -> {});
        try (Lease known = other.mutex("/later/known").acquire()) {
            String unused = operator.create(
                    "/later/lock",
                    "latchkey/9 mutex".getBytes(StandardCharsets.UTF_8),
                    ZooDefs.Ids.OPEN_ACL_UNSAFE,
                    CreateMode.PERSISTENT);
            for (String command : List.of("show", "resize", "ping")) {
                String[] args =
                        command.equals("resize") ? new String[] {"/later/lock", "3"} : new String[] {"/later/lock"};
                Program.Exit ended = latchkey(command, args);
                assertEquals(78, ended.status(), ended::toString);
                assertFalse(ended.out().contains("no lock"), ended::toString);
                assertTrue(
                        ended.err().contains("data that this version does not know: \"latchkey/9 mutex\""),
                        ended::toString);
            }
            Program.Exit listed = latchkey("ls", "/later");
            assertEquals(78, listed.status(), listed::toString);
            assertTrue(listed.out().contains("/later/known"), listed::toString);
            assertTrue(listed.err().startsWith("latchkey: not shown: /later/lock: "), listed::toString);
            assertTrue(known.isValid());
        } finally {
            operator.close();
        }
    }

    @Test
    void morePermitsThanThereAreAreRefused_withWhatIsExpected() throws Exception {
        try (Lease two = other.semaphore("/two", 2).acquire()) {
            Program.Exit ended = latchkey("run", "/two", "--semaphore=3", "--", "true");
            assertEquals(78, ended.status(), ended::toString);
            assertTrue(
                    ended.err().contains("give 'latchkey resize PATH 3' and go on with --semaphore 2"),
                    ended::toString);
            assertTrue(two.isValid());
        }
    }

    @Test
    void completionHasFilesAndLayouts() {
        Program.Exit ended = InThisJvm.ended("completion");
        String script = out(ended);
        assertTrue(script.contains("_option_args=(\"latchkey\" \"curator\" \"kazoo\")"), script);
        assertTrue(
                Pattern.compile("--client-config'?\\)[^;]{0,200}compgen -f")
                        .matcher(script)
                        .find(),
                script);
        String help = out(InThisJvm.ended("help"));
        assertTrue(help.lines().noneMatch(line -> line.contains("completion ") && line.endsWith(":")), help);
        assertFalse(help.contains("commands and options:"), help);
    }

    @Test
    void columnsAreThoseOfTheTerminal() {
        assertEquals(3, Columns.of("abc"));
        assertEquals(4, Columns.of("\u65e5\u672c"));
        assertEquals(1, Columns.of("e\u0301"));
        assertEquals(2, Columns.of("\ud83d\ude00"));
        assertEquals("\u65e5", Columns.cut("\u65e5\u672c", 3));
        assertEquals("e\u0301", Columns.cut("e\u0301x", 1));
        Table table = new Table("A", "B");
        table.line("\u65e5\u672c", "x");
        assertEquals(
                List.of("A     B", "\u65e5\u672c  x"), table.toString().lines().toList());
    }

    // ---- JSON

    @Test
    void jsonIsAsTheSchemaDescribesIt() throws Exception {
        JsonObject schema = JsonParser.parseString(Files.readString(Docs.root().resolve("docs/latchkey.schema.json")))
                .getAsJsonObject()
                .getAsJsonObject("$defs");
        try (Lease held = other.mutex("/json/mutex").acquire();
                Lease permit = other.semaphore("/json/pool", 2).acquire();
                Lease reader = other.readWriteLock("/json/document").readLock().acquire()) {
            CompletableFuture<Lease> writer =
                    other.readWriteLock("/json/document").writeLock().acquireAsync();
            List<String> wrong = new ArrayList<>();
            check(schema, "ls", out(latchkey("ls", "--json", "/json")), wrong);
            for (String path : List.of("/json/mutex", "/json/pool", "/json/document", "/json/none")) {
                check(schema, "show", out(latchkey("show", "--json", path)), wrong);
            }
            check(schema, "top", out(latchkey("top", "--json", "--count=1", "/json")), wrong);
            String watched = out(latchkey("watch", "/json/document", "--json", "--for=1ms", "--interval=20ms"));
            assertFalse(watched.isBlank());
            watched.lines().forEach(line -> check(schema, "watch", line, wrong));
            assertEquals(List.of(), wrong);
            writer.cancel(false);
            assertTrue(held.isValid() && permit.isValid() && reader.isValid());
        }
    }

    private static void check(JsonObject schema, String name, String json, List<String> wrong) {
        check(schema, schema.getAsJsonObject(name), JsonParser.parseString(json), name, wrong);
    }

    /** As much of JSON Schema as the file has. What it does not describe is wrong here: the file is to have it. */
    private static void check(JsonObject all, JsonObject schema, JsonElement value, String at, List<String> wrong) {
        if (schema.has("$ref")) {
            String name = schema.get("$ref").getAsString().replace("#/$defs/", "");
            check(all, all.getAsJsonObject(name), value, at, wrong);
            return;
        }
        if (schema.has("enum")) {
            if (!schema.getAsJsonArray("enum").contains(value)) {
                wrong.add(at + " is " + value);
            }
            return;
        }
        List<String> types = schema.get("type").isJsonArray()
                ? schema.getAsJsonArray("type").asList().stream()
                        .map(JsonElement::getAsString)
                        .toList()
                : List.of(schema.get("type").getAsString());
        if (types.stream().noneMatch(type -> isOf(type, value))) {
            wrong.add(at + " is " + value + ", not " + types);
        } else if (value.isJsonArray()) {
            value.getAsJsonArray().forEach(each -> check(all, schema.getAsJsonObject("items"), each, at + "[]", wrong));
        } else if (value.isJsonObject()) {
            JsonObject properties = schema.getAsJsonObject("properties");
            schema.getAsJsonArray("required").forEach(name -> {
                if (!value.getAsJsonObject().has(name.getAsString())) {
                    wrong.add(at + " has no " + name);
                }
            });
            value.getAsJsonObject().entrySet().forEach(each -> {
                if (properties.has(each.getKey())) {
                    check(
                            all,
                            properties.getAsJsonObject(each.getKey()),
                            each.getValue(),
                            at + "." + each.getKey(),
                            wrong);
                } else {
                    wrong.add(at + "." + each.getKey() + " is not described");
                }
            });
        }
    }

    private static boolean isOf(String type, JsonElement value) {
        return switch (type) {
            case "null" -> value.isJsonNull();
            case "array" -> value.isJsonArray();
            case "object" -> value.isJsonObject();
            case "string" ->
                value.isJsonPrimitive() && value.getAsJsonPrimitive().isString();
            case "number" ->
                value.isJsonPrimitive() && value.getAsJsonPrimitive().isNumber();
            case "integer" ->
                value.isJsonPrimitive()
                        && value.getAsJsonPrimitive().isNumber()
                        && value.getAsString().matches("-?\\d+");
            default -> throw new AssertionError(type);
        };
    }

    // ---- exit statuses

    @Test
    void pageHasTheListOfExitStatuses() throws Exception {
        String page = Files.readString(Docs.root().resolve("docs/command-line.md"));
        String section = page.substring(page.indexOf("## Exit status"));
        section = section.substring(0, section.indexOf("\n## ", 5));
        Map<String, String> rows = new LinkedHashMap<>();
        for (MatchResult row : Pattern.compile("(?m)^\\| ([0-9+N]+) \\| (.*) \\|$")
                .matcher(section)
                .results()
                .toList()) {
            rows.put(row.group(1), row.group(2));
        }
        assertEquals(List.copyOf(ExitStatus.list().entrySet()), List.copyOf(rows.entrySet()));
    }

    @Test
    void agesAreInTheirTwoLargestUnits() {
        assertEquals("59s", Age.text(Duration.ofMillis(59_999)));
        assertEquals("3m12s", Age.text(Duration.ofSeconds(192)));
        assertEquals("2h0m", Age.text(Duration.ofHours(2)));
        assertEquals("2d4h", Age.text(Duration.ofHours(52)));
        assertEquals("12ms", Age.exact(Duration.ofMillis(12)));
        assertEquals("3.250s", Age.exact(Duration.ofMillis(3250)));
    }

    @Test
    void percentileIsOneOfTheValues() {
        List<Duration> spans =
                IntStream.rangeClosed(1, 200).mapToObj(Duration::ofMillis).toList();
        assertEquals(Duration.ofMillis(100), WatchPage.percentile(spans, 50));
        assertEquals(Duration.ofMillis(198), WatchPage.percentile(spans, 99));
        assertEquals(Duration.ofMillis(200), WatchPage.percentile(spans, 100));
        assertEquals(Duration.ofMillis(7), WatchPage.percentile(List.of(Duration.ofMillis(7)), 50));
    }

    @Test
    void pageOfWatchIsRefusedAtOnce_whenItCannotBeWritten() {
        Program.Exit ended = latchkey("watch", "/watch", "--for=1s", "--html=" + Path.of("no", "such", "folder.html"));
        assertEquals(74, ended.status(), ended::toString);
        assertTrue(ended.err().contains("the page cannot be written"), ended::toString);
    }

    @Test
    void pageOfWatchIsKept_whenNoServerAnswers() throws Exception {
        Path old = Files.writeString(folder.resolve("old.html"), "of yesterday");
        Path none = folder.resolve("none.html");
        for (Path page : List.of(old, none)) {
            Program.Exit ended =
                    InThisJvm.latchkey("127.0.0.1:1", "watch", "/watch", "--connect-timeout=300ms", "--html=" + page);
            assertEquals(69, ended.status(), ended::toString);
        }
        assertEquals("of yesterday", Files.readString(old));
        assertFalse(Files.exists(none));
    }
}
