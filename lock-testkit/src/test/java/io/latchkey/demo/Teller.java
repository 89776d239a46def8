// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.demo.Bank.Transfer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.zookeeper.KeeperException;

/** Transfers money from one account to one or two others: reads what they have, thinks, writes what they have then. */
record Teller(Bank bank) implements Role {
    private static final int AT_LEAST = 2;
    private static final int AT_MOST = 3;
    private static final int LARGEST_SUM = 100;

    @Override
    public boolean once(Client client, String name) throws KeeperException, InterruptedException {
        List<String> accounts = some();
        return client.turn(locks -> Bank.lock(locks, accounts), hold -> {
            Map<String, Integer> before = bank.balances(accounts);
            Pause.think();
            hold.enter(name, bank.carrying(new Transfer(name, share(accounts, before)), before));
            return true;
        });
    }

    /** Two or three accounts in random order. */
    private List<String> some() {
        List<String> accounts = new ArrayList<>(bank.accounts());
        Collections.shuffle(accounts, ThreadLocalRandom.current());
        return accounts.subList(0, ThreadLocalRandom.current().nextInt(AT_LEAST, AT_MOST + 1));
    }

    /** The first account pays to each of the others, as far as it can. */
    private static Map<String, Integer> share(List<String> accounts, Map<String, Integer> before) {
        String payer = accounts.get(0);
        Map<String, Integer> changes = new LinkedHashMap<>();
        int left = before.getOrDefault(payer, 0);
        for (String other : accounts.subList(1, accounts.size())) {
            int sum = Math.min(left, ThreadLocalRandom.current().nextInt(1, LARGEST_SUM + 1));
            changes.put(other, sum);
            changes.merge(payer, -sum, Integer::sum);
            left -= sum;
        }
        return changes;
    }
}
