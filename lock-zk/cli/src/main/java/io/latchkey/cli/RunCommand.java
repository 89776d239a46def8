// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.ClientClosedException;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.LockTimeoutException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.admin.Contender;
import io.latchkey.zk.Layout;
import io.latchkey.zk.OncePerPeriod;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code run}, which holds a lock while another command runs. */
// The class is long because the end of the command, a signal and a loss of the lock may each come at any moment of a
// run.
@Command(
        name = "run",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        sortOptions = false,
        customSynopsis = "latchkey run PATH [OPTIONS] -- COMMAND [ARGUMENT...]",
        description = {
            "Acquires the lock at PATH, by default a mutex, runs COMMAND, and releases the lock when COMMAND has"
                    + " ended. COMMAND has latchkey's standard input and output, and in its environment LATCHKEY_PATH and"
                    + " LATCHKEY_TOKEN, the fencing token: a store that refuses tokens below the highest it has seen accepts"
                    + " nothing from a command that has lost the lock. LATCHKEY_AUTH is not passed on to COMMAND.",
            "If the lock is lost, or if latchkey gets TERM, INT, HUP or another signal that it can handle, COMMAND and the processes that it has started get"
                    + " TERM, and KILL after the grace period. Others may hold the lock from the loss on. If latchkey itself"
                    + " is killed (KILL), COMMAND goes on without the lock.",
            "With --once-per, COMMAND also has LATCHKEY_PERIOD, the beginning of the period in UTC. It is the same if"
                    + " COMMAND is repeated. The last period is recorded in the node PATH.period.",
            "Times are 10s, 500ms, 5m, 2h, 1d; a bare number is seconds."
        })
final class RunCommand implements Callable<Integer> {
    private static final String SEPARATOR = "--";
    private static final int LONGEST_LABEL = 256;

    @Parameters(paramLabel = "PATH", index = "0", description = "The lock's path.")
    private String path = "";

    @Parameters(
            paramLabel = "COMMAND",
            index = "1..*",
            arity = "1..*",
            description = "The command to run, without a shell.")
    private List<String> command = List.of();

    @ArgGroup(exclusive = true, multiplicity = "0..1")
    private WantedLock lock = new WantedLock();

    @Option(
            names = "--layout",
            paramLabel = "WHOSE",
            defaultValue = "latchkey",
            description =
                    "The layout of the lock's nodes: latchkey, or curator or kazoo, to share PATH with programs that use"
                            + " these. All clients of PATH must use the same. If not given: ${DEFAULT-VALUE}.")
    private Layout layout = Layout.LATCHKEY;

    @Option(
            names = "--timeout",
            paramLabel = "TIME",
            converter = Span.class,
            description =
                    "How long to wait for the lock, once connected. 0 does not wait for holders. If not given: as long as it"
                            + " takes.")
    private @Nullable Duration timeout;

    @Option(
            names = "--once-per",
            paramLabel = "TIME",
            converter = Span.class,
            description =
                    "Run COMMAND once in each period of this length, on any number of machines: 1d is a day in UTC. A"
                            + " period is recorded when COMMAND has ended with 0; if that fails, COMMAND may run again. In a"
                            + " period that is recorded, COMMAND is not run and the exit status is 0.")
    private @Nullable Duration oncePer;

    @Option(
            names = "--at-most-once",
            description = "With --once-per: record the period before COMMAND is started, so that it never runs twice.")
    private boolean atMostOnce;

    @Option(
            names = "--grace",
            paramLabel = "TIME",
            defaultValue = "10s",
            converter = Span.class,
            description = "The time from TERM to KILL. If not given: ${DEFAULT-VALUE}.")
    private Duration grace = Duration.ZERO;

    @Option(
            names = "--held-at-most",
            paramLabel = "TIME",
            converter = Span.class,
            description =
                    "How long to hold the lock at most: then it is lost, and COMMAND is ended. If not given: as long as"
                            + " COMMAND runs.")
    private @Nullable Duration heldAtMost;

    @Option(
            names = "--label",
            paramLabel = "TEXT",
            description = "The label shown in the queue, beside host and process. If not given: COMMAND's name.")
    private @Nullable String label;

