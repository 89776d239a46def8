package io.latchkey.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;

/** Has clerks work at the same time, and shows how they are getting on. */
final class Shop {
    private Shop() {}

    /** Returns when every clerk is done: sold out, or closing time. */
    static void open(List<Clerk> clerks, Screen screen, Supplier<String> progress) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(clerks.size());
        ExecutorService threads = Executors.newFixedThreadPool(clerks.size());
        try {
            List<Future<?>> working = new ArrayList<>();
            for (Clerk clerk : clerks) {
                working.add(threads.submit(() -> {
                    try {
                        return clerk.call();
                    } finally {
                        done.countDown();
                    }
                }));
            }
            screen.follow(progress, done);
            for (Future<?> work : working) {
                work.get();
            }
        } catch (ExecutionException failed) {
            throw new IllegalStateException("a clerk broke off", failed.getCause());
        } finally {
            threads.shutdownNow();
        }
    }
}
