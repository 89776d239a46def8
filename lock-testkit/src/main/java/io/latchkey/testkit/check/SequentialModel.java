// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import java.util.Optional;

/**
 * How a lock behaves if one thing happens at a time. {@link WingGongSearch#run} asks it again and again, and goes back
 * to former states, so an answer depends on nothing but the arguments.
 *
 * @param <S> its state: a value, equal to another if the lock behaves the same from then on
 */
interface SequentialModel<S> {
    /** {@return the state in which a history begins} */
    S initial();

    /**
     * {@return the state after the action; empty if the lock does not do this in that state}
     *
     * @param state the state before
     * @param action what is done
     */
    Optional<S> after(S state, Action action);
}
