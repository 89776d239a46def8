// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts the requests in the bytes of one connection from a client: frames of four bytes of length, then the request, which begins with
 * its number. Neither the first frame counts, which opens the session, nor pings.
 */
final class FrameCounter {
    private static final int PING = -2;

    private final AtomicLong count;
    private boolean opened;
    /** Bytes of the present frame's head, its length and number, as far as they have come. */
    private final ByteBuffer head = ByteBuffer.allocate(2 * Integer.BYTES);
    /** Bytes of the present frame that are still to come after its head. */
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
