// SPDX-License-Identifier: Apache-2.0
package io.latchkey.docs;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.LockException;
import io.latchkey.lock.LossCause;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.Lock;
import java.util.jar.JarFile;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Single pages: each row of docs/failures.md has a test, docs/performance.md is of the run in its tables, docs/from-curator.md has a row for each class of Curator's locks, and all pages on moving name only calls and
 * types of ours that exist. docs/troubleshooting.md has a row for each exception, reason and cause of a loss, and only
 * for lines that are logged. docs/compatibility.md has each package. Each public member of lock-api is on a page for
 * users, and each method of lock-zk is described.
 */
class PagesTest {
    private static final Pattern TEST = Pattern.compile("`([A-Z]\\w+(?:Test|Properties|Contract))\\.(\\w+)`");
    private static final String HEAD = "| failure | method |";

    private static final Pattern RUN = Pattern.compile("- Run: full, .*?, (\\d{4}-\\d\\d-\\d\\d)T.*?,");

    private static final Pattern OF_THE_PACKAGE =
            Pattern.compile(InterProcessMutex.class.getPackageName().replace('.', '/') + "/(\\w+)\\.class");

    private static final Pattern OUR_COLUMN = Pattern.compile("Latchkey|here|`Latchkey\\w+`");
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");
    private static final Pattern CALL = Pattern.compile("(?:(\\w+)\\.)?\\b([a-z]\\w*)(?:\\(([^()]*)\\)|$)");
    private static final Pattern TYPE = Pattern.compile("\\b[A-Z]\\w*[a-z]\\w*");
    private static final Pattern CONSTANT = Pattern.compile("\\b[A-Z][A-Z_]+\\b");

    /** Of the JDK, on the pages beside our own. */
    private static final List<Class<?>> THEIRS =
            List.of(Lock.class, List.class, Object.class, Duration.class, Optional.class);

    /** Pages that are not for users, or that name everything. */
    private static final Pattern OF_MAINTAINERS = Pattern.compile(
            "decisions|CHANGELOG|testing|protocol|architecture|contributing|mutation|releasing|archive");

    private static final Pattern NAMED = Pattern.compile("(?s)```.*?```|`[^`\\n]+`");
    private static final Pattern WORD = Pattern.compile("\\w+");
    /** A public method of a class or of a class in it, behind something else than a comment or an annotation. */
    private static final Pattern UNDESCRIBED =
            Pattern.compile("(?m)^(?!.*\\*/$)(?! +@).*\\R(?: +@.*\\R)* {4,8}(public [^=;(]*\\w)\\(");

    private static final Pattern INTERNAL = Pattern.compile("[/\\\\](internal|sim)[/\\\\]");
    private static final Pattern NOTE = Pattern.compile("(?m)^ +\\*.*The class is long because");

    private static final Set<String> OF_EVERY_TYPE = Set.of("toString", "equals", "hashCode", "values", "valueOf");

    private static final String PAGE = Docs.read(Docs.root().resolve("docs/troubleshooting.md"));
    private static final Pattern FIRST_CELL = Pattern.compile("(?m)^\\| `([^`]+)`(?: itself)? \\|");
    private static final Pattern ELLIPSIS = Pattern.compile("…");
    private static final Pattern SECOND_CELL = Pattern.compile("(?m)^\\|[^|]*\\| `(\\w+)` \\|");

    /** The page is for users; {@link Docs#TESTS_OF_FAILURES} names the tests. */
    @Test
    void everyRowAboutAFailureHasATest() {
        List<List<String>> page = rowsOfFailures(Docs.root().resolve("docs/failures.md"));
        List<List<String>> tests = rowsOfFailures(Docs.TESTS_OF_FAILURES);
        assertTrue(page.size() >= 90, "only " + page.size() + " rows");
        assertEquals(methods(page), methods(tests), "failures and methods");
        assertEquals(
                List.of(),
                tests.stream().filter(row -> !TEST.matcher(row.get(2)).find()).toList(),
                "rows without a test");
    }

