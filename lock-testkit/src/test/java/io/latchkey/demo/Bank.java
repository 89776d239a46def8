// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.MultiLock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;

/**
 * Accounts, each with its balance in a node, and a node for every transfer that tells what it added to each account. A
 * transfer writes all of that in one transaction, so that afterwards the balances can be reckoned again from the
 * transfers.
 */
record Bank(Site site, List<String> accounts, int deposit) {
    private static final String ACCOUNTS = "accounts";
    private static final String TRANSFERS = "transfers";

    /** The amount that a transfer added to each account: negative for the payer. */
    record Transfer(String name, Map<String, Integer> changes) {
        private static final String BETWEEN = "\n";

        static Transfer of(Site.Entry entry) {
            return new Transfer(
                    entry.name(),
                    Stream.of(entry.text().split(BETWEEN))
                            .map(line -> line.split(" ", 2))
                            .collect(Collectors.toMap(words -> words[0], words -> Integer.parseInt(words[1]))));
        }

        String text() {
            return changes.entrySet().stream()
                    .map(change -> change.getKey() + ' ' + change.getValue())
                    .collect(Collectors.joining(BETWEEN));
        }
    }

    /** The mutexes of these accounts, acquired together: clients with another order of accounts do not deadlock. */
    static MultiLock lock(LockClient locks, Collection<String> accounts) {
        return locks.multiLock(accounts.stream()
                .map(account -> locks.mutex("/account-locks/" + account))
                .toArray(Acquirable[]::new));
    }

    /** Opens that many accounts with the same deposit each. */
    static Bank open(Site site, int size, int deposit) throws KeeperException, InterruptedException {
        List<String> accounts = IntStream.rangeClosed(1, size)
                .mapToObj(number -> "account-" + number)
                .toList();
        List<Op> ops = new ArrayList<>(List.of(site.folder(ACCOUNTS), site.folder(TRANSFERS)));
        accounts.forEach(account -> ops.add(site.creation(path(account), Integer.toString(deposit))));
        site.write(ops);
        return new Bank(site, accounts, deposit);
    }

    private static String path(String account) {
        return ACCOUNTS + '/' + account;
    }

    /** The balances of these accounts now. */
    Map<String, Integer> balances(Collection<String> some) throws KeeperException, InterruptedException {
        Map<String, Integer> balances = new TreeMap<>();
        for (String account : some) {
            balances.put(account, Integer.parseInt(site.read(path(account))));
        }
        return balances;
    }

    /** What a transfer writes, given the balances before it. */
    Op[] carrying(Transfer transfer, Map<String, Integer> before) {
        Stream<Op> balances = transfer.changes().entrySet().stream()
                .map(change -> site.change(
                        path(change.getKey()),
                        Integer.toString(before.getOrDefault(change.getKey(), 0) + change.getValue())));
        Op record = site.creation(TRANSFERS + '/' + transfer.name(), transfer.text());
        return Stream.concat(balances, Stream.of(record)).toArray(Op[]::new);
    }

    /** The transfers that were carried out. */
    List<Transfer> transfers() throws KeeperException, InterruptedException {
        return site.entries(TRANSFERS).stream().map(Transfer::of).toList();
    }

    /** What the balances must be after these transfers. */
    Map<String, Integer> reckon(List<Transfer> transfers) {
        Map<String, Integer> balances = new TreeMap<>();
        accounts.forEach(account -> balances.put(account, deposit));
        transfers.forEach(transfer ->
                transfer.changes().forEach((account, change) -> balances.merge(account, change, Integer::sum)));
        return balances;
    }
}
