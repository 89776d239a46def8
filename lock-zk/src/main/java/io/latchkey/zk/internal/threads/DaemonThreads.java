// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.threads;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Pools of daemon threads, which are started when there is work and end after ten idle seconds. */
public final class DaemonThreads {
    private static final long IDLE_SECONDS = 10;

    private DaemonThreads() {}

    /**
     * Returns a pool with an unbounded queue.
     *
     * @param most the maximum number of threads
     * @param name the name of each thread
     */
    public static ThreadPoolExecutor pool(int most, String name) {
        ThreadPoolExecutor threads = new ThreadPoolExecutor(
                most, most, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, name);
                    thread.setDaemon(true);
                    return thread;
                });
        threads.allowCoreThreadTimeOut(true);
        return threads;
    }
}
