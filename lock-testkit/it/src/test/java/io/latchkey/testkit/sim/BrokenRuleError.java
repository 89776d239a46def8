// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.Optional;

/** A rule does not hold. */
final class BrokenRuleError extends AssertionError {
    private static final long serialVersionUID = 1;

    private final String rule;

    BrokenRuleError(String rule, String how) {
        super(rule + ": " + how);
        this.rule = rule;
    }

    /** Returns the rule that the run breaks, if it does: an unexpected exception breaks one too. */
    static Optional<BrokenRuleError> by(Runnable run) {
        try {
            run.run();
            return Optional.empty();
        } catch (BrokenRuleError broken) {
            return Optional.of(broken);
        } catch (RuntimeException bug) {
            BrokenRuleError broken = new BrokenRuleError("no exception", bug + " at " + bug.getStackTrace()[0]);
            broken.initCause(bug);
            return Optional.of(broken);
        }
    }

    String rule() {
        return rule;
    }
}
