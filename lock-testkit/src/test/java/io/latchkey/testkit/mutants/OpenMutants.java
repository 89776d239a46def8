// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.util.List;

/**
 * Bugs that nothing catches yet within a minute, or not every time: each is a check that is missing. Hunted only when chosen by
 * name.
 */
final class OpenMutants {
    private OpenMutants() {}

    static final List<Mutant> ALL = List.of(Mutant.of(
            "an older watch's word counts for the new one",
            "session/Watches",
            "if (of(what) == Armed.CONFIRMED) {\n                set(what, Armed.NOT);\n            }",
            "set(what, Armed.NOT);"));
}
