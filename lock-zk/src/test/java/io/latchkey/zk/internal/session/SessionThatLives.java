// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

/** The client of a session that does not end, in tests of its parts. */
final class SessionThatLives implements Session.Client {
    @Override
    public void sessionOver(Session session) {
        throw new AssertionError("the session is not over");
    }

    @Override
    public void loginRefused() {
        throw new AssertionError("no login is refused");
    }
}
