// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.util.Optional;

/** A check that should catch a seeded bug. */
interface Killer {
    /** Returns the defect that it found in the locks in {@code classes}; empty if it found none. */
    Optional<Kill> kill(MutantClasses classes);

    /**
     * A bug that was caught.
     *
     * @param by the killer
     * @param why its message
     */
    record Kill(String by, String why) {}
}
