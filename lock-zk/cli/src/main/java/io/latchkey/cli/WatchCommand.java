// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import io.latchkey.lock.LockException;
import io.latchkey.lock.admin.Contender;
import io.latchkey.lock.admin.LockListing;
import io.latchkey.zk.ZkLockClient;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code watch}, which prints each change of a lock, and makes a page of them. */
@Command(
        name = "watch",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        description = {
            "Prints a line for each change of the lock at PATH: a request was asked, granted, released, gone (it held, and"
                    + " its node was deleted without the mark of a release: its session ended, it was evicted, or it has"
                    + " no mark, as readers, permits and other layouts) or left (it ended while it waited).",
            "It looks at the queue each --interval: one list, and one read for each request. A second session watches the"
                    + " path for marks of releases. A request that comes and goes between two looks has no owner here. A"
                    + " grant has the time of the end of the request before it, or is as exact as the interval. Local turns of one client are one hold.",
            "Ctrl-C or --for ends it; then --html writes a page with the time line, the spread of waits and holds, the"
                    + " longest holds and the ends without a mark."
        })
final class WatchCommand implements Callable<Integer> {
    private static final Duration SHORTEST = Duration.ofMillis(20);
    private static final long PAGE_SECONDS = 5;

    @Mixin
    private ConnectionOptions connection = new ConnectionOptions();

    @Parameters(paramLabel = "PATH", description = "The lock's path.")
    private String path = "";

    @Option(names = "--html", paramLabel = "FILE", description = "Write a page to this file at the end.")
    private @Nullable Path html;

    @Option(
            names = "--interval",
            paramLabel = "TIME",
            defaultValue = "500ms",
            converter = Span.class,
            description = "The time between two looks. If not given: ${DEFAULT-VALUE}.")
    private Duration interval = Duration.ZERO;

    @Option(
            names = "--for",
            paramLabel = "TIME",
            converter = Span.class,
            description = "How long to watch. If not given: until it is ended.")
    private @Nullable Duration length;

    @Option(names = "--json", description = "Print each change as a JSON object in a line.")
    private boolean json;

    private Optional<ReleaseMarks> marks = Optional.empty();
    private final CountDownLatch finished = new CountDownLatch(1);
    /** The thread that looks, while a signal may interrupt it; guarded by this. */
    private @Nullable Thread looking;

    private boolean isStopping;

    /** A change in JSON. */
    private record Line(
            String time,
            String change,
            long token,
            String host,
            long processId,
            String label,
            @Nullable String session,
            @Nullable BigDecimal waitedSeconds,
            @Nullable BigDecimal heldSeconds) {}

    @Override
    public Integer call() throws InterruptedException {
        ConnectionOptions.checkPath(path);
        if (interval.compareTo(SHORTEST) < 0) {
            throw new IllegalArgumentException("--interval takes " + Span.text(SHORTEST) + " or more.");
        }
        if (length != null && length.isZero()) {
            throw new IllegalArgumentException("--for takes a time above 0.");
        }
        if (html != null) {
            checkWritable(html);
        }
        Thread atExit = new Thread(this::stop, "latchkey-watch");
        Runtime.getRuntime().addShutdownHook(atExit);
        try (ZkLockClient client = connection.lookingClient("latchkey watch")) {
            return watch(client).code();
        } finally {
            finished.countDown();
            removeHook(atExit);
        }
    }

    private static void removeHook(Thread atExit) {
        try {
            boolean unused = Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException ending) {
            // It has run.
        }
    }

