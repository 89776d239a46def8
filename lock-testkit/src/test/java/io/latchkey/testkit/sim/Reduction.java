// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.EnumSet;
import java.util.Set;

/**
 * What {@link Histories} leave out since something else comes to the same. Each can be done without, to show that it is
 * right.
 */
enum Reduction {
    /**
     * Of clients that want the same all but one order of their first entries. Until an entry of a client is in the log
     * no other can tell it from its twin, and the rules ask for no names: where the second is heard first the names can
     * be exchanged from the beginning on, the faults too.
     */
    TWINS,

    /** Whatever else could happen before a message is taken that depends on nothing else: {@link Options#isEager}. */
    MESSAGES_AT_ONCE,

    /**
     * The end of a session after a step that has nothing to do with it: what its server, its connection and its workers
     * do goes the same way with the session over, until its server applies the end, which it can put off. So the
     * session may as well end before.
     */
    SESSION_ENDS,

    /**
     * That a server applies what nobody sees, see {@link State#applies}. What fires no watch of the client, nor answers
     * it, changes what later reads and connections find, and nothing else. It can be put off, since nothing takes it
     * away, until there is a read, a connection, or something behind it in the log that is seen; and then no step comes
     * in between that could not come before.
     */
    UNSEEN_TRANSACTIONS,

    /**
     * What is lost anyway: while nothing that its server tells arrives, reads are taken at once, and the server applies
     * nothing. A read does nothing but answer and leave a watch, both of which the end of the connection clears; what
     * the server applies makes watches fire, which are lost, and can as well be applied after the end of the
     * connection, which costs nothing and is always possible.
     */
    LOST_ANYWAY,

    /**
     * Steps that were played before, after another history: what a step of a client leads to depends on its
     * {@link State}, which has the tree of its server in it, on the entries that its server has yet to apply, and on
     * nothing else ({@link Passages}). Of zxids it is the order that counts, since nobody asks how far they are apart
     * ({@link Ranks}).
     */
    PASSAGES,

    /**
     * What comes after a history at whose end everybody can go on in the same ways, and is judged in the same ways, as
     * at the end of another that was visited: {@link History#fingerprint}. That one stands for both.
     */
    HISTORIES_ALIKE;

    static final Set<Reduction> ALL = Set.copyOf(EnumSet.allOf(Reduction.class));

    /** All but these. */
    static Set<Reduction> without(Reduction one, Reduction... others) {
        return Set.copyOf(EnumSet.complementOf(EnumSet.of(one, others)));
    }
}
