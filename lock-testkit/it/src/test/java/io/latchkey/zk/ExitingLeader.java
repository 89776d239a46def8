// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.lock.Leadership;
import io.latchkey.lock.Leadership.Next;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.lock.Mutex;
import io.latchkey.testkit.FaultyClient.Connector;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/**
 * A process with a candidate that calls {@code System.exit} in its own thread, for {@link LeaderExitTest}: when a byte
 * arrives at its standard input. A shutdown hook closes the candidate and then the client.
 */
final class ExitingLeader {
    static final String LEADS = "leads";

    /** Where the candidate's thread calls {@code System.exit}. */
    enum Place {
        BODY,
        ELECTED,
        OVER,
        REPORT,
        STAGE_OF_THE_END,
        /** Nowhere: another thread does, and the body swallows its interrupt and goes on. */
        OTHER_THREAD
    }

    private ExitingLeader() {}

    public static void main(String[] args) throws Exception {
        Place place = Place.valueOf(args[2]);
        CompletableFuture<Leadership> itself = new CompletableFuture<>();
        LockClient client = Connector.ofLatchkey().connect(args[0], Duration.ofMillis(Long.parseLong(args[1])));
        Runtime.getRuntime()
                .addShutdownHook(new Thread(
                        () -> {
                            itself.join().close();
                            client.close();
                        },
                        "latchkey-hook"));
        Leadership candidate = start(place, client.mutex(args[3]));
        itself.complete(candidate);
        if (place == Place.OVER || place == Place.OTHER_THREAD) {
            awaitByte();
            if (place == Place.OTHER_THREAD) {
                System.exit(0);
            }
            candidate.stepDown();
        }
        new CountDownLatch(1).await(); // the candidate's thread is a daemon
    }

    private static Leadership start(Place place, Mutex mutex) {
        if (place == Place.ELECTED || place == Place.OVER) {
            return Leadership.start(mutex, new Leadership.Listener() {
                @Override
                public void elected(Lease lease) {
                    System.out.println(LEADS);
                    if (place == Place.ELECTED) {
                        exit();
                    }
                }

                @Override
                public void termOver(Lease lease) {
                    System.exit(0);
                }
            });
        }
        Mutex used = place == Place.REPORT ? refused() : mutex;
        Leadership candidate = Leadership.start(used, lease -> body(place), new Leadership.Reports() {
            @Override
            public void mutexRefused(Throwable why, Duration pause) {
                System.out.println(LEADS);
                exit();
            }
        });
        if (place == Place.STAGE_OF_THE_END) {
            var unused = candidate.ended().thenRun(() -> System.exit(0));
        }
        return candidate;
    }

    private static Next body(Place place) throws IOException {
        System.out.println(LEADS);
        switch (place) {
            case BODY -> exit();
            case STAGE_OF_THE_END -> awaitByte();
            default -> {
                while (true) {
                    Thread.onSpinWait(); // for ever, whatever interrupts it
                }
            }
        }
        return Next.END;
    }

    private static Mutex refused() {
        return (Mutex) Proxy.newProxyInstance(
                Mutex.class.getClassLoader(), new Class<?>[] {Mutex.class}, (proxy, method, args) -> {
                    throw new LockException("of a server that throttles");
                });
    }

    private static void exit() {
        try {
            awaitByte();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        System.exit(0);
    }

    private static void awaitByte() throws IOException {
        int unused = System.in.read();
    }
}
