// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

import java.util.List;
import java.util.Set;

/**
 * What can be explored: worlds, each a row of numbers, and steps from one to the next.
 *
 * @param <S> a step
 */
interface Space<S> {
    int[] initial();

    List<S> steps(int[] world);

    /**
     * The world after the step.
     *
     * @throws Violation if the step must not happen
     */
    int[] after(int[] world, S step);

    /**
     * All is well in this world.
     *
     * @throws Violation if not
     */
    void check(int[] world);

    /** What was come across. */
    Set<Reached> reached();

    /** For a person to read. */
    String describe(int[] before, S step);
}
