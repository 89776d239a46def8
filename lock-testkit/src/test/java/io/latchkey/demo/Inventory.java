// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.testkit.check.ExclusionChecker;
import io.latchkey.testkit.check.Verdict;
import java.time.Duration;
import java.util.Collections;
import java.util.Set;
import org.apache.zookeeper.KeeperException;

/** A mutex. Clerks sell from one stock; at the end, stock left plus stock sold must equal the initial stock. */
final class Inventory implements Scenario {
    private static final Duration OPEN = Duration.ofSeconds(15);

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
        return clerks + " clients sell " + stock + " pieces from one stock";
    }

    @Override
    public boolean play(Stage stage) throws KeeperException, InterruptedException {
        stage.announce("Each sale: take the mutex, read the stock, think, write what is left.");
        Warehouse warehouse = Warehouse.build(stage.site(), stock);
        Shift shift = Shift.work(stage, OPEN, Collections.nCopies(clerks, new Clerk(warehouse)), this::progress);
        Audit audit = stage.audit(Clerk::lock, () -> Audit.of(warehouse));

        Report report = new Report(stage);
        int sold = audit.orders().size();
        report.figure("orders sold", sold);
        shift.figures(report, audit.orders());
        report.claim(
                "stock " + Report.count(audit.left()) + " + sold " + Report.count(sold) + " = " + Report.count(stock)
                        + " at the start",
                audit.left() + sold == stock);
        shift.claim(report, "order", audit.orders());
        if (stage.isLocked()) {
            Verdict exclusion = ExclusionChecker.mutex().whileSessionsLive(shift.events());
            report.claim(text(exclusion), !(exclusion instanceof Verdict.Broken));
        }
        return report.verdict("OVERSOLD by " + Report.count(audit.left() + sold - stock) + " pieces");
    }

    private String progress(Books books) {
        return "sold " + Report.count(books.confirmations()) + " of " + Report.count(stock);
    }

    private static String text(Verdict exclusion) {
        return exclusion instanceof Verdict.Obeyed obeyed
                ? "no two clients with living sessions held at once, in " + Report.count(obeyed.grants()) + " grants"
                : exclusion.toString();
    }
}