    private static List<String> methods(List<List<String>> rows) {
        return rows.stream().map(row -> row.get(0) + ": " + row.get(1)).toList();
    }

    /** The cells of each row; a failure that is left out is that of the row before. */
    private static List<List<String>> rowsOfFailures(Path page) {
        List<List<String>> rows = new ArrayList<>();
        String failure = "";
        for (String line : Docs.read(page).lines().toList()) {
            if (line.startsWith("|") && !line.startsWith(HEAD) && !line.startsWith("|---")) {
                List<String> cells = Arrays.stream(line.split("\\|"))
                        .skip(1)
                        .map(String::strip)
                        .toList();
                failure = cells.get(0).isEmpty() ? failure : cells.get(0);
                rows.add(List.of(failure, cells.get(1), cells.get(2)));
            }
        }
        return rows;
    }

    @Test
    void everyPackageIsOnThePageOfWhatIsStable() {
        String page = Docs.read(Docs.root().resolve("docs/compatibility.md"));
        List<String> packages = Docs.modules().stream()
                .map(module -> module.resolve("src/main/java"))
                .flatMap(sources -> Docs.files(sources, "package-info.java").stream()
                        .map(file -> sources.relativize(file.getParent()).toString()))
                .map(folder -> folder.replace(File.separatorChar, '.'))
                .filter(name -> !name.startsWith("io.latchkey.zk.internal"))
                .toList();
        assertTrue(packages.size() >= 10, () -> "only " + packages);
        assertEquals(
                List.of(),
                packages.stream()
                        .filter(name -> !page.contains('`' + name + '`'))
                        .toList());
    }

    @Test
    void summaryIsOfTheRunInTheTables() {
        String summary = Docs.read(Docs.root().resolve("docs/performance.md"));
        Matcher run = RUN.matcher(Docs.read(Docs.root().resolve("docs/archive/performance-tables.md")));
        assertTrue(run.find(), "the tables name their run");
        String date = LocalDate.parse(run.group(1)).format(DateTimeFormatter.ofPattern("d MMMM uuuu", Locale.ENGLISH));
        String named = summary.replaceAll("\\s+", " ");
        assertTrue(named.contains("full run of " + date), run.group());
    }

