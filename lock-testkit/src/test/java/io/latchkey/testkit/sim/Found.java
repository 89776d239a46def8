// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

/** A choice of situations breaks a rule. */
final class Found extends RuntimeException {
    private static final long serialVersionUID = 1;
    final transient Exhaustive.Failure failure;

    Found(Exhaustive.Failure failure) {
        super(failure.rule(), null, false, false);
        this.failure = failure;
    }
}
