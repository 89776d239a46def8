package io.latchkey.demo;

import io.latchkey.demo.Options.Mode;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.testkit.HistoryEvent;
import io.latchkey.testkit.MutualExclusionChecker;
import io.latchkey.testkit.Verdict;
import io.latchkey.zk.ZkLockClient;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import org.apache.zookeeper.KeeperException;

/** Clerks sell from one stock. At the end, what is left and what was sold must come to what there was. */
final class Inventory implements Scenario {
    private static final Duration OPEN = Duration.ofSeconds(20);
    private static final Duration SESSION = Duration.ofSeconds(2);

    private final int clerks;
    private final int stock;

    /** So many clerks, so many pieces. */
    Inventory(int clerks, int stock) {
        this.clerks = clerks;
        this.stock = stock;
    }

    /** What is in ZooKeeper at the end. */
    private record Audit(int left, Set<String> orders) {
        static Audit of(Warehouse warehouse) throws KeeperException, InterruptedException {
            return new Audit(warehouse.stock(), warehouse.orders());
        }
    }

    @Override
    public String name() {
        return "inventory";
    }

    @Override
    public String summary() {
        return clerks + " clients sell " + stock + " pieces from one stock, while their sessions are ended";
    }

    @Override
    public boolean play(Stage stage) throws IOException, KeeperException, InterruptedException {
        String root = "%s/latchkey-demo-%016x"
                .formatted(stage.servers().chroot(), ThreadLocalRandom.current().nextLong());
        stage.screen().line("Inventory: " + clerks + " clients sell " + stock + " pieces, on " + stage.servers() + ".");
        Warehouse warehouse = Warehouse.build(stage.servers(), root, stock);
        try {
            return stage.mode() == Mode.LOCKED
                    ? sellUnderLock(stage, root, warehouse)
                    : sellWithoutLock(stage.screen(), warehouse);
        } finally {
            warehouse.tearDown();
        }
    }

    private boolean sellUnderLock(Stage stage, String root, Warehouse warehouse)
            throws KeeperException, InterruptedException {
        stage.screen()
                .line("Each sale: take the mutex, read the stock, think, write what is left. Sessions are killed.");
        Books books;
        Duration took;
        List<HistoryEvent> events;
        try (Crew crew = Crew.connect(clerks, stage.servers(), root, SESSION)) {
            books = new Books(OPEN);
            SessionKiller killer = SessionKiller.start(crew.clients(), books);
            try {
                List<Clerk> staff = crew.clients().stream()
                        .map(client -> Clerk.careful(client, warehouse, books))
                        .toList();
                Shop.open(staff, stage.screen(), () -> progress(books) + locking(books, crew));
            } finally {
                killer.stop();
            }
            took = books.sinceOpening();
            events = books.events(crew.clients());
        }
        Audit audit = auditUnderLock(stage, root, warehouse);

        Figures figures = Figures.of(events);
        Verdict exclusion = MutualExclusionChecker.whileSessionsLive(events);
        Report report = new Report(stage.screen());
        report.figure("orders sold", audit.orders().size());
        report.figure("throughput", Report.rate(audit.orders().size(), took));
        report.figure(
                "wait for the lock", "p50 " + Report.text(figures.wait(50)) + ", p99 " + Report.text(figures.wait(99)));
        report.figure("hand-overs", figures.handOvers());
        report.figure("sessions killed", figures.sessionsKilled());
        report.figure("leases lost", figures.leasesLost());
        report.figure("stale writes refused", books.refusedOrders());
        report.figure("answers lost", lostAnswers(books.unclearOrders(), audit));
        report.claim(balance(audit), balances(audit));
        report.claim(
                "every order that a client saw confirmed is there, none that it saw refused",
                books.agreeWith(audit.orders()));
        report.claim(text(exclusion), !(exclusion instanceof Verdict.Broken));
        return report.verdict("the lock did what it promises", "THE LOCK FAILED");
    }

    /** Takes the lock as well: once it has it, nobody who held it before can write any more, and what is there stays. */
    private static Audit auditUnderLock(Stage stage, String root, Warehouse warehouse)
            throws KeeperException, InterruptedException {
        try (LockClient auditor = ZkLockClient.builder()
                        .connectString(stage.servers().fixture().connectString())
                        .basePath(root)
                        .build();
                Lease lease = auditor.mutex(Clerk.LOCK).acquire()) {
            Audit audit = Audit.of(warehouse);
            lease.ensureValid();
            return audit;
        }
    }

    private boolean sellWithoutLock(Screen screen, Warehouse warehouse) throws KeeperException, InterruptedException {
        screen.line("Each sale: read the stock, think, write what is left. WITHOUT THE LOCK.");
        Books books = new Books(OPEN);
        List<Clerk> staff = IntStream.rangeClosed(1, clerks)
                .mapToObj(number -> Clerk.careless("client-" + number, warehouse, books))
                .toList();
        Shop.open(staff, screen, () -> progress(books));
        Duration took = books.sinceOpening();
        Audit audit = Audit.of(warehouse);

        Report report = new Report(screen);
        report.figure("orders sold", audit.orders().size());
        report.figure("throughput", Report.rate(audit.orders().size(), took));
        report.claim(balance(audit), balances(audit));
        int tooMany = audit.left() + audit.orders().size() - stock;
        return report.verdict("by luck", "OVERSOLD by " + Report.count(tooMany) + " pieces");
    }

    private String progress(Books books) {
        double seconds = books.sinceOpening().toMillis() / 1e3;
        return String.format(Locale.ROOT, "%5.1f s  sold %,d of %,d", seconds, books.soldOrders(), stock);
    }

    private static String locking(Books books, Crew crew) {
        Figures figures = Figures.of(books.events(crew.clients()));
        return String.format(
                Locale.ROOT,
                ", hand-overs %,d, sessions killed %,d, leases lost %,d",
                figures.handOvers(),
                figures.sessionsKilled(),
                figures.leasesLost());
    }

    private static String text(Verdict exclusion) {
        return exclusion instanceof Verdict.Obeyed obeyed
                ? "no two clients with living sessions held at once, in " + Report.count(obeyed.grants()) + " grants"
                : exclusion.toString();
    }

    private static String lostAnswers(Set<String> unclear, Audit audit) {
        long written = unclear.stream().filter(audit.orders()::contains).count();
        return unclear.size() + ", of which " + written + " had been written";
    }

    private String balance(Audit audit) {
        return "stock " + Report.count(audit.left()) + " + sold "
                + Report.count(audit.orders().size()) + " = " + Report.count(stock) + " at the start";
    }

    private boolean balances(Audit audit) {
        return audit.left() + audit.orders().size() == stock;
    }
}
