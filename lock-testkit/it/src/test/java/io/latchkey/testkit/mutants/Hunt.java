// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Runs killers against one mutant after the other until one catches it: the general judges, then the tests that the
 * mutant names.
 */
final class Hunt {
    private final MutantCompiler compiler = new MutantCompiler();
    private final Duration schedules;
    private final Duration limit;
    private final Predicate<Mutant> generally;

    /**
     * @param schedules the processor's time for random schedules against each mutant
     * @param generally the mutants that are given to the general judges first
     * @param limit the time after which a killer is taken to be caught in an endless loop
     */
    Hunt(Duration schedules, Predicate<Mutant> generally, Duration limit) {
        this.schedules = schedules;
        this.generally = generally;
        this.limit = limit;
    }

    /** The outcome for a mutant. */
    enum Ending {
        /** Caught by a general judge. */
        GENERAL,
        /** Caught only by a test that it names. */
        NAMED,
        /** A killer did not terminate. This does not count as caught: the mutant may only be slow. */
        ENDLESS,
        SURVIVED
    }

    /**
     * The result of the hunt for a mutant.
     *
     * @param by the killer and its message
     */
    record Result(Mutant mutant, Ending ending, String by, Duration took) {}

    Result hunt(Mutant mutant) throws InterruptedException {
        long start = System.nanoTime();
        MutantClasses classes = new MutantClasses(compiler.compile(mutant));
        FutureTask<Result> hunt = new FutureTask<>(() -> hunt(mutant, classes, start));
        Thread thread = new Thread(hunt, "mutant " + mutant.name());
        thread.setDaemon(true);
        thread.start();
        try {
            return hunt.get(limit.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException endless) {
            thread.interrupt();
            return result(mutant, Ending.ENDLESS, "no end within " + limit, start);
        } catch (ExecutionException failed) {
            throw new AssertionError("hunting \"" + mutant.name() + "\" failed", failed.getCause());
        }
    }

    private Result hunt(Mutant mutant, MutantClasses classes, long start) {
        Stream<Killer> general = generally.test(mutant) ? GeneralJudges.all(schedules) : Stream.of();
        return first(general, classes)
                .map(kill -> result(mutant, Ending.GENERAL, said(kill), start))
                .or(() -> first(named(mutant), classes).map(kill -> result(mutant, Ending.NAMED, said(kill), start)))
                .orElseGet(() -> result(mutant, Ending.SURVIVED, "", start));
    }

    private static Stream<Killer> named(Mutant mutant) {
        return mutant.tests().stream().map(TestsKiller::new);
    }

    private static Optional<Killer.Kill> first(Stream<Killer> killers, MutantClasses classes) {
        return killers.flatMap(killer -> killer.kill(classes).stream()).findFirst();
    }

    private static Result result(Mutant mutant, Ending ending, String by, long start) {
        return new Result(mutant, ending, by, Duration.ofNanos(System.nanoTime() - start));
    }

    private static String said(Killer.Kill kill) {
        return kill.by() + ": " + kill.why().lines().findFirst().orElse("");
    }
}
