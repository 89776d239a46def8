// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;

/** Has several do something at the same time, and shows how they are getting on. */
final class Parallel {
    private Parallel() {}

    /** Returns when all are done. */
    static void run(List<Callable<Void>> deeds, Screen screen, Supplier<String> progress) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(deeds.size());
        ExecutorService threads = Executors.newFixedThreadPool(deeds.size());
        try {
            List<Future<Void>> working = new ArrayList<>();
            for (Callable<Void> deed : deeds) {
                working.add(threads.submit(() -> {
                    try {
                        return deed.call();
                    } finally {
                        done.countDown();
                    }
                }));
            }
            screen.follow(progress, done);
            for (Future<Void> work : working) {
                work.get();
            }
        } catch (ExecutionException failed) {
            throw new IllegalStateException("a client broke off", failed.getCause());
        } finally {
            threads.shutdownNow();
        }
    }
}
