// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import java.time.Duration;

/** How long tests go on that can go on for long: {@code mvn -Psoak verify -Dlatchkey.soak.seconds=600}. */
final class Soak {
    private static final String SECONDS = "latchkey.soak.seconds";

    private Soak() {}

    /** Whether a length was given. */
    static boolean isLong() {
        return Integer.getInteger(SECONDS) != null;
    }

    static Duration length(Duration unlessGiven) {
        return Duration.ofSeconds(Integer.getInteger(SECONDS, (int) unlessGiven.toSeconds()));
    }

    /** Something that is done once, or again and again. */
    interface Round {
        void play() throws Exception;
    }

    /** Once; or, where a length was given, until this share of it is over. */
    static void rounds(int shares, Round round) throws Exception {
        long start = System.nanoTime();
        long length = length(Duration.ZERO).dividedBy(shares).toNanos();
        do {
            round.play();
        } while (System.nanoTime() - start < length);
    }
}
