// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A counter of the requests in the bytes of one client connection. A frame has four bytes of length, then the request,
 * which begins with its number. The first frame, which opens the session, and pings are not counted.
 */
final class FrameCounter {
    private static final int PING = -2;

    private final AtomicLong count;
    private boolean opened;
    /** The received bytes of the current frame's head: its length and number. */
    private final ByteBuffer head = ByteBuffer.allocate(2 * Integer.BYTES);
    /** The number of bytes of the current frame that follow its head and have not been received. */
    private int rest;

    FrameCounter(AtomicLong count) {
        this.count = count;
    }

    void seen(ByteBuffer bytes) {
        while (bytes.hasRemaining()) {
            if (rest > 0) {
                int skipped = Math.min(rest, bytes.remaining());
                bytes.position(bytes.position() + skipped);
                rest -= skipped;
            } else {
                head.put(bytes.get());
                if (!head.hasRemaining()) {
                    headComplete();
                }
            }
        }
    }

    private void headComplete() {
        head.flip();
        rest = head.getInt() - Integer.BYTES;
        int number = head.getInt();
        head.clear();
        if (opened && number != PING) {
            count.incrementAndGet();
        }
        opened = true;
    }
}
