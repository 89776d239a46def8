// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Reads whole frames from one socket as they come: four bytes of length, then as many bytes. */
final class SocketReader {
    private static final int LARGEST = 64 << 20;

    private final SocketChannel from;
    private final Consumer<ByteBuffer> onFrame;
    private final Consumer<String> onNonsense;
    private final Runnable onEnd;
    private final ByteBuffer buffer = ByteBuffer.allocate(64 << 10);
    private ByteBuffer pending = ByteBuffer.allocate(4096);

    SocketReader(SocketChannel from, Consumer<ByteBuffer> onFrame, Consumer<String> onNonsense, Runnable onEnd) {
        this.from = from;
        this.onFrame = onFrame;
        this.onNonsense = onNonsense;
        this.onEnd = onEnd;
    }

    /** The socket has something, if only its end. */
    void listen() {
        if (!read()) {
            onEnd.run();
            return;
        }
        try {
            for (ByteBuffer frame = next(); frame != null; frame = next()) {
                onFrame.accept(frame);
            }
        } catch (IOException | BufferUnderflowException noFrame) {
            onNonsense.accept(String.valueOf(noFrame.getMessage()));
        }
    }

    private boolean read() {
        buffer.clear();
        try {
            if (from.read(buffer) < 0) {
                return false;
            }
        } catch (IOException reset) {
            return false;
        }
        buffer.flip();
        if (pending.remaining() < buffer.remaining()) {
            int needed = pending.position() + buffer.remaining();
            pending = ByteBuffer.allocate(Math.max(needed, 2 * pending.capacity()))
                    .put(pending.flip());
        }
        pending.put(buffer);
        return true;
    }

    /** The next whole frame, its length included and positioned at its start; null until more is read. */
    private @Nullable ByteBuffer next() throws IOException {
        if (pending.position() < Integer.BYTES) {
            return null;
        }
        int length = pending.getInt(0);
        if (length < 0 || length > LARGEST) {
            throw new IOException("not a ZooKeeper frame: length " + length);
        }
        int whole = Integer.BYTES + length;
        if (pending.position() < whole) {
            return null;
        }
        pending.flip();
        byte[] frame = new byte[whole];
        pending.get(frame);
        pending.compact();
        return ByteBuffer.wrap(frame);
    }
}
