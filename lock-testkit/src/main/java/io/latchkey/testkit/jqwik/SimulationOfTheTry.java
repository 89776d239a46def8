// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.jqwik;

import io.latchkey.testkit.SimulatedLocks;
import java.util.List;
import java.util.Optional;
import net.jqwik.api.lifecycle.AroundTryHook;
import net.jqwik.api.lifecycle.LifecycleContext;
import net.jqwik.api.lifecycle.ParameterResolutionContext;
import net.jqwik.api.lifecycle.ResolveParameterHook;
import net.jqwik.api.lifecycle.TryExecutionResult;
import net.jqwik.api.lifecycle.TryExecutor;
import net.jqwik.api.lifecycle.TryLifecycleContext;

/** Gives each try a simulation of its own, closes it behind the try, and reports what fails. */
final class SimulationOfTheTry implements ResolveParameterHook, AroundTryHook {
    @Override
    public Optional<ParameterSupplier> resolve(ParameterResolutionContext parameter, LifecycleContext context) {
        return parameter.typeUsage().isOfType(SimulatedLocks.class)
                ? Optional.of(tries -> SimulatedLocks.start())
                : Optional.empty();
    }

    @Override
    public TryExecutionResult aroundTry(TryLifecycleContext context, TryExecutor executor, List<Object> parameters) {
        TryExecutionResult result;
        try {
            result = executor.execute(parameters);
        } finally {
            parameters.stream()
                    .filter(SimulatedLocks.class::isInstance)
                    .map(SimulatedLocks.class::cast)
                    .forEach(SimulatedLocks::close);
        }
        Optional<FailureReport.DrawnValue> drawn = FailureReport.drawn(parameters);
        return result.isFalsified() && drawn.isPresent() ? FailureReport.of(context, drawn.get(), result, "") : result;
    }
}
