// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.util.Optional;

/** Something that should notice a seeded bug. */
interface Killer {
    /** What it found wrong with the locks in {@code classes}; nothing when all is well, as far as it sees. */
    Optional<Kill> kill(MutantClasses classes);

    /**
     * A bug that was noticed.
     *
     * @param by the killer
     * @param why what it said
     */
    record Kill(String by, String why) {}
}
