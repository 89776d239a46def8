// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.Mutex;
import io.latchkey.testkit.FaultyClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;

/**
 * A process that updates, once in every {@link Mode}, something under a lock: reads it, thinks, and writes it with its
 * own update added, without another look at its lease. It reads and writes the data of its parent process by lines:
 * {@code MODE read TOKEN} and {@code MODE write TOKEN VALUE}, which are answered by {@code MODE ok VALUE} or
 * {@code MODE refused}. It ends with its input.
 */
final class UpdateWorker {
    static final Duration SESSION = Duration.ofSeconds(2);
    private static final int LONGEST_THOUGHT_MILLIS = 150;
    private static final int ANY_VERSION = -1;

    private final String connectString;
    private final String name;
    private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    private final Map<Mode, BlockingQueue<String>> answers = new EnumMap<>(Mode.class);

    /** What keeps stale writes out. */
    enum Mode {
        /** Nothing but the lock. */
        LOCK_ALONE,
        /** The store compares tokens. */
        TOKENS,
        /** The data is on the same ZooKeeper, and the write is guarded. */
        GUARDED;

        /** Where the lock is. */
        String lock() {
            return "/lock-" + this;
        }
    }

    /** Where the data lies that is on ZooKeeper. */
    static final String DATA = "/data";

    private UpdateWorker(String connectString, String name) {
        this.connectString = connectString;
        this.name = name;
        for (Mode mode : Mode.values()) {
            answers.put(mode, new LinkedBlockingQueue<>());
        }
    }

    public static void main(String[] args) throws IOException {
        new UpdateWorker(args[0], args[1]).run();
    }

    private void run() throws IOException {
        for (Mode mode : Mode.values()) {
            Thread thread = new Thread(() -> update(mode), "updates-" + mode);
            thread.setDaemon(true);
            thread.start();
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split(" ", 2);
            answers.get(Mode.valueOf(parts[0])).add(parts[1]);
        }
    }

    private void update(Mode mode) {
        SplittableRandom random = new SplittableRandom();
        try (LockClient client = FaultyClient.Connector.ofLatchkey().connect(connectString, SESSION)) {
            ZooKeeper reads = new ZooKeeper(connectString, 60_000, event -> {});
            Mutex mutex = client.mutex(mode.lock());
            for (int number = 1; ; number++) {
                String id = name + "." + number;
                try (Lease lease = mutex.acquire()) {
                    String before = read(mode, lease, reads);
                    LockSupport.parkNanos(Duration.ofMillis(random.nextInt(LONGEST_THOUGHT_MILLIS))
                            .toNanos());
                    write(mode, lease, before.isEmpty() ? id : before + "," + id);
                    say(mode, "acknowledged " + id);
                } catch (LeaseLostException | Refused | KeeperException refused) {
                    say(mode, "not-written " + id);
                }
                LockSupport.parkNanos(Duration.ofMillis(random.nextInt(20)).toNanos());
            }
        } catch (InterruptedException | IOException ended) {
            Thread.currentThread().interrupt();
        }
    }

    private String read(Mode mode, Lease lease, ZooKeeper reads) throws InterruptedException, KeeperException, Refused {
        if (mode == Mode.GUARDED) {
            say(mode, "thinks");
            return data(reads);
        }
        say(mode, "read " + lease.token());
        return answer(mode);
    }

    /**
     * Returns the last value written. The server may lag behind the one that took the write, so it first has to catch
     * up.
     */
    static String data(ZooKeeper handle) throws InterruptedException, KeeperException {
        CompletableFuture<Integer> caughtUp = new CompletableFuture<>();
        handle.sync(DATA, (rc, path, ctx) -> caughtUp.complete(rc), null);
        KeeperException.Code code = KeeperException.Code.get(caughtUp.join());
        if (code != KeeperException.Code.OK) {
            throw KeeperException.create(code, DATA);
        }
        return new String(handle.getData(DATA, false, null), StandardCharsets.UTF_8);
    }

    private void write(Mode mode, Lease lease, String value) throws InterruptedException, KeeperException, Refused {
        if (mode == Mode.GUARDED) {
            var unused = ZkLocks.guarded(lease, Op.setData(DATA, value.getBytes(StandardCharsets.UTF_8), ANY_VERSION));
        } else {
            say(mode, "write " + lease.token() + " " + value);
            String unused = answer(mode);
        }
    }

    private static final class Refused extends Exception {
        private static final long serialVersionUID = 1;
    }

    private String answer(Mode mode) throws InterruptedException, Refused {
        String[] parts = answers.get(mode).take().split(" ", 2);
        if (parts[0].equals("refused")) {
            throw new Refused();
        }
        return parts[1];
    }

    private void say(Mode mode, String what) {
        out.println(mode + " " + what);
    }
}