    @Test
    void everyClassOfTheirsHasARow() throws IOException, URISyntaxException {
        Path jar = Path.of(InterProcessMutex.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        List<String> theirs;
        try (JarFile file = new JarFile(jar.toFile())) {
            theirs = file.stream()
                    .flatMap(entry -> OF_THE_PACKAGE.matcher(entry.getName()).results())
                    .map(found -> found.group(1))
                    .toList();
        }
        assertTrue(theirs.size() >= 18, "only " + theirs);
        List<String> cells = Docs.read(Docs.root().resolve("docs/from-curator.md"))
                .lines()
                .filter(line -> line.startsWith("| "))
                .map(line -> line.split("\\|", -1)[1])
                .toList();
        assertEquals(
                List.of(),
                theirs.stream()
                        .filter(name -> cells.stream().noneMatch(cell -> cell.contains("`" + name + "`")))
                        .toList());
    }

    @Test
    void pagesOnMovingNameOnlyCallsAndTypesOfOursThatExist() {
        List<Class<?>> ours = api();
        Set<String> samples = Stream.of("lock-testkit/src/sample", "lock-zk/spring-boot-starter/src/main/java")
                .flatMap(folder -> Docs.files(Docs.root().resolve(folder), ".java").stream())
                .map(file -> file.getFileName().toString().replace(".java", ""))
                .collect(Collectors.toSet());
        List<String> wrong = new ArrayList<>();
        List<Integer> counted = new ArrayList<>();
        for (String page : List.of("curator", "redisson", "shedlock", "spring-integration")) {
            List<String> spans = ourColumn(Docs.root().resolve("docs/from-" + page + ".md"));
            counted.add(spans.size());
            spans.stream().filter(code -> !exists(code, ours, samples)).forEach(code -> wrong.add(page + ": " + code));
        }
        assertTrue(
                counted.get(0) >= 15 && counted.get(1) >= 30 && counted.get(2) >= 2 && counted.get(3) >= 3,
                () -> "only " + counted);
        assertEquals(List.of(), wrong, "no such call or type");
    }

    /** What stands between backticks in those columns of the page's tables that are about us. */
    private static List<String> ourColumn(Path page) {
        List<String> found = new ArrayList<>();
        int column = -1;
        for (String line : Docs.read(page).lines().toList()) {
            String[] cells = line.split("\\|", -1);
            if (!line.startsWith("|")) {
                column = -1;
            } else if (column < 0) {
                column = IntStream.range(0, cells.length)
                        .filter(each -> OUR_COLUMN.matcher(cells[each].strip()).matches())
                        .findFirst()
                        .orElseThrow(() -> new AssertionError(page + " has no column about us: " + line));
            } else {
                CODE.matcher(cells[column]).results().forEach(code -> found.add(code.group(1)));
            }
        }
        return found;
    }

    private static boolean exists(String code, List<Class<?>> ours, Set<String> samples) {
        boolean calls = CALL.matcher(code).results().allMatch(call -> isCall(call, ours));
        boolean types = TYPE.matcher(code)
                .results()
                .allMatch(type -> typeOf(type.group(), ours) != null
                        || samples.contains(type.group())
                        || THEIRS.stream().anyMatch(one -> one.getSimpleName().equals(type.group())));
        boolean constants = CONSTANT.matcher(code).results().allMatch(constant -> ours.stream()
                .filter(Class::isEnum)
                .flatMap(type -> Arrays.stream(type.getEnumConstants()))
                .anyMatch(each -> each.toString().equals(constant.group())));
        return calls && types && constants;
    }

    /** Whether the type that is named before it has such a method; without a name, whether any type has. */
    private static boolean isCall(MatchResult call, List<Class<?>> ours) {
        String receiver = call.group(1) == null ? "" : call.group(1).replace("lease", "Lease");
        Class<?> type = typeOf(receiver, ours);
        String arguments = call.group(3);
        Stream<Class<?>> types = type == null ? Stream.concat(ours.stream(), THEIRS.stream()) : Stream.of(type);
        return types.flatMap(each -> Arrays.stream(each.getMethods()))
                .filter(method -> method.getName().equals(call.group(2)))
                .anyMatch(method -> arguments == null
                        || method.isVarArgs()
                        || method.getParameterCount() == (arguments.isBlank() ? 0 : arguments.split(",").length));
    }

    private static @Nullable Class<?> typeOf(String name, List<Class<?>> ours) {
        return ours.stream()
                .filter(type -> type.getSimpleName().equals(name))
                .findFirst()
                .orElse(null);
    }

    /**
     * Each public method and constant of lock-api is named on a page for users, in code or between backticks. Left out
     * are the methods of functional interfaces, which users write as lambdas.
     */
    @Test
    void everyPublicMemberOfTheApiIsOnAPageForUsers() {
        Set<String> words = Docs.pages().stream()
                .filter(page -> !OF_MAINTAINERS.matcher(page.toString()).find())
                .flatMap(page -> NAMED.matcher(Docs.read(page)).results())
                .flatMap(code -> WORD.matcher(code.group()).results())
                .map(MatchResult::group)
                .collect(Collectors.toSet());
        List<String> members = api().stream()
                .flatMap(type -> Stream.concat(Stream.of(type), Arrays.stream(type.getDeclaredClasses())))
                .filter(type -> Modifier.isPublic(type.getModifiers()) && !isFunction(type))
                .flatMap(type -> Stream.concat(
                                Arrays.stream(type.getDeclaredMethods())
                                        .filter(method -> Modifier.isPublic(method.getModifiers())
                                                && !method.isSynthetic()
                                                && !OF_EVERY_TYPE.contains(method.getName()))
                                        .map(Method::getName),
                                Arrays.stream(type.getFields())
                                        .filter(Field::isEnumConstant)
                                        .map(Field::getName))
                        .map(member -> type.getSimpleName() + "." + member))
                .distinct()
                .toList();
        assertTrue(members.size() > 150, "only " + members.size());
        assertEquals(
                List.of(),
                members.stream()
                        .filter(member -> !words.contains(member.substring(member.indexOf('.') + 1)))
                        .toList(),
                "on no page for users");
    }

    /** The javadoc tool does not copy the texts of lock-api's types, which are in another module. */
    @Test
    void everyMethodOfLockZkHasADescriptionOfItsOwn() {
        Path sources = Docs.root().resolve("lock-zk/src/main/java/io/latchkey/zk");
        List<String> bare = Docs.files(sources, ".java").stream()
                .filter(file -> !sources.relativize(file).startsWith("internal"))
                .filter(file -> Docs.read(file).contains("\npublic "))
                .flatMap(file -> UNDESCRIBED
                        .matcher(Docs.read(file))
                        .results()
                        .map(method -> file.getFileName() + ": " + method.group(1)))
                .filter(method -> !method.endsWith(" toString"))
                .toList();
        assertEquals(List.of(), bare);
    }

    /** Why a file is long, and the like, is for maintainers: a comment, not javadoc. */
    @Test
    void javadocHasNoNoteToMaintainers() {
        List<String> notes = Docs.ofModules("src/main/java", ".java").stream()
                .filter(file -> !INTERNAL.matcher(file.toString()).find())
                .filter(file -> NOTE.matcher(Docs.read(file)).find())
                .map(file -> file.getFileName().toString())
                .toList();
        assertEquals(List.of(), notes);
    }

    private static boolean isFunction(Class<?> type) {
        return type.isAnnotationPresent(FunctionalInterface.class);
    }

    private static List<Class<?>> api() {
        Path sources = Docs.root().resolve("lock-api/src/main/java");
        return Docs.files(sources.resolve("io/latchkey/lock"), ".java").stream()
                .map(file -> sources.relativize(file).toString().replace(".java", ""))
                .filter(name -> !name.endsWith("package-info"))
                .map(name -> name.replace(File.separatorChar, '.'))
                .<Class<?>>map(PagesTest::ours)
                .toList();
    }

    private static Class<?> ours(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException missing) {
            throw new AssertionError(missing);
        }
    }

