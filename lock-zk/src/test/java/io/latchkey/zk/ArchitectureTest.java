// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;
import static com.tngtech.archunit.library.GeneralCodingRules.ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static java.util.Map.entry;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Futures;
import com.google.common.util.concurrent.Uninterruptibles;
import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.spi.LossHandler;
import io.latchkey.zk.internal.events.ClientLog;
import io.latchkey.zk.internal.threads.CallerWait;
import io.latchkey.zk.internal.threads.DaemonThreads;
import io.latchkey.zk.internal.validity.SystemClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Timer;
import java.util.TimerTask;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The allowed dependencies between the rooms of lock-zk, and of the pure rooms on the platform. */
@Tag("slow")
class ArchitectureTest {
    private static final String FRONT_DOOR = "io.latchkey.zk";
    private static final String INTERNAL = "io.latchkey.zk.internal.";
    private static final Pattern MODULE = Pattern.compile("<module>(.*)</module>");
    private static final int MOST_COLLABORATORS = 10;
    private static final int MOST_LINES = 400;
    /** Rules and proofs: values in, values out. */
    private static final String[] PURE_ROOMS = {
        room("queue"), room("recipe"), room("acquire"), room("validity"), room("turns")
    };

    /** The rooms, and which others each may know. */
    private static final Map<String, String> MAY_KNOW = Map.ofEntries(
            entry("queue", ""),
            entry("recipe", "queue"),
            entry("acquire", "queue recipe"),
            entry("turns", ""),
            entry("validity", ""),
            entry("threads", "validity"),
            entry("store", "queue validity threads"),
            entry("events", "queue recipe acquire validity threads"),
            entry("context", "queue recipe validity threads store events"),
            entry("session", "queue validity threads store events context"),
            entry("path", "queue acquire threads store events context session"),
            entry("request", "queue recipe acquire validity threads store events context session path turns"),
            entry("client", "queue recipe acquire validity threads store events context session path request turns"),
            entry("admin", "queue recipe acquire validity threads store events context session path request client"),
            entry("locks", "queue recipe threads store events context request client admin"));

    private static final DescribedPredicate<JavaClass> PLATFORM =
            javaBase().or(resideInAPackage("org.jspecify..")).as("in java.base or org.jspecify");

    private static final JavaClasses PRODUCTION = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages(FRONT_DOOR);

    /** Empty rooms pass every rule below, so make sure that the importer looked in the right house. */
    @Test
    void theProductionClassesWereFound() {
        assertTrue(PRODUCTION.contain("io.latchkey.zk.internal.queue.NodeName"), () -> "found only " + PRODUCTION);
        assertTrue(PRODUCTION.stream().noneMatch(found -> found.getName().endsWith("Test")), "tests among them");
    }

    @Test
    void everyRoomIsListed() {
        Set<String> rooms = PRODUCTION.stream()
                .map(JavaClass::getPackageName)
                .filter(name -> name.startsWith(INTERNAL))
                .map(name -> name.substring(INTERNAL.length()))
                .collect(Collectors.toSet());
        assertEquals(MAY_KNOW.keySet(), rooms);
    }

    static Set<String> roomNames() {
        return MAY_KNOW.keySet();
    }

    /** An arrow to a room that another arrow's way leads to is left out. */
    @Test
    void pictureOfTheRoomsIsDrawnFromTheImports() throws IOException {
        Map<String, Set<String>> known = new TreeMap<>();
        roomNames().forEach(name -> known.put(name, new TreeSet<>()));
        for (JavaClass each : PRODUCTION) {
            String from = roomOf(each);
            each.getDirectDependenciesFromSelf().forEach(dependency -> {
                String to = roomOf(dependency.getTargetClass());
                if (known.containsKey(from) && known.containsKey(to) && !from.equals(to)) {
                    known.get(from).add(to);
                }
            });
        }
        StringBuilder drawn = new StringBuilder("```mermaid\nflowchart TD\n");
        known.forEach((from, all) -> all.stream()
                .filter(to -> all.stream().noneMatch(between -> reaches(known, between, to)))
                .forEach(to -> drawn.append("    %s --> %s%n".formatted(from, to))));
        drawn.append("```\n");
        String page = Files.readString(Path.of("../docs/architecture.md"));
        assertTrue(
                page.contains("<!-- drawn: rooms -->\n" + drawn + "<!-- end -->"),
                () -> "docs/architecture.md does not have this picture of the rooms:\n" + drawn);
    }

    private static String roomOf(JavaClass of) {
        String name = of.getPackageName();
        return name.startsWith(INTERNAL) ? name.substring(INTERNAL.length()) : name;
    }

