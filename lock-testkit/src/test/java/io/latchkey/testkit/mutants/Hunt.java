// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/** Lets killers loose on one mutant after the other, the cheapest first, until one notices. */
final class Hunt {
    private final MutantCompiler compiler = new MutantCompiler();
    private final Duration schedules;
    private final Duration limit;

    /**
     * @param schedules for how long random schedules are played against each mutant
     * @param limit how long one mutant may take
     */
    Hunt(Duration schedules, Duration limit) {
        this.schedules = schedules;
        this.limit = limit;
    }

    /** What became of a mutant. */
    record Result(Mutant mutant, Optional<Killer.Kill> kill, Duration took) {}

    /** With the tests that it names; one that names none is for the random schedules. */
    Result hunt(Mutant mutant) throws InterruptedException {
        long start = System.nanoTime();
        MutantClasses classes = new MutantClasses(compiler.compile(mutant));
        FutureTask<Optional<Killer.Kill>> killing = new FutureTask<>(() -> kill(classes, mutant));
        Thread thread = new Thread(killing, "mutant " + mutant.name());
        thread.setDaemon(true);
        thread.start();
        Optional<Killer.Kill> kill;
        try {
            kill = killing.get(limit.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException endless) {
            thread.interrupt();
            kill = Optional.of(new Killer.Kill("the clock", "", "comes to no end within " + limit));
        } catch (ExecutionException failed) {
            throw new AssertionError("hunting \"" + mutant.name() + "\" failed", failed.getCause());
        }
        return new Result(mutant, kill, Duration.ofNanos(System.nanoTime() - start));
    }

    private Optional<Killer.Kill> kill(MutantClasses classes, Mutant mutant) {
        Stream<? extends Killer> killers = mutant.tests().isEmpty()
                ? Stream.of(new SchedulesKiller(schedules, mutant.mix()))
                : mutant.tests().stream().map(TestKiller::new);
        return killers.<Killer.Kill>flatMap(killer -> killer.kill(classes).stream())
                .findFirst();
    }
}