    @Option(
            names = {"-q", "--quiet"},
            description =
                    "Print nothing when the lock was not acquired in time, with exit status 75, or when the period is"
                            + " recorded already.")
    private boolean quiet;

    @Mixin
    private ConnectionOptions connection = new ConnectionOptions();

    @Spec
    private @Nullable CommandSpec spec;

    /** Set by a signal, and at the normal end. */
    private final AtomicBoolean stopping = new AtomicBoolean();
    /** The command was to be run under the lock, and no process of it existed. */
    private boolean neverBegan;
    /** The command ran to its end under the lock. */
    private boolean ended;

    @Override
    public Integer call() throws IOException, InterruptedException {
        checkSeparator();
        ConnectionOptions.checkPath(path);
        lock.check();
        if (heldAtMost != null && heldAtMost.isZero()) {
            throw new IllegalArgumentException("--held-at-most takes a time above 0.");
        }
        checkPeriod();
        String name = labelOrName();
        CommandProcess process = new CommandProcess(grace);
        try (LockClient client = connection.client(name, layout)) {
            Acquirable wanted = wanted(client);
            endAndReleaseOnSignals(process, client);
            return acquireAndRunUnlessStopped(wanted, process);
        }
    }

    int acquireAndRunUnlessStopped(Acquirable wanted, CommandProcess process) throws IOException, InterruptedException {
        try {
            return acquireAndRun(wanted, process);
        } catch (ClientClosedException closed) {
            if (!stopping.get()) {
                throw closed;
            }
            // The shutdown hook closed the client: the exit status is the signal's.
            return ExitStatus.UNEXPECTED.code();
        }
    }

    private Acquirable wanted(LockClient client) {
        try {
            Acquirable wanted = lock.of(client, path);
            return heldAtMost == null ? wanted : wanted.heldAtMost(heldAtMost);
        } catch (UnsupportedOperationException refused) {
            throw new ParameterException(
                    Objects.requireNonNull(spec).commandLine(),
                    "--layout " + layout.name().toLowerCase(Locale.ROOT) + " shares no semaphore. Nothing was sent. Use"
                            + " --layout latchkey at another PATH, or at this one once no other program uses it",
                    refused);
        }
    }

    /** Requires {@code --}, because options of the command would be parsed as those of {@code run}. */
    private void checkSeparator() {
        CommandSpec self = Objects.requireNonNull(spec);
        List<String> typed = self.commandLine().getParseResult().originalArgs();
        if (typed.indexOf(SEPARATOR) != typed.size() - command.size() - 1) {
            throw new ParameterException(self.commandLine(), "Write '--' before the command that is to be run");
        }
    }

    private void checkPeriod() {
        if (oncePer == null ? atMostOnce : !lock.isExclusive()) {
            throw new ParameterException(
                    Objects.requireNonNull(spec).commandLine(),
                    oncePer == null
                            ? "--at-most-once needs --once-per"
                            : "--once-per needs a lock that one command has alone, not --read or --semaphore");
        }
        if (oncePer != null) {
            var unused = OncePerPeriod.calendar(oncePer);
        }
    }

    private String labelOrName() {
        if (label != null) {
            checkLabel(label);
            return label;
        }
        Path name = Path.of(command.get(0)).getFileName();
        String plain = Terminal.plain(String.valueOf(name));
        return plain.length() > LONGEST_LABEL ? plain.substring(0, LONGEST_LABEL) : plain;
    }

    private static void checkLabel(String text) {
        if (text.length() > LONGEST_LABEL) {
            throw new IllegalArgumentException(
                    "--label has " + text.length() + " characters, and " + LONGEST_LABEL + " are the most.");
        }
        text.codePoints().filter(c -> !Terminal.isPrintable(c)).findFirst().ifPresent(c -> {
            throw new IllegalArgumentException(
                    String.format("--label has the character U+%04X, which is not printed.", c));
        });
    }

    private void endAndReleaseOnSignals(CommandProcess process, LockClient client) {
        Runnable stop = () -> {
            stopping.set(true);
            try {
                process.end();
            } finally {
                // Whatever the system says of processes: without a close the lock is held until the session expires.
                client.close();
            }
        };
        Runtime.getRuntime().addShutdownHook(new Thread(stop, "latchkey-shutdown"));
        EndingSignals.handle(number -> System.exit(ExitStatus.BY_SIGNAL + number));
    }

