// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.history.HistoryEvent;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * The result of concurrent work of clients: under locks, while their sessions were ended, or without locks.
 *
 * @param books the clients' record
 * @param took for how long they worked
 * @param events the history of the locks; empty without
 */
record Shift(Stage stage, Books books, Duration took, List<HistoryEvent> events) {
    private static final Duration SESSION = Duration.ofSeconds(2);

    /**
     * Returns when all work is done, or at closing time.
     *
     * @param open the time until closing time
     * @param roles the work of the clients, one client for each
     * @param progress how far they are
     */
    static Shift work(Stage stage, Duration open, List<Role> roles, Function<Books, String> progress)
            throws InterruptedException {
        return stage.isLocked() ? underLocks(stage, open, roles, progress) : withoutLocks(stage, open, roles, progress);
    }

    private static Shift underLocks(Stage stage, Duration open, List<Role> roles, Function<Books, String> progress)
            throws InterruptedException {
        try (Crew crew =
                Crew.connect(roles.size(), stage.servers(), stage.site().root(), SESSION)) {
            List<FaultyClient> members = crew.clients();
            Books books = new Books(open);
            SessionKiller killer = SessionKiller.start(members, books);
            try {
                Parallel.run(
                        cast(
                                roles,
                                i -> new CarefulClient(
                                        members.get(i).name(), members.get(i).client(), books)),
                        stage.screen(),
                        () -> clock(books) + progress.apply(books) + locking(Figures.of(books.events(members))));
            } finally {
                killer.stop();
            }
            return new Shift(stage, books, books.sinceOpening(), books.events(members));
        }
    }

    private static Shift withoutLocks(Stage stage, Duration open, List<Role> roles, Function<Books, String> progress)
            throws InterruptedException {
        Books books = new Books(open);
        Parallel.run(
                cast(roles, i -> new CarelessClient("client-" + (i + 1), stage.site(), books)),
                stage.screen(),
                () -> clock(books) + progress.apply(books));
        return new Shift(stage, books, books.sinceOpening(), List.of());
    }

    private static List<Callable<Void>> cast(List<Role> roles, IntFunction<Client> clients) {
        return IntStream.range(0, roles.size())
                .mapToObj(i -> roles.get(i).playedBy(clients.apply(i)))
                .toList();
    }

    private static String clock(Books books) {
        return String.format(Locale.ROOT, "%5.1f s  ", books.sinceOpening().toMillis() / 1e3);
    }

    private static String locking(Figures figures) {
        return String.format(
                Locale.ROOT,
                ", hand-overs %,d, sessions killed %,d, leases lost %,d",
                figures.handOvers(),
                figures.sessionsKilled(),
                figures.leasesLost());
    }

    /**
     * Reports on the work.
     *
     * @param entries the entries that are in ZooKeeper
     */
    void figures(Report report, Set<String> entries) {
        report.figure("throughput", Report.rate(entries.size(), took));
        if (stage.isLocked()) {
            Figures figures = Figures.of(events);
            report.figure(
                    "wait for the lock",
                    "p50 " + Report.text(figures.wait(50)) + ", p99 " + Report.text(figures.wait(99)));
            report.figure("hand-overs", figures.handOvers());
            report.figure("sessions killed", figures.sessionsKilled());
            report.figure("leases lost", figures.leasesLost());
            report.figure("stale writes refused", books.refusals());
            report.figure("answers lost", books.lostAnswers(entries));
        }
    }

    /** Checks that the nodes in ZooKeeper agree with the clients' record. */
    void claim(Report report, String entry, Set<String> entries) {
        report.claim(
                "every " + entry + " that a client saw confirmed is there, none that it saw refused",
                books.agreeWith(entries));
    }
}
