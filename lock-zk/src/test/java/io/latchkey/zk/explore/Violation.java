// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

import java.util.Optional;

/** An obligation was broken. */
final class Violation extends RuntimeException {
    private static final long serialVersionUID = 1;

    Violation(String what) {
        super(what);
    }

    /** What the check finds. */
    static Optional<Violation> of(Runnable check) {
        try {
            check.run();
            return Optional.empty();
        } catch (Violation found) {
            return Optional.of(found);
        }
    }
}
