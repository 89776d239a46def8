// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One direction of a connection that breaks. */
@Timeout(30)
class FrameQueueTest {
    /** It is about what has left before it, and that has not. */
    @Test
    void actionDoesNotRun_whenAFrameBeforeItCannotBeWritten() throws Exception {
        List<String> happened = new ArrayList<>();
        try (EventLoop loop = new EventLoop("latchkey-test-loop", () -> {})) {
            loop.run(() -> {
                FrameQueue queue =
                        new FrameQueue(loop, new FrameQueue.DirectionFaults(), closed(), () -> happened.add("broken"));
                queue.frame(ByteBuffer.wrap("a frame".getBytes(StandardCharsets.UTF_8)), false, null);
                queue.action(() -> happened.add("action"));
                queue.frame(ByteBuffer.wrap("another".getBytes(StandardCharsets.UTF_8)), false, null);
                queue.open();
            });
        }
        assertEquals(List.of("broken"), happened);
    }

    private static SocketChannel closed() {
        try {
            SocketChannel channel = SocketChannel.open();
            channel.close();
            return channel;
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }
}
