// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.curator;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.ClientClosedException;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.MultiLock;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.Owner;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.Semaphore;
import io.latchkey.lock.StripedMutex;
import io.latchkey.lock.admin.Contender;
import io.latchkey.lock.admin.Contender.Access;
import io.latchkey.lock.admin.Contender.State;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.zookeeper.KeeperException;

/** The recipes of Apache Curator under the names of lock-api. It translates, and leaves all else to Curator. */
public final class CuratorLockClient implements OtherLibrary.Client {
    private final CuratorFramework framework;
    private final Set<AdaptedLease> leases = ConcurrentHashMap.newKeySet();
    private final Map<String, CuratorView> mutexViews = new ConcurrentHashMap<>();
    private final Map<String, InterProcessReadWriteLock> readWriteViews = new ConcurrentHashMap<>();
    private volatile boolean closed;

    /** Over a framework that is started; {@link #close} closes it. */
    public CuratorLockClient(CuratorFramework framework) {
        this.framework = framework;
        framework.getConnectionStateListenable().addListener((told, state) -> {
            switch (state) {
                case LOST -> leases.forEach(lease -> lease.lose(LossCause.SESSION_EXPIRED));
                case SUSPENDED -> leases.forEach(AdaptedLease::suspend);
                case RECONNECTED, CONNECTED -> leases.forEach(AdaptedLease::resume);
                case READ_ONLY -> {}
            }
        });
    }

    CuratorFramework framework() {
        return framework;
    }

    void keep(AdaptedLease lease) {
        leases.add(lease);
    }

    void forget(AdaptedLease lease) {
        leases.remove(lease);
    }

    void checkOpen() {
        if (closed) {
            throw new ClientClosedException("closed");
        }
    }

    LockException translated(Exception failed) {
        return closed ? new ClientClosedException("closed") : CuratorRequest.translated(failed);
    }

    /** Every node of a request below the path in the order of the numbers that the server gave them. */
    private static Access access(String node) {
        if (node.contains("-lease-")) {
            return Access.PERMITS;
        }
        return node.contains("__READ__") ? Access.SHARED : Access.EXCLUSIVE;
    }

    List<Contender> queue(String path) {
        try {
            List<String> nodes = new ArrayList<>(framework.getChildren().forPath(path));
            nodes.removeIf(name -> !name.startsWith("_c_"));
            nodes.sort(Comparator.comparing(name -> name.substring(name.length() - 10)));
            List<Contender> queue = new ArrayList<>();
            boolean writerBefore = false;
            for (String node : nodes) {
                boolean reader = node.contains("__READ__");
                boolean holds = reader ? !writerBefore : queue.isEmpty();
                writerBefore |= !reader;
                State state = holds ? State.HOLDING : State.WAITING;
                queue.add(new CuratorContender(state, new Owner("", "", 0), 0, Instant.EPOCH, 0, 1, access(node)));
            }
            return List.copyOf(queue);
        } catch (KeeperException.NoNodeException none) {
            return List.of();
        } catch (Exception failed) {
            throw translated(failed);
        }
    }

    CuratorView mutexView(String path) {
        return mutexViews.computeIfAbsent(path, at -> new CuratorView(new InterProcessMutex(framework, at)));
    }

    InterProcessReadWriteLock readWriteView(String path) {
        return readWriteViews.computeIfAbsent(path, at -> new InterProcessReadWriteLock(framework, at));
    }

    @Override
    public Mutex mutex(String path) {
        return new CuratorMutex(this, path);
    }

    @Override
    public ReadWriteLock readWriteLock(String path) {
        return new CuratorReadWriteLock(this, path);
    }

    @Override
    public Semaphore semaphore(String path, int permits) {
        return new CuratorSemaphore(this, path, permits, 1);
    }

    @Override
    public MultiLock multiLock(Acquirable... members) {
        return CuratorMultiLock.of(this, members);
    }

    @Override
    public StripedMutex stripedMutex(String path, int stripes) {
        throw new UnsupportedOperationException("Curator has none");
    }

    @Override
    public void close() {
        closed = true;
        leases.forEach(lease -> lease.lose(LossCause.CLIENT_CLOSED));
        framework.close();
    }
}
