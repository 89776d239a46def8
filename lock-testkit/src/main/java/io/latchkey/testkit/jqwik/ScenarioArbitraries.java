// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.jqwik;

import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.jqwik.Scope.FaultKind;
import io.latchkey.testkit.jqwik.Scope.Recipe;
import io.latchkey.testkit.proxy.FaultProxy.Direction;
import io.latchkey.testkit.workload.FaultSchedule;
import io.latchkey.testkit.workload.FaultSchedule.Action.RequestKind;
import io.latchkey.testkit.workload.LockSpec;
import io.latchkey.testkit.workload.Scenario;
import io.latchkey.testkit.workload.Workload;
import io.latchkey.testkit.workload.Workload.Turn;
import io.latchkey.testkit.workload.Workload.Turn.Form;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Tuple;

/**
 * The arbitraries of one scope at one size: 0 for the smallest, {@link #FULL} for all that the scope allows. All of
 * them shrink.
 */
final class ScenarioArbitraries {
    static final int FULL = 15;
    private static final int CAPACITY = 3;

    private final Scope scope;
    private final int size;

    ScenarioArbitraries(Scope scope, int size) {
        this.scope = scope;
        this.size = size;
    }

    private int upTo(int least, int most) {
        return least + (Math.max(most, least) - least) * size / FULL;
    }

    private static Arbitrary<Integer> number(int least, int most) {
        return Arbitraries.integers().between(least, most).withoutEdgeCases();
    }

    private Arbitrary<Integer> millis(int most) {
        return number(0, most);
    }

    private Arbitrary<String> path(String prefix) {
        return number(0, scope.paths() - 1).map(number -> "/" + prefix + number);
    }

    private Arbitrary<LockSpec> lock(Recipe recipe) {
        return switch (recipe) {
            case MUTEX -> path("m").map(LockSpec.Mutex::new);
            case READ_WRITE ->
                Arbitraries.frequencyOf(
                        Tuple.of(2, path("rw").map(LockSpec.Read::new)),
                        Tuple.of(1, path("rw").map(LockSpec.Write::new)));
            case SEMAPHORE ->
                Combinators.combine(path("s"), number(1, CAPACITY))
                        .as((path, weight) -> new LockSpec.Permits(path, weight, CAPACITY));
            case MULTI ->
                Arbitraries.oneOf(List.of(lock(Recipe.MUTEX), lock(Recipe.READ_WRITE), lock(Recipe.SEMAPHORE)))
                        .list()
                        .ofMinSize(2)
                        .ofMaxSize(3)
                        .uniqueElements(member -> member.claims("").get(0).path())
                        .map(LockSpec.Multi::new);
        };
    }

    Arbitrary<LockSpec> locks() {
        return Arbitraries.oneOf(Arrays.stream(scope.recipes()).map(this::lock).toList());
    }

    Arbitrary<Turn> turns() {
        Arbitrary<Form> forms = Arbitraries.frequency(
                Tuple.of(6, Form.ACQUIRE),
                Tuple.of(1, Form.TRY_NOW),
                Tuple.of(2, Form.TRY_WITHIN),
                Tuple.of(1, Form.CANCEL),
                Tuple.of(3, Form.DOWNGRADE));
        return Combinators.combine(millis(scope.pace()), locks(), forms, millis(4 * scope.pace()), millis(scope.pace()))
                .as((pause, lock, form, patience, hold) -> new Turn(pause, lock, fitting(form, lock), patience, hold));
    }

    private static Form fitting(Form form, LockSpec lock) {
        return form == Form.DOWNGRADE && !(lock instanceof LockSpec.Write) ? Form.ACQUIRE : form;
    }

    /** At least two clients. Some have a second actor in the same session. */
    Arbitrary<Workload> workloads() {
        Arbitrary<List<Turn>> turns = turns().list().ofMinSize(1).ofMaxSize(upTo(1, scope.turns()));
        Arbitrary<List<List<Turn>>> second = turns.list().ofMinSize(0).ofMaxSize(upTo(0, 2));
        return Combinators.combine(turns.list().ofMinSize(2).ofMaxSize(upTo(2, scope.clients())), second)
                .as(ScenarioArbitraries::workload);
    }

