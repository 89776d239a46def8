// SPDX-License-Identifier: Apache-2.0
package com.example.billing;

import io.latchkey.spring.CurrentLease;
import io.latchkey.spring.Locked;
import java.util.List;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Accounts in a database. A row remembers the highest token of its lock, and refuses lower ones. */
@Service
public class Accounts {
    private final JdbcClient db;
    private final CurrentLease lease;

    Accounts(JdbcClient db, CurrentLease lease) {
        this.db = db;
        this.lease = lease;
    }

    /** Takes an amount and returns what is left. */
    @Locked(path = "/accounts", key = "#account")
    @Transactional
    public long charge(String account, long cents) {
        long token = lease.token();
        int current = db.sql("UPDATE account SET token = :token WHERE id = :account AND token <= :token")
                .param("account", account)
                .param("token", token)
                .update();
        if (current == 0) {
            throw new IllegalStateException("no account " + account + ", or a later holder was here");
        }
        long left = balance(account) - cents;
        db.sql("UPDATE account SET balance = :left WHERE id = :account")
                .param("account", account)
                .param("left", left)
                .update();
        return left;
    }

    public long balance(String account) {
        return db.sql("SELECT balance FROM account WHERE id = :account")
                .param("account", account)
                .query(Long.class)
                .single();
    }

    public List<String> all() {
        return db.sql("SELECT id FROM account ORDER BY id").query(String.class).list();
    }
}
