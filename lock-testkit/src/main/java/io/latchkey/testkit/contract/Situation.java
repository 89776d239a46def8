// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

/** What a test of a fault claims to have been in. */
public enum Situation {
    /** A lease was lost while its holder held it. */
    LOST_WHILE_HELD,
    /** A former holder still found its lease valid when the next had been granted. */
    ZOMBIE_HOLDER,
    /** A store refused the token of such a holder. */
    ZOMBIE_FENCED,
    /** A holder's deadline passed with no server in reach. */
    DEADLINE_PASSED,
    /** A lease was without a connection, and valid. */
    SUSPECT,
    /** A session ended while a request of it waited. */
    WAITER_EXPIRED,
    /** A session ended while a grant was on its way to it. */
    EXPIRED_AT_THE_GRANT,
    /** A request to create never reached the server. */
    CREATE_LOST,
    /** The server created, and the answer was lost. */
    CREATED_ANSWER_LOST,
    /** The server deleted, and the answer was lost. */
    DELETED_ANSWER_LOST,
    /** A caller gave up when the server had created, and the answer was on its way. */
    GIVEN_UP_WHILE_CREATING,
    /** A call was made with no server in reach. */
    OUT_OF_REACH,
    /** The node of a holder was deleted. */
    NODE_DELETED
}
