// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

import io.latchkey.testkit.server.EmbeddedZooKeeper;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.zookeeper.client.ConnectStringParser;

/**
 * Lets ZooKeeper's own clients in this process reconnect in milliseconds instead of 1 to 2 s, without any help from the
 * code under test: a thread wakes their send threads from the three sleeps that they make between connections, until
 * {@link #close()}. Closing a client, too, takes milliseconds then instead of 0.1 s.
 *
 * <p>A client that has lost its connection knows it at once, is back 2 to 6 ms after the loss, and knows by then
 * whether its session is over. Everything else is as it was: it is the same client with the same sockets, sessions and
 * events in the same order. While servers refuse connections it knocks every 2 ms. With a logging backend, ZooKeeper
 * warns of each interrupted sleep.
 *
 * <p>Together with {@link EmbeddedZooKeeper#holdExpiry()} this is the fast mode: sessions end only when the test ends
 * them, however busy the machine, and no test waits for a timeout.
 */
public final class FastReconnects implements AutoCloseable {
    // Why the interrupt is safe. It is sent only to a send thread that stands in Thread.sleep of one of three methods,
    // each of which
    // catches InterruptedException around that sleep, logs it and goes on as if the time had passed
    // (ClientCnxn.SendThread.startConnect,
    // ClientCnxnSocketNIO.cleanup, StaticHostProvider.next in 3.8 and 3.9). Should the sleep end by itself between the
    // look and the
    // interrupt, the thread goes on with its flag set: then the next of these sleeps takes it in, or the socket's
    // connect does, whose
    // channel is closed by that; ClientCnxn treats it like a refused connection, tells of a disconnect and sleeps,
    // which clears the flag.
    // A session or a request cannot be harmed: nothing is connected at that time. No monitor or queue on the way takes
    // in an interrupt.

    private static final long LOOK_EVERY_NANOS = 500_000;
    private static final long LOOK_ALWAYS_EVERY_NANOS = 1_000_000;

    private static final Set<String> SLEEPERS = Set.of(
            "org.apache.zookeeper.ClientCnxn$SendThread.startConnect",
            "org.apache.zookeeper.ClientCnxnSocketNIO.cleanup",
            "org.apache.zookeeper.client.StaticHostProvider.next");

    private final List<String> names;
    private final BooleanSupplier connected;
    private final boolean told;
    private final Thread thread;
    private volatile boolean closed;

    private FastReconnects(List<String> servers, BooleanSupplier connected, boolean told) {
        this.names =
                servers.stream().map(server -> "-SendThread(" + server + ")").toList();
        this.connected = connected;
        this.told = told;
        this.thread = new Thread(this::run, "latchkey-fast-reconnects-" + String.join(",", servers));
        thread.setDaemon(true);
    }

    /**
     * For the client behind one proxy. Costs nothing while the client is connected.
     *
     * @param proxy the client's
     * @return in force until it is closed
     */
    public static FastReconnects of(FaultProxy proxy) {
        FastReconnects made = new FastReconnects(List.of(proxy.connectString()), proxy::isConnected, true);
        proxy.whenConnectionChanges(() -> LockSupport.unpark(made.thread));
        made.thread.start();
        return made;
    }

    /**
     * Applies to all present and future clients in this process that connect to these servers, until closed. Polls
     * every millisecond for sleeping threads: about 4 % of a core.
     *
     * @param connectString as the clients have it; a chroot makes no difference
     * @return in force until it is closed
     */
    public static FastReconnects of(String connectString) {
        Objects.requireNonNull(connectString, "connectString");
        List<String> servers = new ConnectStringParser(connectString)
                .getServerAddresses().stream()
                        .map(server -> server.getHostString() + ":" + server.getPort())
                        .toList();
        FastReconnects made = new FastReconnects(servers, () -> false, false);
        made.thread.start();
        return made;
    }

    private void run() {
        while (!closed) {
            if (connected.getAsBoolean()) {
                LockSupport.park(this);
                continue;
            }
            List<Thread> sending = sendThreads().toList();
            sending.stream().filter(FastReconnects::sleepsBetweenConnections).forEach(Thread::interrupt);
            if (!told) {
                LockSupport.parkNanos(this, LOOK_ALWAYS_EVERY_NANOS);
            } else if (sending.isEmpty()) {
                LockSupport.park(this); // the client is closed; a new one does not sleep before its first connection
            } else {
                LockSupport.parkNanos(this, LOOK_EVERY_NANOS);
            }
        }
    }

    /** A send thread bears the server's name from just before its first connection. */
    private Stream<Thread> sendThreads() {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        while (group.getParent() != null) {
            group = group.getParent();
        }
        Thread[] all = new Thread[group.activeCount() * 2 + 16];
        int count = group.enumerate(all);
        return Arrays.stream(all, 0, count)
                .filter(each -> names.stream().anyMatch(name -> each.getName().endsWith(name)));
    }

    private static boolean sleepsBetweenConnections(Thread thread) {
        if (thread.getState() != Thread.State.TIMED_WAITING) {
            return false;
        }
        List<StackTraceElement> stack = List.of(thread.getStackTrace());
        return !stack.isEmpty()
                && isSleep(stack.get(0))
                && stack.stream()
                        .dropWhile(FastReconnects::isSleep)
                        .findFirst()
                        .map(caller -> SLEEPERS.contains(caller.getClassName() + "." + caller.getMethodName()))
                        .orElse(false);
    }

    private static boolean isSleep(StackTraceElement frame) {
        return frame.getClassName().equals(Thread.class.getName())
                && frame.getMethodName().startsWith("sleep");
    }

    /** From now on clients sleep again. Ends the thread. */
    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public String toString() {
        return names.stream().collect(Collectors.joining(", ", "fast reconnects of ", ""));
    }
}
