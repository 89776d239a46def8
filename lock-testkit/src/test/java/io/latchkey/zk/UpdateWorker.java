// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.Mutex;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.FencedStore;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.nio.charset.StandardCharsets;
import java.rmi.Remote;
import java.rmi.RemoteException;
import java.time.Duration;
import java.util.Base64;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;

/**
 * A process that updates, once in every {@link Mode}, something under a lock: reads it, thinks, and writes it with its
 * own update added, without another look at its lease. It is killed by the process that has started it.
 */
record UpdateWorker(String connectString, String name, Parent parent) {
    static final Duration SESSION = Duration.ofSeconds(2);
    private static final int LONGEST_THOUGHT_MILLIS = 150;
    private static final int ANY_VERSION = -1;

    /** Where the data lies that is on ZooKeeper. */
    static final String DATA = "/data";

    /** What keeps stale writes out. */
    enum Mode {
        /** Nothing but the lock. */
        LOCK_ALONE,
        /** The store compares tokens. */
        TOKENS,
        /** The data is on the same ZooKeeper, and the write is guarded. */
        GUARDED;

        /** Where the lock is. */
        String lock() {
            return "/lock-" + this;
        }
    }

    /** The process that has started it: it has the data that is not on ZooKeeper, and counts the updates. */
    interface Parent extends Remote {
        /** Throws {@link FencedStore.StaleTokenException} as a write does. */
        String read(Mode mode, long token) throws RemoteException;

        void write(Mode mode, long token, String value) throws RemoteException;

        /** It has read, and not written. */
        void thinks(String worker, Mode mode) throws RemoteException;

        void acknowledged(String worker, Mode mode, String update) throws RemoteException;

        /** The write was refused, or is not known to be carried out. */
        void notWritten(String worker, Mode mode) throws RemoteException;
    }

    /** The arguments: a connect string, a name, and the parent's stub, serialized. */
    public static void main(String[] args) throws Exception {
        byte[] stub = Base64.getDecoder().decode(args[2]);
        UpdateWorker worker;
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(stub))) {
            worker = new UpdateWorker(args[0], args[1], (Parent) in.readObject());
        }
        for (Mode mode : Mode.values()) {
            new Thread(() -> worker.update(mode), "updates-" + mode).start();
        }
    }

    private void update(Mode mode) {
        SplittableRandom random = new SplittableRandom();
        try (LockClient client = FaultyClient.Connector.ofLatchkey().connect(connectString, SESSION)) {
            ZooKeeper reads = new ZooKeeper(connectString, 60_000, event -> {});
            Mutex mutex = client.mutex(mode.lock());
            for (int number = 1; ; number++) {
                String id = name + "." + number;
                try (Lease lease = mutex.acquire()) {
                    String before = mode == Mode.GUARDED ? data(reads) : parent.read(mode, lease.token());
                    parent.thinks(name, mode);
                    LockSupport.parkNanos(Duration.ofMillis(random.nextInt(LONGEST_THOUGHT_MILLIS))
                            .toNanos());
                    write(mode, lease, before.isEmpty() ? id : before + "," + id);
                    parent.acknowledged(name, mode, id);
                } catch (LeaseLostException | FencedStore.StaleTokenException | KeeperException refused) {
                    parent.notWritten(name, mode);
                }
                LockSupport.parkNanos(Duration.ofMillis(random.nextInt(20)).toNanos());
            }
        } catch (InterruptedException | IOException ended) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Returns the last value written. The server may lag behind the one that took the write, so it first has to catch
     * up.
     */
    static String data(ZooKeeper handle) throws InterruptedException, KeeperException {
        CompletableFuture<Integer> caughtUp = new CompletableFuture<>();
        handle.sync(DATA, (rc, path, ctx) -> caughtUp.complete(rc), null);
        KeeperException.Code code = KeeperException.Code.get(caughtUp.join());
        if (code != KeeperException.Code.OK) {
            throw KeeperException.create(code, DATA);
        }
        return new String(handle.getData(DATA, false, null), StandardCharsets.UTF_8);
    }

    private void write(Mode mode, Lease lease, String value)
            throws InterruptedException, KeeperException, RemoteException {
        if (mode == Mode.GUARDED) {
            var unused = ZkLocks.guarded(lease, Op.setData(DATA, value.getBytes(StandardCharsets.UTF_8), ANY_VERSION));
        } else {
            parent.write(mode, lease.token(), value);
        }
    }
}
