package com.example.orders;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import java.time.Duration;
import java.util.function.IntFunction;

/** Works on orders, one worker at a time each. */
public final class OrderService {
    private final IntFunction<Acquirable> lockOf;
    private final OrderStore store;

    public OrderService(LockClient locks, OrderStore store) {
        this(order -> locks.mutex("/orders/" + order), store);
    }

    /** With the lock of each order from elsewhere: a test gives recorded ones. */
    OrderService(IntFunction<Acquirable> lockOf, OrderStore store) {
        this.lockOf = lockOf;
        this.store = store;
    }

    /** Something that takes its time between reading an order and writing it. */
    public interface Work {
        String on(String order) throws InterruptedException;
    }

    /**
     * Reads the order, works on it and writes it back, alone; StaleTokenException if the lock was lost and another
     * client has acquired it.
     */
    public void process(int order, Work work) throws InterruptedException {
        try (Lease lease = lockOf.apply(order).acquire(Duration.ofSeconds(30))) {
            String done = work.on(store.read(order, lease.token()));
            store.write(order, done, lease.token());
        }
    }
}
