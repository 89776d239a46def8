package io.latchkey.demo;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.Mutex;
import io.latchkey.testkit.Attempt;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.zk.ZkLocks;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.KeeperException;

/**
 * Sells one piece after the other until there is none left or the shop closes: reads the stock, thinks about it for some
 * milliseconds, writes what is left. Of two clerks who do that at the same time, one overwrites the sale of the other.
 */
final class Clerk implements Callable<Void> {
    static final String LOCK = "/stock-lock";

    private static final long THINKS_AT_LEAST = TimeUnit.MILLISECONDS.toNanos(3);
    private static final long THINKS_AT_MOST = TimeUnit.MILLISECONDS.toNanos(9);
    private static final int HESITATES_ONCE_IN = 50;
    private static final long HESITATES = TimeUnit.MILLISECONDS.toNanos(400);

    private final String name;
    private final Selling way;
    private final Warehouse warehouse;
    private final Books books;

    /** How to sell one order; whether the clerk should go on. */
    private interface Selling {
        boolean sell(Clerk clerk, String order) throws KeeperException, InterruptedException;
    }

    private Clerk(String name, Selling way, Warehouse warehouse, Books books) {
        this.name = name;
        this.way = way;
        this.warehouse = warehouse;
        this.books = books;
    }

    /** A clerk who takes the lock for every sale. */
    static Clerk careful(FaultyClient client, Warehouse warehouse, Books books) {
        Mutex mutex = client.client().mutex(LOCK);
        return new Clerk(client.name(), (clerk, order) -> clerk.sellUnderLock(mutex, order), warehouse, books);
    }

    /** A clerk who does not. */
    static Clerk careless(String name, Warehouse warehouse, Books books) {
        return new Clerk(name, Clerk::sellWithoutLock, warehouse, books);
    }

    @Override
    public Void call() throws KeeperException, InterruptedException {
        int number = 1;
        while (way.sell(this, name + "-order-" + number)) {
            number++;
        }
        return null;
    }

    private boolean sellUnderLock(Mutex mutex, String order) throws KeeperException, InterruptedException {
        Attempt attempt = books.history().attempt(name, LOCK);
        Optional<Lease> granted = mutex.tryAcquire(books.untilClosing());
        if (granted.isEmpty()) {
            attempt.gaveUp("the shop closes");
            return false;
        }
        try (Hold hold = Hold.begin(granted.get(), attempt)) {
            books.granted(name);
            int stock = warehouse.stock();
            if (stock == 0) {
                return false;
            }
            think();
            hold.ensureValid();
            ZkLocks.guarded(hold.lease(), warehouse.sale(order, stock - 1));
            books.sold(order);
        } catch (LeaseLostException tooLate) {
            books.refused(order); // nothing was written; the customer has to ask again
        } catch (KeeperException.ConnectionLossException | KeeperException.SessionExpiredException unknown) {
            books.unclear(order); // written or not: ZooKeeper knows
        }
        return true;
    }

    private boolean sellWithoutLock(String order) throws KeeperException, InterruptedException {
        int stock = warehouse.stock();
        if (stock == 0 || books.untilClosing().isZero()) {
            return false;
        }
        think();
        try {
            warehouse.sellUnguarded(warehouse.sale(order, stock - 1));
            books.sold(order);
        } catch (KeeperException.ConnectionLossException | KeeperException.SessionExpiredException unknown) {
            books.unclear(order);
        }
        return true;
    }

    private static void think() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        LockSupport.parkNanos(
                random.nextInt(HESITATES_ONCE_IN) == 0 ? HESITATES : random.nextLong(THINKS_AT_LEAST, THINKS_AT_MOST));
    }
}