    private static boolean reaches(Map<String, Set<String>> known, String from, String to) {
        Set<String> next = known.get(from);
        return next.contains(to) || next.stream().anyMatch(each -> reaches(known, each, to));
    }

    @ParameterizedTest
    @MethodSource("roomNames")
    void roomKnowsOnlyWhatItMay(String name) {
        String[] allowed = Stream.of((name + " " + MAY_KNOW.get(name)).strip().split(" ", -1))
                .map(ArchitectureTest::room)
                .toArray(String[]::new);
        check(noClasses()
                .that()
                .resideInAPackage(room(name))
                .should()
                .dependOnClassesThat(elementOf(
                        resideInAPackage(FRONT_DOOR + "..").and(DescribedPredicate.not(resideInAnyPackage(allowed))))));
    }

    /** And two values of the contract: why a lease was lost, and what became of a release. */
    @Test
    void pureRoomsKnowThePlatformOnly() {
        check(classes()
                .that()
                .resideInAnyPackage(PURE_ROOMS)
                .should()
                .onlyDependOnClassesThat(
                        PLATFORM.or(rooms(PURE_ROOMS)).or(belongToAnyOf(LossCause.class, ReleaseOutcome.class))));
    }

    @Test
    void pureRoomsHaveNoThreads() {
        check(noClasses().that(arePure()).should().dependOnClassesThat(threading()));
    }

    @Test
    void pureRoomsHaveNoClock() {
        check(noClasses()
                .that(arePure())
                .should()
                .dependOnClassesThat(belongToAnyOf(Clock.class, InstantSource.class))
                .orShould()
                .callMethodWhere(readsTheTime()));
    }

