// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * The general judges of every seeded bug, which run before the test that the bug names: schedules of all mixes, tests
 * of single classes together, and the contracts on the simulation. They need no server and are not chosen for a bug.
 * Tests with the tag {@code once} are left out: they explore or count, and take longer than all others together.
 */
final class GeneralJudges {
    private static final Duration FIRST_LOOK = Duration.ofSeconds(2);

    private static final List<String> ON_THE_SIMULATION = List.of(
            "io.latchkey.testkit.sim.OldSchedulesTest",
            "io.latchkey.testkit.sim.HeartbeatTest",
            "io.latchkey.testkit.sim.AcquireMomentsTest",
            "io.latchkey.testkit.sim.ReleaseMomentsTest",
            "io.latchkey.testkit.sim.PathMomentsTest",
            "io.latchkey.testkit.sim.LimitAndGraceTest",
            "io.latchkey.lock.BodyInterruptionTest",
            "io.latchkey.testkit.SimulatedLocksTest",
            "io.latchkey.testkit.contract.SimulatedLeadershipContractTest",
            "io.latchkey.testkit.contract.SimulatedTermContractTest",
            "io.latchkey.testkit.contract.SimulatedLeaseContractTest",
            "io.latchkey.testkit.contract.SimulatedMutexContractTest",
            "io.latchkey.testkit.contract.SimulatedReadWriteLockContractTest",
            "io.latchkey.testkit.contract.SimulatedSemaphoreContractTest",
            "io.latchkey.testkit.contract.SimulatedMultiLockContractTest");

    private static final List<String> PURE = testsOf("io.latchkey.zk.internal");

    private GeneralJudges() {}

    /** The cheapest first; the schedules go on where they stopped. */
    static Stream<Killer> all(Duration schedules) {
        SchedulesKiller random = new SchedulesKiller();
        return Stream.of(
                        Stream.of(random.with(FIRST_LOOK)),
                        ON_THE_SIMULATION.stream().map(TestsKiller::onTheSimulation),
                        Stream.<Killer>of(
                                classes -> TestsKiller.ofTheirOwnModule(PURE).kill(classes.again())),
                        Stream.of(random.with(schedules.minus(FIRST_LOOK))))
                .flatMap(killers -> killers);
    }

    /** Without properties: the engine of these is not made for several runs at a time. */
    private static List<String> testsOf(String folder) {
        Path classes = MutantClasses.PURE_TESTS.resolve(folder.replace('.', '/'));
        try (Stream<Path> files = Files.walk(classes)) {
            return files.map(file -> MutantClasses.PURE_TESTS.relativize(file).toString())
                    .filter(name -> name.endsWith("Test.class"))
                    .map(name -> name.replace(".class", "").replace('/', '.'))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
