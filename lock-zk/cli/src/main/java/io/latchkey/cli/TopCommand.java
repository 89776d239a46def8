// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.lock.admin.LockListing;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code top}, which shows the locks that are in use again and again. */
@Command(
        name = "top",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        description = {
            "Shows the locks in use at ROOT and below it, again and again: holders and waiters, and the age of the oldest of"
                    + " each. Changed locks have a *, new ones a +.",
            "In a terminal it fills the screen. Keys: w sorts by waiters, a by the age of the oldest holder, p by path,"
                    + " q quits. Without a terminal it prints a line for each lock at each look.",
            "A look lists all of ROOT, as 'latchkey ls' does. On a large tree give a ROOT or a longer interval."
        })
final class TopCommand implements Callable<Integer> {
    private static final Duration SHORTEST = Duration.ofMillis(100);
    private static final long KEY_MILLIS = 50;

    @Mixin
    private ConnectionOptions connection = new ConnectionOptions();

    @Parameters(
            paramLabel = "ROOT",
            arity = "0..1",
            defaultValue = "/",
            description = "Where to begin. If not given: everything.")
    private String root = "/";

    @Option(
            names = "--interval",
            paramLabel = "TIME",
            defaultValue = "2s",
            converter = Span.class,
            description = "The time between two looks. If not given: ${DEFAULT-VALUE}.")
    private Duration interval = Duration.ZERO;

    @Option(names = "--count", paramLabel = "N", description = "How many looks. If not given: until it is ended.")
    private @Nullable Integer count;

    @Option(
            names = "--sort",
            paramLabel = "BY",
            defaultValue = "waiters",
            description = "The order: ${COMPLETION-CANDIDATES}. If not given: ${DEFAULT-VALUE}.")
    private TopView.Order order = TopView.Order.WAITERS;

    @Option(names = "--plain", description = "Print lines also in a terminal.")
    private boolean plain;

    @Option(names = "--json", description = "Print a JSON object in a line for each look.")
    private boolean json;

    @Override
    public Integer call() throws InterruptedException {
        ConnectionOptions.checkRoot(root);
        if (interval.compareTo(SHORTEST) < 0) {
            throw new IllegalArgumentException("--interval takes " + Span.text(SHORTEST) + " or more.");
        }
        if (count != null && count < 1) {
            throw new IllegalArgumentException("--count takes 1 look or more, not " + count + ".");
        }
        try (LockClient client = connection.lookingClient("latchkey top")) {
            TopView view = new TopView(root, interval);
            if (plain || json || !Screen.isTerminal()) {
                return lines(client, view).code();
            }
            try (Screen screen = Screen.open()) {
                return live(client, view, screen).code();
            }
        }
    }

    private ExitStatus lines(LockClient client, TopView view) throws InterruptedException {
        ExitStatus status = ExitStatus.DONE;
        Set<String> complained = Set.of();
        for (int n = 0; count == null || n < count; n++) {
            if (n > 0) {
                Thread.sleep(interval.toMillis());
            }
            Instant now = Instant.now();
            try {
                LockListing found = client.listLocks(root);
                status = Output.complainOfMissing(found, complained);
                complained = found.unreadable().keySet();
                view.look(found, now);
                List<String> lines =
                        json ? List.of(view.json(now)) : view.lines(order, now.truncatedTo(ChronoUnit.MILLIS));
                lines.forEach(System.out::println);
            } catch (LockException away) {
                status = ExitStatus.of(away);
                Terminal.complain(String.valueOf(away.getMessage()));
            }
            if (System.out.checkError()) {
                return ExitStatus.NOT_WRITTEN;
            }
        }
        return status;
    }

    private ExitStatus live(LockClient client, TopView view, Screen screen) throws InterruptedException {
        TopView.Order by = order;
        ExitStatus status = ExitStatus.DONE;
        for (int n = 0; count == null || n < count; n++) {
            Instant now = Instant.now();
            String trouble = "";
            try {
                LockListing found = client.listLocks(root);
                view.look(found, now);
                status = ExitStatus.ofMissing(found.unreadable().values());
                trouble = found.isComplete()
                        ? ""
                        : found.unreadable().size() + " paths are not shown: 'latchkey ls " + root + "' says why";
            } catch (LockException away) {
                status = ExitStatus.of(away);
                trouble = String.valueOf(away.getMessage());
            }
            screen.show(view.screen(by, now, trouble));
            long begun = System.nanoTime();
            while (System.nanoTime() - begun < TimeUnit.NANOSECONDS.convert(interval)) {
                int key = screen.key(KEY_MILLIS);
                TopView.Order wanted =
                        switch (key) {
                            case 'w' -> TopView.Order.WAITERS;
                            case 'a' -> TopView.Order.AGE;
                            case 'p' -> TopView.Order.PATH;
                            default -> by;
                        };
                if (key == 'q') {
                    return status;
                } else if (wanted != by || screen.takeResumed()) {
                    by = wanted;
                    screen.show(view.screen(by, now, trouble));
                }
            }
        }
        return status;
    }
}
