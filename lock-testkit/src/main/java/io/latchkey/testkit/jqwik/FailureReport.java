// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.jqwik;

import io.latchkey.testkit.workload.FaultSchedule;
import io.latchkey.testkit.workload.Scenario;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import net.jqwik.api.lifecycle.TryExecutionResult;
import net.jqwik.api.lifecycle.TryLifecycleContext;

/** Says in the first lines of a failure what a reader needs to see it again. */
final class FailureReport {
    private FailureReport() {}

    /**
     * The random input of a try.
     *
     * @param what the kit's scenario, or the faults for user code
     * @param seed for the report; empty without a seed
     * @param option of the command, with which every try draws it again
     */
    record DrawnValue(Object what, Optional<String> seed, String option) {}

    static Optional<DrawnValue> drawn(List<Object> parameters) {
        return parameters.stream()
                .flatMap(parameter -> drawn(parameter).stream())
                .findFirst();
    }

    private static Optional<DrawnValue> drawn(Object parameter) {
        if (parameter instanceof Scenario scenario) {
            return Optional.of(new DrawnValue(
                    scenario,
                    Optional.of("seed " + scenario.seed()),
                    "-D" + ScenarioGenerator.SEED + "=" + scenario.seed()));
        } else if (parameter instanceof FaultSchedule faults) {
            return Optional.of(new DrawnValue(
                    faults, Optional.empty(), String.format("\"-D%s=%s\"", LatchkeyDomain.FAULTS, faults)));
        }
        return Optional.empty();
    }

    /**
     * The failed try as one error, which has the report before the message and keeps the place where the try failed.
     * The failure itself is not its cause: the message would stand twice in what is printed.
     *
     * @param more lines of the report, each with its end; may be empty
     */
    static TryExecutionResult of(
            TryLifecycleContext context, DrawnValue drawn, TryExecutionResult failed, String more) {
        Throwable failure = failed.throwable().orElseGet(() -> new AssertionError("the property returned false"));
        String message = failure instanceof AssertionError ? String.valueOf(failure.getMessage()) : failure.toString();
        AssertionError report = new AssertionError(text(context, drawn, message, more), failure.getCause());
        report.setStackTrace(failure.getStackTrace());
        for (Throwable each : failure.getSuppressed()) {
            report.addSuppressed(each);
        }
        return TryExecutionResult.falsified(report);
    }

    private static String text(TryLifecycleContext context, DrawnValue drawn, String message, String more) {
        String rule = message.lines().findFirst().orElse("");
        String rest = message.substring(rule.length());
        String test = context.containerClass().getSimpleName();
        return "broken: " + rule
                + "\n" + origin(drawn.seed(), commit()) + more
                + "replay: mvn test -Dtest=" + test + " -Dsurefire.failIfNoSpecifiedTests=false " + drawn.option()
                + "\n" + drawn.what()
                + rest;
    }

    /** The commit that the work tree was last at, if git knows one; changes on top of it are not seen. */
    private static Optional<String> commit() {
        try {
            Process git = new ProcessBuilder("git", "rev-parse", "HEAD").start();
            String said = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return said.matches("[0-9a-f]{40,}") ? Optional.of(said) : Optional.empty();
        } catch (IOException noGit) {
            return Optional.empty();
        }
    }

    /** The line of what is known of these, with its end; nothing if neither is known. */
    private static String origin(Optional<String> seed, Optional<String> commit) {
        return Stream.of(seed, commit.map(known -> "commit " + known))
                .flatMap(Optional::stream)
                .reduce((one, other) -> one + ", " + other)
                .map(line -> line + "\n")
                .orElse("");
    }
}