    @Test
    void onlyStoreKnowsZooKeeper() {
        check(noClasses()
                .that()
                .resideOutsideOfPackages(room("store"), FRONT_DOOR)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.apache.zookeeper..", "org.apache.jute.."));
    }

    /** What users hand to the front door or get from it; {@code KeeperException} is what a guarded write throws. */
    @Test
    void frontDoorKnowsZooKeepersPublicTypes() {
        DescribedPredicate<JavaClass> publicTypes = belongToAnyOf(
                ZooKeeper.class, Op.class, OpResult.class, ZKClientConfig.class, ACL.class, KeeperException.class);
        check(noClasses()
                .that()
                .resideInAPackage(FRONT_DOOR)
                .should()
                .dependOnClassesThat(elementOf(resideInAnyPackage("org.apache.zookeeper..", "org.apache.jute..")
                        .and(DescribedPredicate.not(publicTypes)))));
    }

    /** Netty is on the class path for ZooKeeper's client alone. */
    @Test
    void noClassDependsOnNetty() {
        check(noClasses().should().dependOnClassesThat().resideInAPackage("io.netty.."));
    }

    @Test
    void roomsHaveNoCycles() {
        check(slices().matching(INTERNAL + "(*)..").should().beFreeOfCycles());
    }

    @ParameterizedTest
    @MethodSource("roomNames")
    void classesOfARoomHaveNoCycles(String name) {
        check(slices().assignedFrom(byClass(INTERNAL + name)).should().beFreeOfCycles());
    }

    @Test
    void classesOfTheFrontDoorHaveNoCycles() {
        check(slices().assignedFrom(byClass(FRONT_DOOR)).should().beFreeOfCycles());
    }

    /** A class that works with more of its own room than that cannot be understood by itself. */
    @Test
    void classesHaveTenCollaboratorsInTheirRoomAtMost() {
        Map<String, Set<String>> collaborators = new TreeMap<>();
        for (JavaClass type : PRODUCTION) {
            type.getDirectDependenciesFromSelf().stream()
                    .map(dependency -> dependency.getTargetClass().getBaseComponentType())
                    .filter(other -> other.getPackageName().equals(type.getPackageName()))
                    .map(other -> outermost(other.getName()))
                    .filter(other -> !other.equals(outermost(type.getName())))
                    .forEach(other -> collaborators
                            .computeIfAbsent(outermost(type.getName()), name -> new TreeSet<>())
                            .add(other));
        }
        collaborators.values().removeIf(others -> others.size() <= MOST_COLLABORATORS);
        assertEquals(Map.of(), collaborators);
    }

    /** A class that is longer says why in its comment; to be two is better. */
    @Test
    void filesHave400LinesAtMost_orSayWhyTheyAreLong() throws IOException {
        Set<String> withoutReason = new TreeSet<>();
        for (Path file : sources("src/main/java")) {
            List<String> lines = Files.readAllLines(file);
            if (lines.size() > MOST_LINES
                    && lines.stream().noneMatch(line -> line.contains("The class is long because "))) {
                withoutReason.add(file.getFileName() + " has " + lines.size() + " lines");
            }
        }
        assertEquals(Set.of(), withoutReason);
    }

    /** A search for a class by its name finds one. Sample projects are no part of the library. */
    @Test
    void fileNamesAreUnique() throws IOException {
        Map<String, Set<Path>> byName = new TreeMap<>();
        for (Path file : sources("src/main/java", "src/test/java")) {
            byName.computeIfAbsent(file.getFileName().toString(), name -> new TreeSet<>())
                    .add(file);
        }
        byName.remove("package-info.java");
        byName.values().removeIf(places -> places.size() == 1);
        assertEquals(Map.of(), byName);
    }

    /** The sources in these folders of all modules. */
    private static List<Path> sources(String... folders) throws IOException {
        List<Path> found = new ArrayList<>();
        String modules = Files.readString(Path.of("../pom.xml"));
        for (MatchResult module : MODULE.matcher(modules).results().toList()) {
            for (String folder : folders) {
                Path sources = Path.of("..", module.group(1), folder);
                if (Files.exists(sources)) {
                    try (Stream<Path> files = Files.walk(sources)) {
                        found.addAll(files.filter(each -> each.toString().endsWith(".java"))
                                .toList());
                    }
                }
            }
        }
        return found;
    }

    /** A backend is code that others wrote and configured: it may throw, and it may block. */
    @Test
    void onlyTheLogCallsTheLoggingBackend() {
        check(noClasses()
                .that()
                .doNotBelongToAnyOf(ClientLog.class)
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.slf4j.."));
    }

    /** In a worker of a fork-join pool, a future's own wait runs other tasks on the same stack, and throws. */
    @Test
    void onlyOneClassWaits() {
        Set<String> waits = Set.of("get", "join", "await", "wait", "park", "parkNanos", "parkUntil", "acquire", "take");
        check(noClasses()
                .that()
                .doNotBelongToAnyOf(CallerWait.class)
                .should()
                .callMethodWhere(describe(
                        "waits",
                        call -> waits.contains(call.getName())
                                && !call.getTargetOwner().getPackageName().startsWith("io.latchkey")
                                && (call.getTargetOwner().isAssignableTo(Future.class)
                                        || call.getTargetOwner().isAssignableTo(LockSupport.class)
                                        || call.getTargetOwner().isAssignableTo(Thread.class)
                                        || call.getTargetOwner().isAssignableTo(BlockingQueue.class)
                                        || call.getTargetOwner().getName().equals("java.util.concurrent.CountDownLatch")
                                        || call.getTargetOwner().getName().startsWith("java.util.concurrent.locks")
                                        || (call.getName().equals("wait")
                                                && call.getTargetOwner().isEquivalentTo(Object.class)))))
                .orShould()
                .dependOnClassesThat(belongToAnyOf(Uninterruptibles.class, Futures.class)));
    }

    /**
     * Threads that are made elsewhere inherit what the thread has that happens to need them first. The platform's timer
     * of futures is one too.
     */
    @Test
    void threadsAreMadeInOnePlace() {
        Set<String> ofPlatformsTimer = Set.of("completeOnTimeout", "orTimeout", "delayedExecutor");
        check(noClasses()
                .that()
                .doNotBelongToAnyOf(DaemonThreads.class, CallerWait.class)
                .should()
                .callConstructorWhere(describe(
                        "makes a thread or a pool",
                        call -> call.getTargetOwner().isAssignableTo(Thread.class)
                                || (call.getTargetOwner().isAssignableTo(ExecutorService.class)
                                        && !call.getTargetOwner().isEquivalentTo(ScheduledThreadPoolExecutor.class))))
                .orShould()
                .dependOnClassesThat(belongToAnyOf(Executors.class, ForkJoinPool.class))
                .orShould()
                .callMethodWhere(describe(
                        "runs a task on a thread of the platform",
                        call -> call.getTargetOwner().isEquivalentTo(CompletableFuture.class)
                                && (ofPlatformsTimer.contains(call.getName())
                                        || (call.getName().endsWith("Async")
                                                && call.getTarget().getRawParameterTypes().stream()
                                                        .noneMatch(type -> type.isEquivalentTo(Executor.class)))))));
    }

    /** Calls of users' code leave the engine by its exits: an interrupt is one, and so is an observer's method. */
    @Test
    void usersCodeIsCalledBehindTheExitsOnly() {
        check(noClasses()
                .that()
                .doNotHaveSimpleName("LeaseEnd")
                .should()
                .callMethodWhere(describe(
                        "tells of a loss",
                        call -> call.getTargetOwner().isEquivalentTo(LossHandler.class)
                                && call.getName().equals("lost"))));
        check(noClasses()
                .that()
                .resideOutsideOfPackage(room("events"))
                .should()
                .callMethodWhere(describe(
                        "calls an observer", call -> call.getTargetOwner().isEquivalentTo(LockObserver.class))));
    }

    /** A copy stays registered with its source for as long as that lives. */
    @Test
    void noFutureIsCopied() {
        noClasses()
                .should()
                .callMethodWhere(describe(
                        "copies a future",
                        call -> call.getName().equals("copy")
                                && call.getTargetOwner().isAssignableTo(CompletableFuture.class)))
                .check(new ClassFileImporter()
                        .withImportOption(new ImportOption.DoNotIncludeTests())
                        .importPackages(FRONT_DOOR, "io.latchkey.lock"));
    }

    @Test
    void nothingIsPrinted() {
        check(noClasses().should(ACCESS_STANDARD_STREAMS));
    }

    @Test
    void noClassSleeps() {
        check(noClasses().should().callMethodWhere(named("sleep", Thread.class, TimeUnit.class)));
    }

    @Test
    void staticFieldsAreConstants() {
        check(fields().that().areStatic().should().beFinal());
        check(noFields()
                .that()
                .areStatic()
                .and()
                .arePublic()
                .should()
                .haveRawType(describe("arrays", JavaClass::isArray)));
    }

    private static void check(ArchRule rule) {
        rule.allowEmptyShould(true).check(PRODUCTION);
    }

    /** A slice for each class of a package, its nested classes included. */
    private static SliceAssignment byClass(String packageName) {
        return new SliceAssignment() {
            @Override
            public SliceIdentifier getIdentifierOf(JavaClass type) {
                String name = type.getBaseComponentType().getName();
                return type.getPackageName().equals(packageName)
                        ? SliceIdentifier.of(outermost(name))
                        : SliceIdentifier.ignore();
            }

            @Override
            public String getDescription() {
                return "classes of " + packageName;
            }
        };
    }

    private static String outermost(String name) {
        return name.contains("$") ? name.substring(0, name.indexOf('$')) : name;
    }

    private static String room(String name) {
        return INTERNAL + name + "..";
    }

    /** One class of them asks the system for the time and has a timer: it stands behind an interface that is pure. */
    private static DescribedPredicate<JavaClass> arePure() {
        return resideInAnyPackage(PURE_ROOMS)
                .and(DescribedPredicate.not(belongToAnyOf(SystemClock.class)))
                .as("are pure");
    }

    private static DescribedPredicate<JavaClass> rooms(String... packages) {
        return elementOf(resideInAnyPackage(packages));
    }

    /** What {@code java.base} exports, asked of the platform itself; primitive types too. */
    private static DescribedPredicate<JavaClass> javaBase() {
        Module base = Object.class.getModule();
        return elementOf(describe("java.base", type -> type.isPrimitive() || base.isExported(type.getPackageName())));
    }

    /** ArchUnit sees {@code Op[]} as a type of its own. */
    private static DescribedPredicate<JavaClass> elementOf(DescribedPredicate<JavaClass> predicate) {
        return describe(predicate.getDescription(), type -> predicate.test(type.getBaseComponentType()));
    }

    /** A value that several threads may ask is no thread. */
    private static DescribedPredicate<JavaClass> threading() {
        return resideInAPackage("java.util.concurrent..")
                .and(DescribedPredicate.not(belongToAnyOf(TimeUnit.class, AtomicReference.class)))
                .or(belongToAnyOf(Thread.class, ThreadLocal.class, ThreadGroup.class, Timer.class, TimerTask.class))
                .as("threads, executors, locks or timers");
    }

    private static DescribedPredicate<JavaCall<?>> readsTheTime() {
        Set<String> ofSystem = Set.of("currentTimeMillis", "nanoTime");
        return describe("reads the time", call -> {
            JavaClass owner = call.getTargetOwner();
            return (owner.isEquivalentTo(System.class) && ofSystem.contains(call.getName()))
                    || (owner.getPackageName().startsWith("java.time")
                            && call.getName().equals("now"));
        });
    }

    private static DescribedPredicate<JavaCall<?>> named(String method, Class<?>... owners) {
        return describe(
                "calls " + method,
                call -> call.getName().equals(method)
                        && Set.of(owners).stream().anyMatch(call.getTargetOwner()::isAssignableTo));
    }
}
