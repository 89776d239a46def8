// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.jqwik;

import io.latchkey.testkit.workload.FaultSchedule;
import io.latchkey.testkit.workload.Scenario;
import java.util.List;
import java.util.Optional;
import net.jqwik.api.lifecycle.TryExecutionResult;
import net.jqwik.api.lifecycle.TryLifecycleContext;

/** Says in the first lines of a failure what a reader needs to see it again. */
final class FailureReport {
    private FailureReport() {}

    /**
     * What was drawn for a try.
     *
     * @param what the kit's own scenario, or the faults for somebody's own code
     * @param line of the report, as far as the commit
     * @param option of the command, with which every try draws it again
     */
    record Drawn(Object what, String line, String option) {}

    static Optional<Drawn> drawn(List<Object> parameters) {
        return parameters.stream()
                .flatMap(parameter -> drawn(parameter).stream())
                .findFirst();
    }

    private static Optional<Drawn> drawn(Object parameter) {
        if (parameter instanceof Scenario scenario) {
            return Optional.of(new Drawn(
                    scenario, "seed " + scenario.seed() + ", commit ", "-D" + Growing.SEED + "=" + scenario.seed()));
        } else if (parameter instanceof FaultSchedule faults) {
            return Optional.of(
                    new Drawn(faults, "commit ", String.format("\"-D%s=%s\"", LatchkeyDomain.FAULTS, faults)));
        }
        return Optional.empty();
    }

    /**
     * The failed try, with the report before its message.
     *
     * @param more lines of the report, each with its end; may be empty
     */
    static TryExecutionResult of(TryLifecycleContext context, Drawn drawn, TryExecutionResult failed, String more) {
        Throwable failure = failed.throwable().orElseGet(() -> new AssertionError("the property returned false"));
        return TryExecutionResult.falsified(new AssertionError(text(context, drawn, failure, more), failure));
    }

    private static String text(TryLifecycleContext context, Drawn drawn, Throwable failure, String more) {
        String message = String.valueOf(failure.getMessage());
        String rule = message.lines().findFirst().orElse("");
        String test = context.containerClass().getSimpleName();
        return "broken: " + rule
                + "\n" + drawn.line()
                + Commit.ofTheWorkTree().orElse("not known")
                + "\n" + more
                + "replay: mvn test -Dtest=" + test + " -Dsurefire.failIfNoSpecifiedTests=false " + drawn.option()
                + "\n" + drawn.what()
                + "\n" + message;
    }
}
