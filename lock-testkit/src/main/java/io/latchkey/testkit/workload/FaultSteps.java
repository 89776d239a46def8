// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.workload;

import io.latchkey.testkit.workload.FaultSchedule.TimedAction;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** A schedule of faults under way. A lasting fault ends before the next begins. */
final class FaultSteps extends Steps {
    private final List<TimedAction> schedule;
    private final Target target;
    private final LongSupplier clock;
    /** Guarded by itself. */
    private final List<TimedAction> struck = new ArrayList<>();

    private int at;
    /** Ends the lasting fault. */
    private @Nullable Runnable ending;

    /** The clients and servers that the faults strike. */
    @FunctionalInterface
    interface Target {
        /** Begins the fault, and says by {@link #struck} when it has struck. */
        void strike(TimedAction fault, FaultSteps under) throws InterruptedException;
    }

    FaultSteps(FaultSchedule schedule, Target target, LongSupplier clock) {
        this.schedule = schedule.faults();
        this.target = target;
        this.clock = clock;
        plan();
    }

    private void plan() {
        next = at < schedule.size() ? clock.getAsLong() + schedule.get(at).afterMillis() : NEVER;
    }

    @Override
    boolean isOver() {
        return next == NEVER;
    }

    @Override
    boolean step() throws InterruptedException {
        if (isOver() || clock.getAsLong() < next) {
            return false;
        }
        if (ending == null) {
            target.strike(schedule.get(at), this);
        } else {
            end();
        }
        if (ending == null) {
            at++;
            plan();
        }
        return true;
    }

    /** Ends the lasting fault, if there is one. */
    void end() {
        Runnable last = ending;
        ending = null;
        if (last != null) {
            last.run();
        }
    }

    /** Any thread may say so. */
    void struck(TimedAction fault) {
        synchronized (struck) {
            struck.add(fault);
        }
    }

    /** What strikes now lasts for some time. */
    void lasts(int millis, Runnable end) {
        next = clock.getAsLong() + millis;
        ending = end;
    }

    List<TimedAction> struck() {
        synchronized (struck) {
            return List.copyOf(struck);
        }
    }
}
