// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Cuts a stream of bytes into frames: four bytes of length, then as many bytes. */
final class Frames {
    private static final int LARGEST = 64 << 20;

    private ByteBuffer pending = ByteBuffer.allocate(4096);

    /** Takes in what was read. */
    void feed(ByteBuffer read) {
        if (pending.remaining() < read.remaining()) {
            int needed = pending.position() + read.remaining();
            pending = ByteBuffer.allocate(Math.max(needed, 2 * pending.capacity()))
                    .put(pending.flip());
        }
        pending.put(read);
    }

    /** The next whole frame, its length included and positioned at its start; null until more is fed. */
    @Nullable
    ByteBuffer next() throws IOException {
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
