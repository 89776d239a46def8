// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.lock.LockException;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.SessionState;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The allowed calls of the observer of one client: for each request {@code requested} first; then {@code queued} any
 * number of times until {@code granted} or {@code notGranted}; after a grant {@code suspect} any number of times, while
 * the connection is lost, until {@code released} or {@code lost}, all with the token of the grant; no call after an
 * end. The session changes to another state each time. A closed client has ended all requests, and there is no call
 * for it.
 */
class ObserverRules implements LockObserver {
    private static final String RULE = "observers are called in order";
    private static final long NO_TOKEN = 0;

    private final Consumer<BrokenRuleError> broken;
    /** The token of each request that has not ended, if it was granted. */
    private final Map<Request, Long> open = new HashMap<>();

    private final Set<Long> ids = new HashSet<>();

    private SessionState session = SessionState.DISCONNECTED;

    ObserverRules(Consumer<BrokenRuleError> broken) {
        this.broken = broken;
    }

    private void check(boolean allowed, String told, Object about) {
        if (!allowed || session == SessionState.CLOSED) {
            brokenBy(told + " " + about);
        }
    }

    private void brokenBy(String what) {
        broken.accept(new BrokenRuleError(RULE, what + ", open: " + open + ", session " + session));
    }

    @Override
    public void requested(Request request) {
        check(ids.add(request.id()), "requested", request);
        open.put(request, NO_TOKEN);
    }

    @Override
    public void queued(Request request, int position) {
        check(open.getOrDefault(request, -1L) == NO_TOKEN && position > 0, "queued at " + position, request);
    }

    @Override
    public void granted(Request request, long token, Duration waited) {
        check(open.getOrDefault(request, -1L) == NO_TOKEN && token > 0, "granted", request);
        open.put(request, token);
    }

    @Override
    public void notGranted(
            Request request, AcquireFailure failure, Optional<LockException.Reason> reason, Duration waited) {
        check(open.getOrDefault(request, -1L) == NO_TOKEN, failure.name(), request);
        open.remove(request);
    }

    @Override
    public void suspect(Request request, long token) {
        check(open.getOrDefault(request, -1L) == token && session != SessionState.CONNECTED, "suspect", request);
    }

    @Override
    public void lost(Request request, long token, LossCause cause, Duration held) {
        check(open.getOrDefault(request, -1L) == token, "lost by " + cause, request);
        open.remove(request);
    }

    @Override
    public void released(Request request, long token, Duration held) {
        check(open.getOrDefault(request, -1L) == token, "released", request);
        open.remove(request);
    }

    @Override
    public void sessionChanged(SessionState state) {
        check(state != session, state.name(), "");
        session = state;
        if (state == SessionState.CLOSED) {
            checkThatAllHaveEnded();
        }
    }

    /** Returns whether a request has no end yet. */
    boolean isAnyOpen() {
        return !open.isEmpty();
    }

    /** When nothing of the client waits or holds any more. */
    void checkThatAllHaveEnded() {
        if (!open.isEmpty()) {
            brokenBy("nothing of the end of " + open.keySet());
        }
    }
}
