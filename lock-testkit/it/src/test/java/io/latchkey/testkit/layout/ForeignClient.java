// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.layout;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.MultiLock;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.Semaphore;
import io.latchkey.lock.StripedMutex;
import io.latchkey.testkit.curator.AdaptedLease;
import io.latchkey.testkit.curator.OtherLibrary;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Another library's locks in a process of their own, under the names of lock-api. It talks to that line by line. */
final class ForeignClient implements OtherLibrary.Client {
    private static final String UNKNOWN = "not with this process";

    private final Process process;
    private final BufferedWriter ask;
    private final AtomicInteger numbers = new AtomicInteger();
    private final CompletableFuture<Void> connected = new CompletableFuture<>();
    private final Map<String, CompletableFuture<Boolean>> asked = new ConcurrentHashMap<>();
    private final Map<String, CompletableFuture<Void>> releases = new ConcurrentHashMap<>();
    private final Map<String, AdaptedLease> leases = new ConcurrentHashMap<>();

    ForeignClient(List<String> command) {
        try {
            process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start " + command, e);
        }
        ask = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
        Thread reader = new Thread(this::read, "foreign-" + process.pid());
        reader.setDaemon(true);
        reader.start();
        connected.join();
    }

    /** kazoo in this interpreter. */
    static ForeignClient kazoo(String python, Path script, String servers, Duration session) {
        return new ForeignClient(List.of(python, script.toString(), servers, Long.toString(session.toMillis())));
    }

    Process process() {
        return process;
    }

    private void read() {
        try (BufferedReader answers =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = answers.readLine(); line != null; line = answers.readLine()) {
                take(line.split(" ", 3));
            }
        } catch (IOException ended) {
            // as the end of the stream
        }
        connected.completeExceptionally(new IllegalStateException("the process has ended"));
        leases.values().forEach(lease -> lease.lose(LossCause.SESSION_EXPIRED));
    }

    private void take(String[] words) {
        switch (words[0]) {
            case "connected" -> connected.complete(null);
            case "lost" -> leases.values().forEach(lease -> lease.lose(LossCause.SESSION_EXPIRED));
            case "granted" -> asked.remove(words[1]).complete(true);
            case "refused" -> asked.remove(words[1]).complete(false);
            case "released" -> releases.remove(words[1]).complete(null);
            case "failed" -> {
                CompletableFuture<Boolean> request = asked.remove(words[1]);
                if (request != null) {
                    request.completeExceptionally(new LockServiceUnavailableException(words[2]));
                }
            }
            default -> throw new IllegalStateException(String.join(" ", words));
        }
    }

    private void say(String line) {
        synchronized (ask) {
            try {
                ask.write(line + "\n");
                ask.flush();
            } catch (IOException gone) {
                throw new UncheckedIOException("the process has ended", gone);
            }
        }
    }

    /** Asks, with so much time, or without end if it is negative. */
    CompletableFuture<Boolean> acquire(String id, String kind, String path, long millis) {
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        asked.put(id, answer);
        say("acquire " + id + " " + kind + " " + path + " " + millis);
        return answer;
    }

    String newId() {
        return Integer.toString(numbers.incrementAndGet());
    }

    void keep(String id, AdaptedLease lease) {
        leases.put(id, lease);
    }

    CompletableFuture<Void> release(String id) {
        leases.remove(id);
        CompletableFuture<Void> done = new CompletableFuture<>();
        releases.put(id, done);
        say("release " + id);
        return done;
    }

    @Override
    public Mutex mutex(String path) {
        return new ForeignLock(this, "lock", path);
    }

    @Override
    public ReadWriteLock readWriteLock(String path) {
        return new ForeignReadWriteLock(this, path);
    }

    private record ForeignReadWriteLock(ForeignClient client, String path) implements OtherLibrary.ReadersAndWriters {
        @Override
        public Acquirable readLock() {
            return new ForeignLock(client, "read", path);
        }

        @Override
        public Acquirable writeLock() {
            return new ForeignLock(client, "write", path);
        }

        @Override
        public io.latchkey.lock.Lease downgrade(io.latchkey.lock.Lease write) {
            throw new UnsupportedOperationException(UNKNOWN);
        }

        @Override
        public java.util.concurrent.locks.ReadWriteLock asReadWriteLock() {
            throw new UnsupportedOperationException(UNKNOWN);
        }
    }

    @Override
    public Semaphore semaphore(String path, int permits) {
        throw new UnsupportedOperationException(UNKNOWN);
    }

    @Override
    public MultiLock multiLock(Acquirable... members) {
        throw new UnsupportedOperationException(UNKNOWN);
    }

    @Override
    public StripedMutex stripedMutex(String path, int stripes) {
        throw new UnsupportedOperationException(UNKNOWN);
    }

    /** Kills the process; its session stays with the server until its timeout. */
    @Override
    public void close() {
        process.destroyForcibly();
    }
}