    @Test
    void everyExceptionReasonAndCauseHasARow() {
        List<String> exceptions = Docs.files(Docs.root().resolve("lock-api/src/main/java"), "Exception.java").stream()
                .map(file -> file.getFileName().toString().replace(".java", ""))
                .toList();
        assertTrue(exceptions.size() >= 9, () -> "only " + exceptions);
        assertAll(
                () -> assertEquals(List.of(), without(exceptions, FIRST_CELL)),
                () -> assertEquals(List.of(), without(names(LossCause.values()), FIRST_CELL)),
                () -> assertEquals(List.of(), without(names(LockException.Reason.values()), SECOND_CELL)));
    }

    private static List<String> names(Enum<?>[] constants) {
        return Arrays.stream(constants).map(Enum::name).toList();
    }

    private static List<String> without(List<String> names, Pattern cell) {
        List<String> cells =
                cell.matcher(PAGE).results().map(row -> row.group(1)).toList();
        return names.stream().filter(name -> !cells.contains(name)).toList();
    }

    @Test
    void everyLogLineStandsInTheCode() {
        String code = Docs.files(Docs.root().resolve("lock-zk/src/main/java"), ".java").stream()
                .map(Docs::read)
                .map(source -> source.replaceAll("\"\\s*\\+\\s*\"", ""))
                .collect(Collectors.joining());
        String section = PAGE.substring(PAGE.indexOf("## A log line"), PAGE.indexOf("## A wait"));
        List<String> lines =
                FIRST_CELL.matcher(section).results().map(row -> row.group(1)).toList();
        assertTrue(lines.size() >= 12, () -> "only " + lines);
        assertEquals(
                List.of(),
                lines.stream()
                        .filter(line ->
                                !ELLIPSIS.splitAsStream(line).map(String::strip).allMatch(code::contains))
                        .toList());
    }
}
