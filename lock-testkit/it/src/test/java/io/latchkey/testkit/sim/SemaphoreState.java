// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * How many permits a semaphore's path has, as the oracle reads and writes it:
 * {@code latchkey/3 semaphore <declared> <now> <most>}, the last being the most that it ever had.
 */
record SemaphoreState(int declared, int now, int most) {
    private static final String FORMAT = "latchkey/3 semaphore ";

    static Optional<SemaphoreState> of(byte[] data) {
        if (data.length < FORMAT.length() || data[0] != FORMAT.charAt(0)) {
            return Optional.empty();
        }
        String text = new String(data, StandardCharsets.UTF_8);
        if (!text.startsWith(FORMAT)) {
            return Optional.empty();
        }
        String[] counts = text.substring(FORMAT.length()).split(" ", -1);
        return Optional.of(new SemaphoreState(
                Integer.parseInt(counts[0]), Integer.parseInt(counts[1]), Integer.parseInt(counts[2])));
    }

    SemaphoreState resized(int to) {
        return new SemaphoreState(declared, to, Math.max(most, to));
    }

    byte[] data() {
        return (FORMAT + declared + ' ' + now + ' ' + most).getBytes(StandardCharsets.UTF_8);
    }
}
