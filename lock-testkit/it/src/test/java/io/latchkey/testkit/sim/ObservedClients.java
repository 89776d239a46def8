// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.latchkey.lock.LockObserver;
import io.latchkey.lock.SessionState;
import io.latchkey.testkit.time.Eventually;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** Observers for the clients of one test, each of which checks what it hears. */
public final class ObservedClients {
    private final Queue<BrokenRuleError> broken = new ConcurrentLinkedQueue<>();
    /** Clients that have connected, and have not reported their close. */
    private final AtomicInteger open = new AtomicInteger();

    /** An observer for one more client. */
    public LockObserver next() {
        return new ObserverRules(broken::add) {
            private boolean connected;

            @Override
            public void sessionChanged(SessionState state) {
                super.sessionChanged(state);
                if (state == SessionState.CONNECTED && !connected) {
                    connected = true;
                    open.incrementAndGet();
                } else if (state == SessionState.CLOSED && connected) {
                    open.decrementAndGet();
                }
            }
        };
    }

    /** Once all clients are closed. */
    public void assertNothingIsBroken() {
        try {
            Eventually.holds("all clients report their close", Duration.ofSeconds(10), () -> open.get() == 0);
        } catch (InterruptedException interrupted) {
            throw new AssertionError(interrupted);
        }
        assertEquals(List.of(), List.copyOf(broken));
    }
}