    private int acquireAndRun(Acquirable wanted, CommandProcess process) throws IOException, InterruptedException {
        Duration patience = timeout;
        Lease granted;
        try {
            granted = patience == null ? wanted.acquire() : wanted.acquire(patience);
        } catch (LockTimeoutException late) {
            return notAcquired(wanted, late);
        }
        try (Lease lease = granted) {
            return run(lease, process);
        }
    }

    private int notAcquired(Acquirable wanted, LockTimeoutException late) throws InterruptedException {
        String time = Span.text(Objects.requireNonNull(timeout));
        switch (late.reason()) {
            case HELD_BY_OTHERS -> {
                if (!quiet) {
                    Terminal.complain(
                            path + " was not free within " + time + holders(wanted) + ". The command was not run.");
                }
                return ExitStatus.NOT_ACQUIRED.code();
            }
            case THROTTLED -> {
                Terminal.complain("The servers had too many requests, and put that for " + path + " off for " + time
                        + ". The command was not run.");
                return ExitStatus.UNAVAILABLE.code();
            }
            default -> {
                checkServersAnswer(wanted);
                if (!quiet) {
                    Terminal.complain(path + " was not acquired within " + time
                            + ", which was too short for an answer of a server. The command was not run.");
                }
                return ExitStatus.NOT_ACQUIRED.code();
            }
        }
    }

    /** Returns the first holder, for the message alone; empty if it has gone by now, or cannot be asked for. */
    private static String holders(Acquirable wanted) throws InterruptedException {
        try {
            List<Contender> holding = wanted.queue().stream()
                    .filter(request -> request.state() == Contender.State.HOLDING)
                    .toList();
            return holding.isEmpty()
                    ? ""
                    : ": " + Owners.holder(holding.get(0), Instant.now())
                            + (holding.size() == 1 ? "" : ", and by " + (holding.size() - 1) + " more");
        } catch (LockException unknown) {
            return "";
        }
    }

    /** Throws if no server answers. The time may have been too short for an answer: this process has just begun. */
    private void checkServersAnswer(Acquirable wanted) throws InterruptedException {
        try {
            var unused = wanted.queue();
        } catch (LockServiceUnavailableException away) {
            throw new LockServiceUnavailableException(
                    "No server answers, so it is not known whether " + path + " is free. The command was not run.");
        }
    }

    int run(Lease lease, CommandProcess process) throws InterruptedException {
        Duration period = oncePer;
        return period == null
                ? released(lease, execute(lease, process, Map.of()))
                : runOnce(lease, process, OncePerPeriod.calendar(period));
    }

    /** The command has not ended with 0, so the period is not recorded after it. */
    private static final class NotDoneException extends Exception {
        private static final long serialVersionUID = 1L;
        private final int status;

        NotDoneException(int status) {
            super("status " + status);
            this.status = status;
        }
    }

    private int runOnce(Lease lease, CommandProcess process, OncePerPeriod periods) throws InterruptedException {
        OncePerPeriod.Work<NotDoneException> work = turn -> {
            int status = execute(
                    lease, process, Map.of("LATCHKEY_PERIOD", turn.period().toString()));
            if (neverBegan && atMostOnce) {
                takeBack(turn);
            }
            // A command that a signal ended was not done, whatever its status.
            if (status != 0 || stopping.get()) {
                throw new NotDoneException(status);
            }
        };
        try {
            boolean ran = atMostOnce ? periods.atMostOnce(lease, work) : periods.atLeastOnce(lease, work);
            if (!ran && !quiet) {
                Terminal.complain("already done for the period that began at " + last(periods, lease)
                        + ". The command was not run.");
            }
            return ran ? released(lease, 0) : 0;
        } catch (NotDoneException ended) {
            return released(lease, ended.status);
        } catch (LeaseLostException lost) {
            if (isByASignal(lease)) {
                return ExitStatus.LOST.code(); // the exit status is the signal's
            }
            Terminal.complain("the lock " + path + " was lost before the period was recorded ("
                    + described(lost.lossCause()) + "; token " + lease.token() + "): "
                    + (atMostOnce ? "the command was not run." : "the command may run again."));
            return ExitStatus.LOST.code();
        }
    }

