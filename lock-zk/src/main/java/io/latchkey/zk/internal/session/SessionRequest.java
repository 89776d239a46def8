// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

/** A request as its session sees it. */
public interface SessionRequest {
    /** Creates its nodes; the session is connected. */
    void create();

    /** The session lives and has time left. */
    void confirmed();

    /** It holds, and the connection is lost. */
    void suspect();

    /** It holds, and the validity deadline has passed. */
    void lapsed();
}
