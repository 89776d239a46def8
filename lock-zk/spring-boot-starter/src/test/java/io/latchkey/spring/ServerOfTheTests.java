// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring;

import io.latchkey.lock.LockClient;
import io.latchkey.spring.boot.LatchkeyAutoConfiguration;
import io.latchkey.spring.boot.LatchkeyMetricsAutoConfiguration;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.zk.ZkLockClient;
import java.time.Duration;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** A server for the tests of a class, and applications that use it. */
public final class ServerOfTheTests implements AfterAllCallback {
    private final EmbeddedZooKeeper server = EmbeddedZooKeeper.start();

    public EmbeddedZooKeeper server() {
        return server;
    }

    public String connectString() {
        return server.connectString();
    }

    /** Returns a runner of applications with the client's auto-configuration, without its servers. */
    public static ApplicationContextRunner withoutServers() {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        SslAutoConfiguration.class,
                        LatchkeyMetricsAutoConfiguration.class,
                        LatchkeyAutoConfiguration.class));
    }

    /** Returns a runner of applications with the client's auto-configuration and others. */
    public ApplicationContextRunner application(Class<?>... others) {
        return withoutServers()
                .withConfiguration(AutoConfigurations.of(others))
                .withPropertyValues("latchkey.connect-string=" + connectString(), "latchkey.session-timeout=4s");
    }

    /** Returns a client of the same server that is in no application. */
    public LockClient client() throws InterruptedException {
        return ZkLockClient.builder()
                .connectString(connectString())
                .sessionTimeout(Duration.ofSeconds(4))
                .build();
    }

    @Override
    public void afterAll(ExtensionContext context) {
        server.close();
    }
}
