// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.lock.LockObserver;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.SplittableRandom;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * The code of users in the process of one client. Each of its parts throws, calls back into the client, or returns;
 * the thread of the observer is blocked at times, so that calls come later.
 */
final class HostileCode {
    private final SplittableRandom random;
    private final Coverage coverage;
    private final Deque<Runnable> blocked = new ArrayDeque<>();
    private Runnable callBack = () -> {};
    private boolean callingBack;
    private boolean over;

    HostileCode(long seed, Coverage coverage) {
        this.random = new SplittableRandom(seed);
        this.coverage = coverage;
    }

    /** Sets what calls back into the client. */
    void callsBackBy(Runnable call) {
        callBack = call;
    }

    /** Throws, calls back, or returns. */
    void attack() {
        if (over) {
            return;
        }
        switch (random.nextInt(4)) {
            case 0 -> {
                coverage.count(Coverage.Situation.USERS_CODE_THREW);
                throw new IllegalStateException("thrown by users' code");
            }
            case 1 -> {
                coverage.count(Coverage.Situation.USERS_CODE_THREW);
                throw new InternalError("thrown by users' code");
            }
            case 2 -> callBack();
            default -> {
                // It behaves.
            }
        }
    }

    private void callBack() {
        if (callingBack) {
            return;
        }
        callingBack = true;
        try {
            callBack.run();
            coverage.count(Coverage.Situation.USERS_CODE_CALLED_BACK);
        } finally {
            callingBack = false;
        }
    }

    /** Returns an observer that attacks after each call. */
    LockObserver observer(LockObserver then) {
        return (LockObserver) Proxy.newProxyInstance(
                LockObserver.class.getClassLoader(), new Class<?>[] {LockObserver.class}, (proxy, method, args) -> {
                    Object result = method.invoke(then, args);
                    if (method.getDeclaringClass() == LockObserver.class) {
                        attack();
                    }
                    return result;
                });
    }

    /** Returns an executor that refuses tasks, also such as it has run. */
    Executor executor() {
        return task -> {
            switch (random.nextInt(4)) {
                case 0 -> throw new RejectedExecutionException("refused by users' code");
                case 1 -> {
                    task.run();
                    throw new InternalError("thrown by users' code");
                }
                default -> task.run();
            }
        };
    }

    /** Returns a thread that is blocked at times. */
    Executor thread() {
        return task -> {
            blocked.add(task);
            if (random.nextInt(3) > 0) {
                goOn();
            } else {
                coverage.count(Coverage.Situation.USERS_CODE_BLOCKED);
            }
        };
    }

    /** Has it behave from now on, and ends the block of that thread. */
    void end() {
        over = true;
        goOn();
    }

    private void goOn() {
        while (!blocked.isEmpty()) {
            blocked.remove().run();
        }
    }

    /** Returns a thread whose interruption attacks. */
    Thread bodyThread() {
        return new Thread(() -> {}) {
            @Override
            public void interrupt() {
                super.interrupt();
                attack();
            }
        };
    }
}
