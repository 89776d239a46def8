// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.readme;

import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.spring.CurrentLease;
import io.latchkey.spring.LockBusyException;
import io.latchkey.spring.Locked;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication
public class FirstApplication {
    public static void main(String[] args) {
        SpringApplication.run(FirstApplication.class, args);
    }

    @Service
    static class Reports {
        private final CurrentLease lease;

        Reports(CurrentLease lease) {
            this.lease = lease;
        }

        @Locked(path = "/reports", key = "#customer", timeout = "5s")
        public String write(String customer) throws InterruptedException {
            Thread.sleep(3000); // long work
            return "report of " + customer + ", token " + lease.token() + "\n";
        }
    }

    @RestController
    static class Web {
        private final Reports reports;

        Web(Reports reports) {
            this.reports = reports;
        }

        @GetMapping("/reports/{customer}")
        String report(@PathVariable("customer") String customer) throws InterruptedException {
            return reports.write(customer);
        }

        @ExceptionHandler(LockBusyException.class)
        @ResponseStatus(HttpStatus.CONFLICT)
        String busy(LockBusyException busy) {
            return busy.getMessage() + "\n";
        }

        @ExceptionHandler(LockServiceUnavailableException.class)
        @ResponseStatus(HttpStatus.SERVICE_UNAVAILABLE)
        String withoutServers(LockServiceUnavailableException why) {
            return why.getMessage() + "\n";
        }
    }
}