    /**
     * A signal ends the watch, and the page is written before the JVM ends. A look waits longer for a server than the
     * JVM may for the page.
     */
    private void stop() {
        synchronized (this) {
            isStopping = true;
            if (looking != null) {
                looking.interrupt();
            }
        }
        try {
            boolean unused = finished.await(PAGE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException none) {
            Thread.currentThread().interrupt();
        }
    }

    private ExitStatus watch(ZkLockClient client) throws InterruptedException {
        Instant begin = Instant.now();
        marks = ReleaseMarks.watch(path, connection);
        try {
            WatchedLock lock = new WatchedLock(marks);
            ExitStatus status = looksUntilASignal(client, lock, begin);
            print(lock.finish(Instant.now()));
            if (html != null) {
                write(html, new WatchPage(path, begin, Instant.now(), interval, lock).text());
            }
            return System.out.checkError() ? ExitStatus.NOT_WRITTEN : status;
        } finally {
            marks.ifPresent(ReleaseMarks::close);
        }
    }

    private ExitStatus looksUntilASignal(ZkLockClient client, WatchedLock lock, Instant begin)
            throws InterruptedException {
        try {
            if (!mayBeInterrupted(true)) {
                return ExitStatus.DONE;
            }
            return looks(client, lock, begin);
        } catch (InterruptedException signal) {
            if (!isStopping()) {
                throw signal;
            }
            return ExitStatus.DONE;
        } finally {
            boolean unused = mayBeInterrupted(false);
        }
    }

    /** Begins or ends the time in which a signal interrupts; returns whether there was none so far. */
    private synchronized boolean mayBeInterrupted(boolean looks) {
        looking = looks ? Thread.currentThread() : null;
        // An interrupt that came too late for a look would end the writing of the page.
        boolean unused = isStopping && Thread.interrupted();
        return !isStopping;
    }

    private synchronized boolean isStopping() {
        return isStopping;
    }

    private ExitStatus looks(ZkLockClient client, WatchedLock lock, Instant begin) throws InterruptedException {
        ExitStatus status = ExitStatus.DONE;
        Set<String> complained = Set.of();
        boolean isAway = false;
        while (true) {
            Instant start = Instant.now();
            try {
                LockListing found = client.listLocksAt(path);
                status = Output.complainOfMissing(found, complained);
                complained = found.unreadable().keySet();
                if (found.isComplete()) {
                    // Of what could not be read it is not known that it ended.
                    List<Contender> queue = found.locks().stream()
                            .flatMap(each -> each.queue().stream())
                            .toList();
                    print(lock.look(queue, start, Instant.now()));
                    renewMarks(lock);
                }
                isAway = false;
            } catch (LockException away) {
                status = ExitStatus.of(away);
                if (!isAway) {
                    Terminal.complain(String.valueOf(away.getMessage()));
                }
                isAway = true;
            }
            if (status == ExitStatus.DENIED || System.out.checkError()) {
                return status;
            }
            if (isOver(begin)) {
                return status;
            }
            Thread.sleep(interval.toMillis());
        }
    }

    /** After an interruption a new session hears of marks. It has nothing of the old one, which may be stale. */
    private void renewMarks(WatchedLock lock) throws InterruptedException {
        if (marks.filter(ReleaseMarks::isInterrupted).isEmpty()) {
            return;
        }
        marks.ifPresent(ReleaseMarks::close);
        marks = ReleaseMarks.watch(path, connection);
        lock.use(marks);
        Terminal.complain("the session that watches for marks of releases was interrupted: a holder that released"
                + " meanwhile is 'gone'.");
    }

    private boolean isOver(Instant begin) {
        return length != null && !Instant.now().isBefore(begin.plus(length));
    }

    private void print(List<WatchedLock.Event> events) {
        events.forEach(event -> System.out.println(json ? Output.line(line(event)) : Terminal.plain(text(event))));
    }

    private static Line line(WatchedLock.Event event) {
        WatchedLock.WatchedRequest request = event.request();
        return new Line(
                event.at().truncatedTo(ChronoUnit.MILLIS).toString(),
                event.change().name().toLowerCase(Locale.ROOT),
                request.token(),
                request.owner().host(),
                request.owner().processId(),
                request.owner().label(),
                request.session() == 0 ? null : Owners.session(request.session()),
                event.change() == WatchedLock.Change.ASKED
                        ? null
                        : request.waited().map(Age::seconds).orElse(null),
                switch (event.change()) {
                    case ASKED, GRANTED, LEFT -> null;
                    case RELEASED, GONE -> request.held().map(Age::seconds).orElse(null);
                });
    }

    private static String text(WatchedLock.Event event) {
        WatchedLock.WatchedRequest request = event.request();
        String how =
                switch (event.change()) {
                    case ASKED -> "";
                    case GRANTED, LEFT ->
                        "  waited " + request.waited().map(Age::exact).orElse("?");
                    case RELEASED, GONE ->
                        "  held " + request.held().map(Age::exact).orElse("?");
                };
        return String.format(
                "%-24s  %-8s  %d%s  %s",
                event.at().truncatedTo(ChronoUnit.MILLIS),
                event.change().name().toLowerCase(Locale.ROOT),
                request.token(),
                how,
                request.isSeen() ? request.who() : "(" + request.who() + ")");
    }

    /** Opens the file as the page will open it at the end, and leaves it as it was. */
    private static void checkWritable(Path file) {
        boolean isNew = !Files.exists(file);
        try {
            Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)
                    .close();
            if (isNew) {
                Files.delete(file);
            }
        } catch (IOException cannot) {
            throw notWritten(cannot);
        }
    }

    private static void write(Path file, String text) {
        try {
            Files.writeString(file, text);
        } catch (IOException cannot) {
            throw notWritten(cannot);
        }
    }

    private static StatusException notWritten(IOException cannot) {
        return new StatusException(ExitStatus.NOT_WRITTEN, "the page cannot be written: " + cannot);
    }
}
