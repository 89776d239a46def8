// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

/** A rule does not hold. */
final class Broken extends AssertionError {
    private static final long serialVersionUID = 1;

    private final String rule;

    Broken(String rule, String how) {
        super(rule + ": " + how);
        this.rule = rule;
    }

    /** An unexpected exception. */
    static Broken by(RuntimeException bug) {
        Broken broken = new Broken("no exception", bug + " at " + bug.getStackTrace()[0]);
        broken.initCause(bug);
        return broken;
    }

    String rule() {
        return rule;
    }
}
