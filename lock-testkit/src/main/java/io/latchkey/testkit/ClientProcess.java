// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import com.google.common.util.concurrent.Uninterruptibles;
import io.latchkey.lock.LossCause;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.server.Signals;
import io.latchkey.testkit.server.ZooKeeperFixture;
import io.latchkey.testkit.time.Eventually;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A lock client in a separate JVM, which can be paused as a whole: its clock, its threads and its sockets. A paused
 * holder does not know how much time has passed. The process is behind a proxy of its own, which keeps running during a
 * pause.
 *
 * <p>Starting one takes 0.5 to 1.5 s. Its methods are executed one after the other: each returns at once, and its
 * future completes when the process has answered. So a call behind one that waits, such as {@link #lost()}, waits with
 * it. If the process ends before it has answered, the future completes with an {@link IllegalStateException} that has
 * the last lines which the process printed, or an {@link IOException} if it could not be asked. Needs the signals STOP
 * and CONT, so it is not for Windows. All methods may be called from any thread.
 */
public final class ClientProcess implements AutoCloseable {
    private static final Duration EXPIRES_WITHIN = Duration.ofMinutes(2);
    private static final int MOST_LINES = 30;

    private final ZooKeeperFixture fixture;
    private final FaultProxy proxy;
    private final Process process;
    private final BufferedWriter ask;
    private final Thread reader;
    private final Thread errorReader;
    private final Queue<CompletableFuture<String>> asked = new ConcurrentLinkedQueue<>();
    /** The last lines that were no answers. Guarded by itself. */
    private final Deque<String> printed = new ArrayDeque<>();

    private ClientProcess(ZooKeeperFixture fixture, FaultProxy proxy, Process process) {
        this.fixture = fixture;
        this.proxy = proxy;
        this.process = process;
        this.ask = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
        this.reader = new Thread(this::read, "latchkey-client-process-" + process.pid());
        this.errorReader = new Thread(
                () -> forEachLine(process.getErrorStream(), this::printed),
                "latchkey-client-process-" + process.pid() + "-errors");
        reader.setDaemon(true);
        errorReader.setDaemon(true);
    }

    /**
     * Starts a JVM like this one, with the same class path, and a client of lock-zk in it. Returns before that has
     * connected.
     *
     * @param fixture the servers that it may connect to
     * @param sessionTimeout the timeout that its sessions ask for; T is what the server makes of it
     * @return the process; close it
     * @throws UncheckedIOException if no JVM can be started
     */
    public static ClientProcess start(ZooKeeperFixture fixture, Duration sessionTimeout) {
        return start(fixture, sessionTimeout, ClientProcessMain.class);
    }

    static ClientProcess start(ZooKeeperFixture fixture, Duration sessionTimeout, Class<?> main) {
        FaultProxy proxy = FaultProxy.to(fixture);
        try {
            Process process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-cp",
                            System.getProperty("java.class.path"),
                            main.getName(),
                            proxy.connectString(),
                            Long.toString(sessionTimeout.toMillis()))
                    .start();
            ClientProcess made = new ClientProcess(fixture, proxy, process);
            made.errorReader.start();
            made.reader.start();
            return made;
        } catch (IOException e) {
            proxy.close();
            throw new UncheckedIOException("cannot start a JVM", e);
        }
    }

    /** {@return what stands between it and the servers, in this process} */
    public FaultProxy proxy() {
        return proxy;
    }

    /**
     * Acquires a mutex in the process, which never releases it. The other methods apply to the lease that was granted
     * last.
     *
     * @param path the mutex's
     * @return completes with the token of the lease when it holds
     */
    public CompletableFuture<Long> acquire(String path) {
        return ask("acquire " + path, Long::valueOf);
    }

    /**
     * Has it look at its lease. Ask while it is paused, and it is the first thing that it does when it goes on, before
     * anything else can have told it what has happened.
     *
     * @return completes with what it found; false also if it holds none
     */
    public CompletableFuture<Boolean> isValid() {
        return ask("valid", Boolean::valueOf);
    }

    /**
     * {@return completes with the name of the {@link LossCause} when the process is notified of the loss of its lease}
     */
    public CompletableFuture<String> lost() {
        return ask("lost", reason -> reason);
    }

    /**
     * {@return completes with the record of its lease when the process is notified of the loss} It checks the lease
     * continuously.
     */
    public CompletableFuture<Belief> belief() {
        return ask("belief", Belief::parse);
    }

    /**
     * A holder's record of its lease, in nanoseconds of {@link System#nanoTime()}, which on Linux is one clock for all
     * processes of the machine.
     *
     * @param token the lease's token
     * @param granted the time of the grant
     * @param lastValid the beginning of the last check that found it valid; checks are some 0.2 ms apart
     * @param lost the time at which its holder was notified of the loss
     * @param cause the cause of the loss
     */
    public record Belief(long token, long granted, long lastValid, long lost, LossCause cause) {
        static Belief parse(String line) {
            String[] parts = line.split(" ", -1);
            return new Belief(
                    Long.parseLong(parts[0]),
                    Long.parseLong(parts[1]),
                    Long.parseLong(parts[2]),
                    Long.parseLong(parts[3]),
                    LossCause.valueOf(parts[4]));
        }

        @Override
        public String toString() {
            return token + " " + granted + " " + lastValid + " " + lost + " " + cause;
        }
    }

    private <T> CompletableFuture<T> ask(String what, Function<String, T> answer) {
        CompletableFuture<String> line = new CompletableFuture<>();
        synchronized (ask) {
            asked.add(line);
            try {
                ask.write(what + "\n");
                ask.flush();
            } catch (IOException gone) {
                line.completeExceptionally(gone);
            }
        }
        return line.thenApply(answer);
    }

    private void read() {
        forEachLine(process.getInputStream(), line -> {
            CompletableFuture<String> next = line.startsWith(ClientProcessMain.ANSWER) ? asked.poll() : null;
            if (next != null) {
                next.complete(line.substring(ClientProcessMain.ANSWER.length()));
            } else if (!line.isEmpty()) {
                printed(line);
            }
        });
        Uninterruptibles.joinUninterruptibly(errorReader);
        String last;
        synchronized (printed) {
            last = printed.isEmpty() ? "" : "; it printed\n" + String.join("\n", printed);
        }
        asked.forEach(each -> each.completeExceptionally(new IllegalStateException("the process has ended" + last)));
    }

    private static void forEachLine(InputStream from, Consumer<String> action) {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(from, StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                action.accept(line);
            }
        } catch (IOException ended) {
            // as the end of the stream
        }
    }

    private void printed(String line) {
        synchronized (printed) {
            printed.add(line);
            if (printed.size() > MOST_LINES) {
                printed.remove();
            }
        }
    }

    /**
     * Stops the process in its tracks (SIGSTOP): no thread of it runs, its clock goes on without it, its connection
     * stays open and silent. The server ends the session T after its last sign, at the next tick; others are granted
     * what it holds. When it {@linkplain #resume() goes on}, ZooKeeper's handle still says that it is connected for
     * some 15 ms, until it has read that it is not.
     *
     * @throws IllegalStateException if it has ended
     */
    public void pause() {
        Signals.stop(process);
    }

    /**
     * Lets it go on (SIGCONT).
     *
     * @throws IllegalStateException if it has ended
     */
    public void resume() {
        Signals.goOn(process);
    }

    /**
     * {@link #pause() Pauses} it; it stays so until resumed.
     *
     * @return completes with the session's id when the server has ended it by time
     * @throws IllegalStateException if it has not connected yet
     */
    public CompletableFuture<Long> pauseUntilExpired() {
        long session = proxy.session().orElseThrow(() -> new IllegalStateException("it has not connected yet"));
        pause();
        return FaultyClient.inBackground("pause-" + process.pid(), () -> {
            Eventually.holds("end of the paused client's session", EXPIRES_WITHIN, () -> !fixture.hasSession(session));
            return session;
        });
    }

    /** Kills the process, paused or not; its session stays with the server until its timeout. Then closes the proxy. */
    @Override
    public void close() {
        try {
            process.destroyForcibly().waitFor();
            reader.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        proxy.close();
    }

    @Override
    public String toString() {
        return "client in process " + process.pid();
    }
}
