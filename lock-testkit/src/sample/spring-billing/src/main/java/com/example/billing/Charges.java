// SPDX-License-Identifier: Apache-2.0
package com.example.billing;

import io.latchkey.lock.LockException;
import io.latchkey.spring.LockBusyException;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Charges by HTTP. */
@RestController
class Charges {
    private final Accounts accounts;

    Charges(Accounts accounts) {
        this.accounts = accounts;
    }

    @PostMapping("/accounts/{account}/charges")
    long charge(@PathVariable("account") String account, @RequestParam("cents") long cents) {
        return accounts.charge(account, cents);
    }

    @ExceptionHandler(LockBusyException.class)
    @ResponseStatus(HttpStatus.CONFLICT)
    String busy(LockBusyException busy) {
        return busy.getMessage();
    }

    @ExceptionHandler(LockException.class)
    @ResponseStatus(HttpStatus.SERVICE_UNAVAILABLE)
    String withoutLocks(LockException why) {
        return why.getMessage();
    }
}
