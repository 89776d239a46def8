// SPDX-License-Identifier: Apache-2.0
package io.latchkey.log;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A logging backend that misbehaves in one thread: it runs the code of a test at each call. */
public final class HostileLog implements AutoCloseable {
    private static final Map<String, Runnable> BY_THREAD = new ConcurrentHashMap<>();

    private final String thread;

    private HostileLog(String thread) {
        this.thread = thread;
    }

    /** From now on, in threads of this name. */
    public static HostileLog in(String thread, Runnable attack) {
        BY_THREAD.put(thread, attack);
        return new HostileLog(thread);
    }

    static void strike() {
        if (!BY_THREAD.isEmpty()) {
            BY_THREAD.getOrDefault(Thread.currentThread().getName(), () -> {}).run();
        }
    }

    @Override
    public void close() {
        BY_THREAD.remove(thread);
    }
}
