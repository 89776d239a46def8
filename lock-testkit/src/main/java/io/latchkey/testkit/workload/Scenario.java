// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.workload;

/**
 * A workload with faults.
 *
 * @param seed the number it was drawn from, which draws the same again; 0 if it was not drawn
 * @param workload the actors with their turns
 * @param faults the schedule of faults
 */
public record Scenario(long seed, Workload workload, FaultSchedule faults) {
    /**
     * {@return one that was written by hand}
     *
     * @param workload the actors with their turns
     * @param faults the schedule of faults
     */
    public static Scenario of(Workload workload, FaultSchedule faults) {
        return new Scenario(0, workload, faults);
    }

    @Override
    public String toString() {
        return "seed " + seed + "\n" + workload + "\nfaults: " + faults;
    }
}
