// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

import io.latchkey.testkit.proxy.Fault.HeldFrames;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/**
 * One direction of one connection: a queue of frames and actions, each with its due time, that leave in order.
 *
 * <p>A held frame waits until it is released. Everything behind it waits too, because the peer relies on the order;
 * only pings overtake, which keeps the connection alive. They carry nothing that the peer remembers. A black hole stops
 * the whole queue, including pings, without losing anything.
 */
final class FrameQueue {
    private final EventLoop loop;
    private final DirectionFaults faults;
    private final SocketChannel to;
    private final Runnable whenBroken;
    private final Deque<Item> waiting = new ArrayDeque<>();
    private final Deque<ByteBuffer> writing = new ArrayDeque<>();
    private boolean open;
    private long lastDue = System.nanoTime();

    /** How frames travel in this direction now; shared by all connections of a proxy. */
    static final class DirectionFaults {
        long delayNanos;
        boolean blackHole;
    }

    /** An entry of the queue. */
    private sealed interface Item {
        long due();
    }

    private record Frame(long due, ByteBuffer bytes, boolean ping, @Nullable HeldFrames hold) implements Item {}

    private record Action(long due, Runnable action) implements Item {}

    FrameQueue(EventLoop loop, DirectionFaults faults, SocketChannel to, Runnable whenBroken) {
        this.loop = loop;
        this.faults = faults;
        this.to = to;
        this.whenBroken = whenBroken;
    }

    /** The peer is there: frames may leave. */
    void open() {
        open = true;
        drain();
    }

    void frame(ByteBuffer bytes, boolean ping, @Nullable HeldFrames hold) {
        add(new Frame(due(), bytes, ping, hold));
    }

    /** Runs the action when everything before it has left, as late as a frame in its place would. */
    void action(Runnable action) {
        add(new Action(due(), action));
    }

    /** Forgets what has not left yet. Bytes already given to the socket in part are still sent whole. */
    void clear() {
        waiting.clear();
    }

    private long due() {
        long due = System.nanoTime() + faults.delayNanos;
        lastDue = due - lastDue > 0 ? due : lastDue;
        return lastDue;
    }

    private void add(Item item) {
        waiting.add(item);
        if (item.due() - System.nanoTime() > 0) {
            loop.at(item.due(), this::drain);
        } else {
            drain();
        }
    }

    /** Lets out whatever may leave now. */
    void drain() {
        if (!open || faults.blackHole) {
            return;
        }
        long now = System.nanoTime();
        while (!waiting.isEmpty() && waiting.peek().due() - now <= 0) {
            Item head = waiting.element();
            if (head instanceof Frame frame) {
                if (frame.hold() != null && frame.hold().caught()) {
                    letPingsOvertake(now);
                    break;
                }
                waiting.remove();
                writing.add(frame.bytes());
            } else if (head instanceof Action action) {
                if (!write() || !writing.isEmpty()) {
                    return; // the socket is full: the action comes after the bytes
                }
                waiting.remove();
                action.action().run();
            }
        }
        boolean unused = write();
    }

    private void letPingsOvertake(long now) {
        for (Iterator<Item> items = waiting.iterator(); items.hasNext(); ) {
            if (items.next() instanceof Frame frame && frame.ping() && frame.due() - now <= 0) {
                items.remove();
                writing.add(frame.bytes());
            }
        }
    }

    /**
     * Gives the socket what it takes; asks to be called again for the rest.
     *
     * @return false if the connection is broken: then nothing that waits leaves any more
     */
    boolean write() {
        try {
            while (!writing.isEmpty()) {
                to.write(writing.element());
                if (writing.element().hasRemaining()) {
                    break;
                }
                writing.remove();
            }
        } catch (IOException broken) {
            writing.clear();
            waiting.clear();
            whenBroken.run();
            return false;
        }
        SelectionKey key = loop.keyOf(to);
        if (key != null && key.isValid()) {
            int reading = key.interestOps() & ~SelectionKey.OP_WRITE;
            key.interestOps(writing.isEmpty() ? reading : reading | SelectionKey.OP_WRITE);
        }
        return true;
    }
}
