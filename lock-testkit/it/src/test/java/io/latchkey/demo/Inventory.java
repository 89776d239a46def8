// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.demo.Shift.Turn;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.Mutex;
import io.latchkey.testkit.check.ExclusionChecker;
import io.latchkey.testkit.check.Verdict;
import java.time.Duration;
import java.util.Collections;
import java.util.Set;
import org.apache.zookeeper.KeeperException;

/**
 * A mutex. Clerks sell from one stock, a number in a node, and write a node for each order in the same transaction: at
 * the end, stock left plus stock sold must equal the initial stock.
 */
record Inventory(int clerks, int stock) implements DemoScenario {
    private static final Duration OPEN = Duration.ofSeconds(15);
    private static final String STOCK = "stock";
    private static final String ORDERS = "orders";

    private record Audit(int left, Set<String> orders) {}

    private static Mutex lock(LockClient locks) {
        return locks.mutex("/stock-lock");
    }

    /** Reads the stock, thinks, writes the rest: of two clerks at the same time, one overwrites the other's sale. */
    private static Turn sale(ScenarioNodes nodes, String order) {
        return new Turn(Inventory::lock, hold -> {
            int left = nodes.number(STOCK);
            if (left == 0) {
                return false;
            }
            Shift.think();
            hold.enter(
                    order, nodes.change(STOCK, Integer.toString(left - 1)), nodes.creation(ORDERS + '/' + order, ""));
            return true;
        });
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
    public boolean play(ScenarioRun run) throws KeeperException, InterruptedException {
        run.announce("Each sale: take the mutex, read the stock, think, write what is left.");
        ScenarioNodes nodes = run.nodes();
        nodes.write(nodes.creation(STOCK, Integer.toString(stock)), nodes.creation(ORDERS, ""));
        Shift shift = Shift.work(
                run,
                OPEN,
                Collections.nCopies(clerks, order -> sale(nodes, order)),
                sold -> "sold " + ScenarioRun.count(sold) + " of " + ScenarioRun.count(stock));
        Audit audit = run.audit(Inventory::lock, () -> new Audit(nodes.number(STOCK), nodes.names(ORDERS)));
        int sold = audit.orders().size();
        run.claim(
                "stock " + ScenarioRun.count(audit.left()) + " + sold " + ScenarioRun.count(sold) + " = "
                        + ScenarioRun.count(stock) + " at the start",
                audit.left() + sold == stock);
        shift.claim("order", audit.orders());
        if (run.isLocked()) {
            Verdict exclusion = ExclusionChecker.mutex().whileSessionsLive(shift.events());
            run.claim(text(exclusion), !(exclusion instanceof Verdict.Broken));
        }
        return run.verdict("OVERSOLD by " + ScenarioRun.count(audit.left() + sold - stock) + " pieces");
    }

    private static String text(Verdict exclusion) {
        return exclusion instanceof Verdict.Obeyed obeyed
                ? "no two clients with living sessions held at once, in " + ScenarioRun.count(obeyed.grants())
                        + " grants"
                : exclusion.toString();
    }
}
