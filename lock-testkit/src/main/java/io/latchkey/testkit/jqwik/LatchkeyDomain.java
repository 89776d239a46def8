// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.jqwik;

import io.latchkey.testkit.workload.FaultSchedule;
import io.latchkey.testkit.workload.LockSpec;
import io.latchkey.testkit.workload.Scenario;
import io.latchkey.testkit.workload.Workload;
import io.latchkey.testkit.workload.Workload.Turn;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Provide;
import net.jqwik.api.domains.Domain;
import net.jqwik.api.domains.DomainContext;
import net.jqwik.api.domains.DomainContextBase;
import net.jqwik.api.providers.TypeUsage;

/**
 * Arbitraries for {@link Scenario}, {@link Workload}, {@link FaultSchedule}, {@link Turn} and {@link LockSpec}, within
 * the bounds of a {@link Scope} at the parameter. Use it with {@code @Domain(LatchkeyDomain.class)}, with
 * {@link LatchkeyProperties} where properties run on a server, or with {@link SimulatedProperties} where they run in a
 * simulation. The parameters that jqwik supports by itself are supported as well.
 * {@link io.latchkey.testkit.workload.Play} plays scenarios, which are workloads of the kit's; for other code use a
 * {@link FaultSchedule}, which {@link io.latchkey.testkit.workload.FaultRun} plays while that code runs.
 *
 * <p>Scenarios grow: the first tries are the smallest. Each is drawn from one number, {@link Scenario#seed}; with
 * {@code -Dlatchkey.seed=...} every try plays that one. With {@code -Dlatchkey.faults="after 12 C0 cut; ..."} every
 * schedule that is drawn by itself is that one. All of these shrink, which is of use in a simulation. On real servers,
 * where time is not replayed, switch shrinking off, as {@link LatchkeyProperties} does; {@link SimulatedProperties}
 * leaves it on.
 */
@Domain(DomainContext.Global.class)
public final class LatchkeyDomain extends DomainContextBase {
    static final String FAULTS = "latchkey.faults";

    /** For jqwik. */
    public LatchkeyDomain() {}

    @Provide
    Arbitrary<Scenario> scenarios(TypeUsage type) {
        return Arbitraries.fromGenerator(new ScenarioGenerator(scope(type)));
    }

    @Provide
    Arbitrary<Workload> workloads(TypeUsage type) {
        return full(type).workloads();
    }

    @Provide
    Arbitrary<FaultSchedule> faults(TypeUsage type) {
        String given = System.getProperty(FAULTS);
        if (given == null) {
            return full(type).faults();
        }
        FaultSchedule always = FaultSchedule.parse(given);
        return Arbitraries.randomValue(random -> always);
    }

    @Provide
    Arbitrary<Turn> turns(TypeUsage type) {
        return full(type).turns();
    }

    @Provide
    Arbitrary<LockSpec> locks(TypeUsage type) {
        return full(type).locks();
    }

    private static ScenarioArbitraries full(TypeUsage type) {
        return new ScenarioArbitraries(scope(type), ScenarioArbitraries.FULL);
    }

    private static Scope scope(TypeUsage type) {
        return type.findAnnotation(Scope.class).orElseGet(() -> Defaults.class.getAnnotation(Scope.class));
    }

    /** Carries a scope of nothing but defaults. */
    @Scope
    private @interface Defaults {}
}
