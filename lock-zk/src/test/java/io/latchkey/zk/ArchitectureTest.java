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
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Clock;
import java.time.InstantSource;
import java.util.Set;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.Test;

/** The walls between the rooms of lock-zk: who may know whom, and what the pure rooms may not touch. */
class ArchitectureTest {
    private static final String FRONT_DOOR = "io.latchkey.zk";
    private static final String QUEUE = "io.latchkey.zk.queue..";
    private static final String RECIPE = "io.latchkey.zk.recipe..";
    private static final String ACQUIRE = "io.latchkey.zk.acquire..";
    private static final String SESSION = "io.latchkey.zk.session..";
    private static final String[] ROOMS = {QUEUE, RECIPE, ACQUIRE, SESSION};
    private static final String[] PURE_ROOMS = {QUEUE, RECIPE, ACQUIRE};

    private static final DescribedPredicate<JavaClass> PLATFORM =
            javaBase().or(resideInAPackage("org.jspecify..")).as("in java.base or org.jspecify");

    private static final JavaClasses PRODUCTION = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages(FRONT_DOOR);

    /** Empty rooms pass every rule below, so make sure that the importer looked in the right house. */
    @Test
    void theProductionClassesWereFound() {
        assertTrue(PRODUCTION.contain("io.latchkey.zk.queue.NodeName"), () -> "found only " + PRODUCTION);
        assertTrue(PRODUCTION.stream().noneMatch(found -> found.getName().endsWith("Test")), "tests among them");
    }

    @Test
    void queueKnowsThePlatformOnly() {
        check(classes().that().resideInAPackage(QUEUE).should().onlyDependOnClassesThat(PLATFORM.or(rooms(QUEUE))));
    }

    @Test
    void recipeKnowsQueue() {
        check(classes()
                .that()
                .resideInAPackage(RECIPE)
                .should()
                .onlyDependOnClassesThat(PLATFORM.or(rooms(RECIPE, QUEUE))));
    }

    @Test
    void acquireKnowsQueueAndRecipe() {
        check(classes()
                .that()
                .resideInAPackage(ACQUIRE)
                .should()
                .onlyDependOnClassesThat(PLATFORM.or(rooms(ACQUIRE, QUEUE, RECIPE))));
    }

    @Test
    void pureRoomsHaveNoThreads() {
        check(noClasses().that().resideInAnyPackage(PURE_ROOMS).should().dependOnClassesThat(threading()));
    }

    @Test
    void pureRoomsHaveNoClock() {
        check(noClasses()
                .that()
                .resideInAnyPackage(PURE_ROOMS)
                .should()
                .dependOnClassesThat(belongToAnyOf(Clock.class, InstantSource.class))
                .orShould()
                .callMethodWhere(readsTheTime()));
    }

    @Test
    void onlySessionKnowsZooKeeper() {
        check(noClasses()
                .that()
                .resideOutsideOfPackages(SESSION, FRONT_DOOR)
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

    /** One jar of it is on the class path, because ZooKeeper's client does not load without it. */
    @Test
    void nobodyKnowsNetty() {
        check(noClasses().should().dependOnClassesThat().resideInAPackage("io.netty.."));
    }

    @Test
    void roomsDoNotKnowTheFrontDoor() {
        check(noClasses()
                .that()
                .resideInAnyPackage(ROOMS)
                .should()
                .dependOnClassesThat()
                .resideInAPackage(FRONT_DOOR));
    }

    @Test
    void roomsHaveNoCycles() {
        check(slices().matching("io.latchkey.zk.(*)..").should().beFreeOfCycles());
    }

    @Test
    void nothingIsPrinted() {
        check(noClasses().should(ACCESS_STANDARD_STREAMS));
    }

    @Test
    void nobodySleepsToWait() {
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

    private static DescribedPredicate<JavaClass> threading() {
        return resideInAPackage("java.util.concurrent..")
                .and(DescribedPredicate.not(belongToAnyOf(TimeUnit.class)))
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
