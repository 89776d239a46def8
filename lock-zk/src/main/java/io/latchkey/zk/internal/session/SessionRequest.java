// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

/** A request as its session sees it. */
public interface SessionRequest {
    /** Creates the request's nodes. The session is connected. */
    void create();

    /** The session is alive and its validity period has not ended. */
    void confirmed();

    /** The connection is lost while the request holds. */
    void suspect();

    /** The validity deadline has passed while the request holds. */
    void lapsed();
}