    private void takeBack(OncePerPeriod.Turn turn) throws InterruptedException {
        try {
            turn.takeBack();
        } catch (KeeperException | LockException | IllegalStateException cannot) {
            if (!stopping.get()) {
                Terminal.complain(
                        "the period that began at " + turn.period() + " stays recorded, though the command was"
                                + " not started. Delete the node " + path + ".period to have it run.");
            }
        }
    }

    /** Returns the recorded period for the message alone: a failure must not change the exit status. */
    private static String last(OncePerPeriod periods, Lease lease) throws InterruptedException {
        try {
            return periods.last(lease).map(Object::toString).orElse("?");
        } catch (LockException unknown) {
            return "?";
        }
    }

    /** Runs the command, and returns its status, or that of the reason why it did not run to its end. */
    private int execute(Lease lease, CommandProcess process, Map<String, String> more) {
        Map<String, String> environment = new HashMap<>(more);
        environment.put("LATCHKEY_PATH", path);
        environment.put("LATCHKEY_TOKEN", Long.toString(lease.token()));
        CompletableFuture<LossCause> lost = lease.lost().toCompletableFuture();
        // After a long pause of this process, the lease checks its deadline; lost() has not completed yet.
        if (!lease.isValid()) {
            if (!stopping.get()) {
                Terminal.complain("the lock " + path + " was lost before the command was started (token "
                        + lease.token() + "): others may hold it. The command was not run.");
            }
            return ExitStatus.LOST.code();
        }
        Optional<Process> started;
        try {
            started = process.start(command, environment);
        } catch (IOException cannot) {
            neverBegan = true;
            Terminal.complain(cannot.getMessage() + ". The lock is released.");
            return CommandProcess.isThere(command.get(0))
                    ? ExitStatus.NOT_EXECUTABLE.code()
                    : ExitStatus.NOT_STARTED.code();
        }
        if (started.isEmpty()) {
            neverBegan = true;
            // The shutdown hook was first: the exit status is the signal's.
            return ExitStatus.UNEXPECTED.code();
        }
        return await(started.get(), lost, lease, process);
    }

    private int await(Process started, CompletableFuture<LossCause> lost, Lease lease, CommandProcess process) {
        CompletableFuture.anyOf(started.onExit(), lost).join();
        boolean lostWhileItRan = lost.isDone() && !isByASignal(lease);
        // A no-op if the command has ended. The lock is held until all its processes have ended.
        process.end();
        if (lostWhileItRan) {
            Terminal.complain("the lock " + path + " was lost while the command ran (" + described(lost.join())
                    + "; token " + lease.token() + "): others may hold it. The command was ended.");
            return ExitStatus.LOST.code();
        }
        ended = true;
        return started.exitValue();
    }

    /** Releases the lease of a command that ran to its end, and returns the exit status. */
    private int released(Lease lease, int status) {
        if (ended && lease.release() == ReleaseOutcome.LOST && !isByASignal(lease)) {
            Terminal.complain("the command ended with " + status + ", but the lock " + path
                    + " was lost by then (token " + lease.token() + "): others may have held it.");
            return ExitStatus.LOST.code();
        }
        return status;
    }

    /**
     * Whether the lease ended because a signal ends this process. Called after the loss is known: the hook sets
     * {@code stopping} first and closes the client last, so once the lease is lost by the close, {@code stopping} is
     * set. At Ctrl-C the command often ends by its own signal before the hook has begun.
     */
    private boolean isByASignal(Lease lease) {
        return stopping.get() && lease.lossCause().equals(Optional.of(LossCause.CLIENT_CLOSED));
    }

    private static String described(LossCause cause) {
        String means =
                switch (cause) {
                    case SESSION_EXPIRED -> "the servers have ended the session";
                    case DEADLINE_PASSED -> "no server answered in time";
                    case NODE_DELETED -> "its node was deleted, as 'latchkey evict' does";
                    case HELD_TOO_LONG -> "it was held for as long as is allowed";
                    case CLIENT_CLOSED -> "the servers refused the login at a reconnect";
                    case CLIENT_FAILED -> "an unexpected error ended the lock client";
                };
        return cause + ": " + means;
    }
}
