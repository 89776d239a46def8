// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A relay between two peers, such as two servers of an ensemble. It forwards bytes, delayed if requested, or nothing
 * while it is cut. Bytes that it holds then are forwarded when it is mended, as with TCP's retransmission. It keeps no
 * record. One thread for new connections and two for each.
 */
final class Relay implements AutoCloseable {
    private static final int CHUNK = 16 << 10;
    private static final long REACHED_WITHIN_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long TRY_EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private final ServerSocket listener;
    private final InetSocketAddress target;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private volatile long delayNanos;
    private boolean cut;
    private boolean closed;

    private Relay(ServerSocket listener, InetSocketAddress target) {
        this.listener = listener;
        this.target = target;
    }

    static Relay to(InetSocketAddress target) {
        try {
            ServerSocket listener = new ServerSocket();
            listener.bind(Localhost.port(0));
            Relay relay = new Relay(listener, target);
            relay.start(relay::listen, "listen");
            return relay;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot listen", e);
        }
    }

    int port() {
        return listener.getLocalPort();
    }

    synchronized void cut() {
        cut = true;
    }

    synchronized void mend() {
        cut = false;
        notifyAll();
    }

    /** From now on whatever is read is passed on so much later; zero to end it. */
    void delay(Duration length) {
        delayNanos = length.toNanos();
    }

    /** Ends the connections that are there; new ones may come. */
    void reset() {
        sockets.forEach(Localhost::close);
    }

    private synchronized boolean awaitPassage() throws InterruptedException {
        while (cut && !closed) {
            wait();
        }
        return !closed;
    }

    private void start(Runnable work, String what) {
        Thread thread = new Thread(work, "latchkey-relay-" + port() + "-" + what);
        thread.setDaemon(true);
        thread.start();
    }

    private void listen() {
        while (!listener.isClosed()) {
            try {
                Socket from = listener.accept();
                sockets.add(from);
                start(() -> connect(from), "there");
            } catch (IOException closedOrBroken) {
                // closed: the loop ends; else the next one may do better
            }
        }
    }

    private void connect(Socket from) {
        Socket to = new Socket();
        try {
            to = reach();
            sockets.add(to);
            from.setTcpNoDelay(true);
            to.setTcpNoDelay(true);
            Socket there = to;
            start(() -> pass(there, from), "back");
            pass(from, to);
        } catch (IOException refused) {
            end(from, to);
        }
    }

    /**
     * A server that is about to lead may not listen yet. A follower that is refused tries again by itself; one whose
     * connection is taken and ended goes back to the election, while the leader waits for it as long as it may take to
     * join.
     */
    private Socket reach() throws IOException {
        long end = System.nanoTime() + REACHED_WITHIN_NANOS;
        while (true) {
            Socket to = new Socket();
            try {
                to.connect(target);
                return to;
            } catch (IOException refused) {
                Localhost.close(to);
                if (listener.isClosed() || System.nanoTime() - end > 0) {
                    throw refused;
                }
                LockSupport.parkNanos(TRY_EVERY_NANOS);
            }
        }
    }

    private void pass(Socket from, Socket to) {
        byte[] chunk = new byte[CHUNK];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int length = in.read(chunk); length >= 0 && awaitPassage(); length = in.read(chunk)) {
                LockSupport.parkNanos(delayNanos);
                out.write(chunk, 0, length);
            }
        } catch (IOException ended) {
            // the other side is closed below
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            end(from, to);
        }
    }

    private void end(Socket one, Socket other) {
        Localhost.close(one);
        Localhost.close(other);
        sockets.remove(one);
        sockets.remove(other);
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        Localhost.close(listener);
        reset();
    }
}
