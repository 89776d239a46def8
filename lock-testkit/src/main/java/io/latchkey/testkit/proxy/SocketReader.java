// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.function.Consumer;

/** Reads whole frames from one socket as they come. */
final class SocketReader {
    private final SocketChannel from;
    private final Consumer<ByteBuffer> onFrame;
    private final Consumer<String> onNonsense;
    private final Runnable onEnd;
    private final Frames frames = new Frames();
    private final ByteBuffer buffer = ByteBuffer.allocate(64 << 10);

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
            for (ByteBuffer frame = frames.next(); frame != null; frame = frames.next()) {
                onFrame.accept(frame);
            }
        } catch (IOException noFrame) {
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
        frames.feed(buffer.flip());
        return true;
    }
}
