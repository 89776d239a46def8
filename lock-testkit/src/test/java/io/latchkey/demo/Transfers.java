// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.demo.Bank.Transfer;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.zookeeper.KeeperException;

/**
 * Multi-locks. Tellers transfer money between accounts that they take in any order. No money must be lost or created,
 * and no client must wait forever.
 */
final class Transfers implements Scenario {
    private static final int DEPOSIT = 1000;

    private final int tellers;
    private final int accounts;
    private final Duration open;

    /** So many tellers and accounts, for so long. */
    Transfers(int tellers, int accounts, Duration open) {
        this.tellers = tellers;
        this.accounts = accounts;
        this.open = open;
    }

    /** What is in ZooKeeper at the end. */
    private record Audit(Bank bank, Map<String, Integer> balances, List<Transfer> transfers) {
        static Audit of(Bank bank) throws KeeperException, InterruptedException {
            return new Audit(bank, bank.balances(bank.accounts()), bank.transfers());
        }

        int money() {
            return balances.values().stream().mapToInt(Integer::intValue).sum();
        }

        /** The total difference between the balances and the sums of the transfers. */
        int difference() {
            return bank.reckon(transfers).entrySet().stream()
                    .mapToInt(account -> Math.abs(account.getValue() - balances.getOrDefault(account.getKey(), 0)))
                    .sum();
        }

        int lowest() {
            return Collections.min(balances.values());
        }

        Set<String> entries() {
            return transfers.stream().map(Transfer::name).collect(Collectors.toSet());
        }
    }

    @Override
    public String name() {
        return "transfers";
    }

    @Override
    public String summary() {
        return tellers + " clients transfer money between " + accounts + " accounts, two or three at a time";
    }

    @Override
    public boolean play(Stage stage) throws KeeperException, InterruptedException {
        stage.announce("Each transfer: take the accounts' mutexes in any order, read, think, write.");
        Bank bank = Bank.open(stage.site(), accounts, DEPOSIT);
        Shift shift = Shift.work(stage, open, Collections.nCopies(tellers, new Teller(bank)), Transfers::progress);
        Audit audit = stage.audit(locks -> Bank.lock(locks, bank.accounts()), () -> Audit.of(bank));

        Report report = new Report(stage);
        report.figure("transfers", audit.transfers().size());
        shift.figures(report, audit.entries());
        int deposits = accounts * DEPOSIT;
        report.claim(
                "money " + Report.count(audit.money()) + " = " + Report.count(deposits) + " at the start",
                audit.money() == deposits);
        report.claim("no account below zero, the poorest has " + Report.count(audit.lowest()), audit.lowest() >= 0);
        report.claim("each balance is the sum of its transfers", audit.difference() == 0);
        long late = shift.books().lateConfirmations();
        report.claim("no deadlock: " + Report.count(late) + " transfers in the second half of the time", late > 0);
        shift.claim(report, "transfer", audit.entries());
        return report.verdict("ACCOUNTS WRONG by " + Report.count(audit.difference()) + " in all");
    }

    private static String progress(Books books) {
        return Report.count(books.confirmations()) + " transfers";
    }
}
