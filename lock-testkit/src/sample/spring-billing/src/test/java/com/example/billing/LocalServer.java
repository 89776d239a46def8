// SPDX-License-Identifier: Apache-2.0
package com.example.billing;

import io.latchkey.testkit.server.EmbeddedZooKeeper;
import java.util.concurrent.CountDownLatch;

/** A server to try the service with: {@code mvn spring-boot:test-run}. Ctrl-C ends it. */
public final class LocalServer {
    private LocalServer() {}

    public static void main(String[] args) throws InterruptedException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            System.out.println("--latchkey.connect-string=" + server.connectString());
            new CountDownLatch(1).await();
        }
    }
}
