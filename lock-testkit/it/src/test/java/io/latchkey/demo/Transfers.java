// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.demo.Shift.Turn;
import io.latchkey.lock.Acquirable;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.MultiLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;

/**
 * Multi-locks. Tellers transfer money between accounts that they take in any order. No money must be lost or created,
 * and no client must wait forever. A transaction writes the balances and a node for the transfer, which tells what it
 * added to each account: at the end the balances are computed again from the transfers.
 */
record Transfers(int tellers, int accounts, Duration open) implements DemoScenario {
    private static final int DEPOSIT = 1000;
    private static final int LARGEST_SUM = 100;
    private static final String ACCOUNTS = "accounts/";
    private static final String TRANSFERS = "transfers";

    private record Audit(Map<String, Integer> balances, List<ScenarioNodes.Entry> transfers) {}

    private List<String> names() {
        return IntStream.rangeClosed(1, accounts)
                .mapToObj(number -> "account-" + number)
                .toList();
    }

    /** The mutexes of these accounts, acquired together: clients with another order of accounts do not deadlock. */
    private static MultiLock lock(LockClient locks, Collection<String> accounts) {
        return locks.multiLock(accounts.stream()
                .map(account -> locks.mutex("/account-locks/" + account))
                .toArray(Acquirable[]::new));
    }

    private static Map<String, Integer> balances(ScenarioNodes nodes, Collection<String> accounts)
            throws KeeperException, InterruptedException {
        Map<String, Integer> balances = new TreeMap<>();
        for (String account : accounts) {
            balances.put(account, nodes.number(ACCOUNTS + account));
        }
        return balances;
    }

    /** From one account to one or two others: reads what they have, thinks, writes what they have then. */
    private Turn transfer(ScenarioNodes nodes, String name) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        List<String> some = new ArrayList<>(names());
        Collections.shuffle(some, random);
        List<String> chosen = some.subList(0, random.nextInt(2, 4));
        return new Turn(locks -> lock(locks, chosen), hold -> {
            Map<String, Integer> before = balances(nodes, chosen);
            Shift.think();
            Map<String, Integer> changes = share(chosen, before.getOrDefault(chosen.get(0), 0));
            List<Op> ops = new ArrayList<>();
            changes.forEach((account, change) -> ops.add(
                    nodes.change(ACCOUNTS + account, Integer.toString(before.getOrDefault(account, 0) + change))));
            ops.add(nodes.creation(
                    TRANSFERS + '/' + name,
                    changes.entrySet().stream()
                            .map(change -> change.getKey() + ' ' + change.getValue())
                            .collect(Collectors.joining("\n"))));
            hold.enter(name, ops.toArray(Op[]::new));
            return true;
        });
    }

    /** The first account pays to each of the others, as far as it can. */
    private static Map<String, Integer> share(List<String> accounts, int balance) {
        Map<String, Integer> changes = new LinkedHashMap<>();
        int left = balance;
        for (String other : accounts.subList(1, accounts.size())) {
            int sum = Math.min(left, ThreadLocalRandom.current().nextInt(1, LARGEST_SUM + 1));
            changes.put(other, sum);
            changes.merge(accounts.get(0), -sum, Integer::sum);
            left -= sum;
        }
        return changes;
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
    public boolean play(ScenarioRun run) throws KeeperException, InterruptedException {
        run.announce("Each transfer: take the accounts' mutexes in any order, read, think, write.");
        ScenarioNodes nodes = run.nodes();
        nodes.write(nodes.creation("accounts", ""), nodes.creation(TRANSFERS, ""));
        for (String account : names()) {
            nodes.write(nodes.creation(ACCOUNTS + account, Integer.toString(DEPOSIT)));
        }
        Shift shift = Shift.work(
                run,
                open,
                Collections.nCopies(tellers, name -> transfer(nodes, name)),
                done -> ScenarioRun.count(done) + " transfers");
        Audit audit = run.audit(
                locks -> lock(locks, names()), () -> new Audit(balances(nodes, names()), nodes.entries(TRANSFERS)));
        Set<String> entries =
                audit.transfers().stream().map(ScenarioNodes.Entry::name).collect(Collectors.toSet());
        int money =
                audit.balances().values().stream().mapToInt(Integer::intValue).sum();
        int deposits = accounts * DEPOSIT;
        run.claim(
                "money " + ScenarioRun.count(money) + " = " + ScenarioRun.count(deposits) + " at the start",
                money == deposits);
        int lowest = Collections.min(audit.balances().values());
        run.claim("no account below zero, the poorest has " + ScenarioRun.count(lowest), lowest >= 0);
        int difference = difference(audit);
        run.claim("each balance is the sum of its transfers", difference == 0);
        long late = shift.lateConfirmations();
        run.claim("no deadlock: " + ScenarioRun.count(late) + " transfers in the second half of the time", late > 0);
        shift.claim("transfer", entries);
        return run.verdict("ACCOUNTS WRONG by " + ScenarioRun.count(difference) + " in all");
    }

    /** The total difference between the balances and the sums of the transfers. */
    private static int difference(Audit audit) {
        Map<String, Integer> expected = new TreeMap<>();
        audit.balances().keySet().forEach(account -> expected.put(account, DEPOSIT));
        audit.transfers().stream().flatMap(transfer -> transfer.text().lines()).forEach(line -> {
            String[] words = line.split(" ", 2);
            expected.merge(words[0], Integer.parseInt(words[1]), Integer::sum);
        });
        return audit.balances().entrySet().stream()
                .mapToInt(account -> Math.abs(account.getValue() - expected.getOrDefault(account.getKey(), 0)))
                .sum();
    }
}
