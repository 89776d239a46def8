// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A proxy that simulates distance between clients and one server: it delays all bytes by half a round trip, in order.
 * One thread reads and records the time, another writes when the delay has passed; since the delay is constant, one
 * queue suffices. It counts requests and bytes.
 */
final class DelayProxy implements AutoCloseable {
    private static final int BUFFER = 1 << 16;
    /** The typical lateness of a parked thread on Linux. */
    private static final long OVERSLEEP = 55_000;
    /** Shorter delays are not waited for. */
    private static final long CLOSE_ENOUGH = 15_000;

    private final InetSocketAddress server;
    private final long oneWay;
    private final Selector selector;
    private final ServerSocketChannel listening;
    private final BlockingQueue<Chunk> underWay = new LinkedBlockingQueue<>();
    private final AtomicLong requests = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private final Thread reader = new Thread(this::read, "proxy-in");
    private final Thread writer = new Thread(this::write, "proxy-out");

    /** Delayed bytes; an empty array means that the sender has closed. */
    private record Chunk(long due, SocketChannel to, @Nullable ByteBuffer content) {}

    /** One direction of a connection. */
    private record Pipe(SocketChannel from, SocketChannel to, @Nullable FrameCounter frames) {}

    DelayProxy(int serverPort, Duration roundTrip) throws IOException {
        server = new InetSocketAddress(InetAddress.getLoopbackAddress(), serverPort);
        oneWay = roundTrip.toNanos() / 2;
        selector = Selector.open();
        listening = ServerSocketChannel.open();
        listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1000);
        listening.configureBlocking(false);
        listening.register(selector, SelectionKey.OP_ACCEPT);
        for (Thread thread : List.of(reader, writer)) {
            thread.setDaemon(true);
            thread.start();
        }
    }

    int port() {
        return listening.socket().getLocalPort();
    }

    /** The number of requests of clients, without pings and the opening of sessions. */
    long requests() {
        return requests.get();
    }

    /** The number of bytes in both directions. */
    long bytes() {
        return bytes.get();
    }

    private void read() {
        ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER);
        try {
            while (selector.isOpen()) {
                selector.select();
                for (SelectionKey key : selector.selectedKeys()) {
                    if (key.attachment() instanceof Pipe pipe) {
                        forward(pipe, buffer, key);
                    } else {
                        accept();
                    }
                }
                selector.selectedKeys().clear();
            }
        } catch (ClosedSelectorException closed) {
            // The connection has ended.
        } catch (IOException e) {
            throw new UncheckedIOException("the proxy cannot go on", e);
        }
    }

    private void accept() throws IOException {
        SocketChannel client = listening.accept();
        if (client == null) {
            return;
        }
        SocketChannel upstream = SocketChannel.open(server);
        for (SocketChannel end : List.of(client, upstream)) {
            end.configureBlocking(false);
            end.setOption(StandardSocketOptions.TCP_NODELAY, true);
        }
        client.register(selector, SelectionKey.OP_READ, new Pipe(client, upstream, new FrameCounter(requests)));
        upstream.register(selector, SelectionKey.OP_READ, new Pipe(upstream, client, null));
    }

    private void forward(Pipe pipe, ByteBuffer buffer, SelectionKey key) {
        buffer.clear();
        int read;
        try {
            read = pipe.from().read(buffer);
        } catch (IOException broken) {
            read = -1;
        }
        long due = System.nanoTime() + oneWay;
        if (read < 0) {
            key.cancel();
            underWay.add(new Chunk(due, pipe.to(), null));
            return;
        }
        buffer.flip();
        ByteBuffer content = ByteBuffer.allocate(read).put(buffer).flip();
        bytes.addAndGet(read);
        if (pipe.frames() != null) {
            pipe.frames().seen(content.duplicate());
        }
        underWay.add(new Chunk(due, pipe.to(), content));
    }

    private void write() {
        try {
            while (true) {
                Chunk next = underWay.take();
                awaitTime(next.due());
                try {
                    if (next.content() == null) {
                        next.to().close();
                    } else {
                        send(next.to(), next.content());
                    }
                } catch (IOException gone) {
                    next.to().close();
                }
            }
        } catch (InterruptedException closed) {
            // The connection has ended.
        } catch (IOException e) {
            throw new UncheckedIOException("the proxy cannot close a connection", e);
        }
    }

    private static void awaitTime(long due) throws InterruptedException {
        for (long rest = due - System.nanoTime(); rest > CLOSE_ENOUGH; rest = due - System.nanoTime()) {
            if (rest > OVERSLEEP) {
                LockSupport.parkNanos(rest - OVERSLEEP);
            } else {
                Thread.onSpinWait();
            }
            if (Thread.interrupted()) {
                throw new InterruptedException("closed");
            }
        }
    }

    /** Writes all bytes. Both ends keep reading, so a full buffer empties soon. */
    private static void send(SocketChannel to, ByteBuffer content) throws IOException {
        while (content.hasRemaining()) {
            if (to.write(content) == 0) {
                LockSupport.parkNanos(OVERSLEEP);
            }
        }
    }

    @Override
    public void close() {
        writer.interrupt();
        try {
            List<SelectionKey> keys = new ArrayList<>(selector.keys());
            selector.close();
            for (SelectionKey key : keys) {
                key.channel().close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot close the proxy", e);
        }
    }
}
