// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

import java.io.Closeable;
import java.io.IOException;

/** Closing of sockets that may be broken already. */
final class Channels {
    private Channels() {}

    static void close(Closeable channel) {
        try {
            channel.close();
        } catch (IOException alreadyBroken) {
            return; // the channel is closed nevertheless
        }
    }
}