    private static Workload workload(List<List<Turn>> first, List<List<Turn>> second) {
        List<Workload.Actor> actors = new ArrayList<>();
        for (int client = 0; client < first.size(); client++) {
            actors.add(new Workload.Actor(client, first.get(client)));
        }
        for (int client = 0; client < Math.min(second.size(), first.size()); client++) {
            actors.add(new Workload.Actor(client, second.get(client)));
        }
        return new Workload(actors);
    }

    private Arbitrary<FaultSchedule.Action> action(FaultKind kind) {
        Arbitrary<Integer> lasts = millis(8 * scope.pace());
        Arbitrary<RequestKind> requests = Arbitraries.of(RequestKind.class);
        Arbitrary<Integer> which = number(1, 3);
        return switch (kind) {
            case EXPIRY ->
                Arbitraries.frequencyOf(
                        Tuple.of(2, Arbitraries.of(ExpiryOrder.class).map(FaultSchedule.Action.Expire::new)),
                        Tuple.of(
                                1,
                                Combinators.combine(requests, which, Arbitraries.of(ExpiryOrder.class))
                                        .as(FaultSchedule.Action.ExpireOn::new)));
            case LOSS ->
                Arbitraries.oneOf(
                        Combinators.combine(requests, which).as(FaultSchedule.Action.LoseRequest::new),
                        Combinators.combine(requests, which).as(FaultSchedule.Action.LoseAnswer::new),
                        Arbitraries.just(new FaultSchedule.Action.Cut()));
            case DELAY ->
                Combinators.combine(number(1, Math.max(1, scope.pace())), lasts).as(FaultSchedule.Action.Delay::new);
            case BLACK_HOLE ->
                Combinators.combine(Arbitraries.of(Direction.class), lasts).as(FaultSchedule.Action.BlackHole::new);
            case REFUSAL -> lasts.map(FaultSchedule.Action.Refuse::new);
            case SERVER ->
                Arbitraries.oneOf(
                        Combinators.combine(Arbitraries.of(FaultSchedule.Action.Role.class), lasts)
                                .as(FaultSchedule.Action.Stop::new),
                        lasts.map(FaultSchedule.Action.CutOff::new));
        };
    }

    private Arbitrary<FaultSchedule.TimedAction> timed(Arbitrary<FaultSchedule.Action> actions) {
        return Combinators.combine(millis(4 * scope.pace()), number(0, scope.clients() - 1), actions)
                .as(FaultSchedule.TimedAction::new);
    }

    Arbitrary<FaultSchedule> faults() {
        List<FaultKind> kinds = List.of(scope.faults());
        if (kinds.isEmpty() || scope.mostFaults() == 0) {
            return Arbitraries.just(FaultSchedule.none());
        }
        Arbitrary<FaultSchedule.Action> first = kinds.contains(FaultKind.EXPIRY)
                ? Arbitraries.of(ExpiryOrder.class).map(FaultSchedule.Action.Expire::new)
                : any(kinds);
        return Combinators.combine(
                        timed(first), timed(any(kinds)).list().ofMinSize(0).ofMaxSize(upTo(0, scope.mostFaults() - 1)))
                .as((one, more) -> {
                    List<FaultSchedule.TimedAction> all = new ArrayList<>(List.of(one));
                    all.addAll(more);
                    return new FaultSchedule(all);
                });
    }

    private Arbitrary<FaultSchedule.Action> any(List<FaultKind> kinds) {
        return Arbitraries.oneOf(kinds.stream().map(this::action).toList());
    }

    Arbitrary<Scenario> scenarios() {
        return Combinators.combine(workloads(), faults()).as(Scenario::of);
    }
}
