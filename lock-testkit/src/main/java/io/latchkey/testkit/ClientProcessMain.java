// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/** What runs in a {@link ClientProcess}: a line in, a line out. Ends with its input. */
final class ClientProcessMain {
    /** What every answer begins with. Whatever else a line of output is, it is no answer. */
    static final String ANSWER = "latchkey answers ";

    private static final String ACQUIRE = "acquire ";

    private ClientProcessMain() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.setOut(System.err); // logging to the console must not get between the answers
        out.println(); // behind what may have been printed before
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (LockClient locks =
                FaultyClient.Connector.ofLatchkey().connect(args[0], Duration.ofMillis(Long.parseLong(args[1])))) {
            Optional<HeldLock> held = Optional.empty();
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (line.startsWith(ACQUIRE)) {
                    held = Optional.of(new HeldLock(
                            locks.mutex(line.substring(ACQUIRE.length())).acquire()));
                }
                out.println(ANSWER
                        + held.map(line.startsWith(ACQUIRE) ? HeldLock::token : answer(line))
                                .orElse("nothing held"));
            }
        }
    }

    private static Function<HeldLock, String> answer(String question) {
        return switch (question) {
            case "valid" -> held -> String.valueOf(held.lease.isValid());
            case "lost" ->
                held -> String.valueOf(held.lease.lost().toCompletableFuture().join());
            case "belief" -> held -> held.belief().toString();
            default -> throw new IllegalArgumentException(question);
        };
    }

    /** A lease that is looked at all the time. */
    private static final class HeldLock {
        private static final long LOOK_EVERY_NANOS = 200_000;

        private final Lease lease;
        private final long granted = System.nanoTime();
        private final CompletableFuture<Long> told;
        private volatile long lastValid = granted;

        HeldLock(Lease lease) {
            this.lease = lease;
            this.told = lease.lost().thenApply(cause -> System.nanoTime()).toCompletableFuture();
            Thread looks = new Thread(this::look, "latchkey-looks");
            looks.setDaemon(true);
            looks.start();
        }

        private void look() {
            for (long before = System.nanoTime(); lease.isValid(); before = System.nanoTime()) {
                lastValid = before;
                LockSupport.parkNanos(LOOK_EVERY_NANOS);
            }
        }

        String token() {
            return Long.toString(lease.token());
        }

        ClientProcess.Belief belief() {
            long lost = told.join();
            return new ClientProcess.Belief(
                    lease.token(),
                    granted,
                    lastValid,
                    lost,
                    lease.lost().toCompletableFuture().join());
        }
    }
}
