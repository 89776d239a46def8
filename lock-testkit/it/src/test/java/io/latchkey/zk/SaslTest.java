// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.Lease;
import io.latchkey.testkit.server.StandaloneServer;
import io.latchkey.testkit.time.Slowness;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import javax.security.auth.login.Configuration;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.server.auth.DigestLoginModule;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Logins by SASL's DIGEST-MD5 at a server that refuses sessions without one. */
@Timeout(120)
@Tag("slow")
class SaslTest {
    private static final Duration SESSION = Slowness.stretched(Duration.ofSeconds(8));

    private static StandaloneServer server;

    @BeforeAll
    static void start(@TempDir Path folder) throws Exception {
        server = SaslServer.start(folder);
        SaslServer.setLogins(
                DigestLoginModule.class.getName(),
                Map.of(
                        "Billing", Map.of("username", "billing", "password", "one"),
                        "Shipping", Map.of("username", "shipping", "password", "two"),
                        "Wrong", Map.of("username", "billing", "password", "guessed")));
    }

    @AfterAll
    static void stop() {
        Configuration.setConfiguration(null);
        server.close();
    }

    private static ZKClientConfig section(String name) {
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKClientConfig.LOGIN_CONTEXT_NAME_KEY, name);
        config.setProperty("zookeeper.fips-mode", "false"); // which by default excludes DIGEST-MD5
        return config;
    }

    private static ZkLockClient.Builder builder(String section) {
        return ZkLockClient.builder()
                .connectString(server.connectString())
                .ownerLabel(section)
                .clientConfig(section(section))
                .sessionTimeout(SESSION);
    }

    @Test
    void loginsOfOneProcessAreSeparateCreators() throws Exception {
        List<ACL> creator = ZooDefs.Ids.CREATOR_ALL_ACL;
        try (ZkLockClient billing = builder("Billing").acl(creator).build();
                ZkLockClient shipping = builder("Shipping").acl(creator).build()) {
            Lease one = billing.mutex("/billing").acquire();
            Lease two = shipping.mutex("/shipping").acquire();
            assertNotEquals(one.path(), two.path());
            assertThrows(AccessDeniedException.class, () -> shipping.mutex("/billing")
                    .tryAcquire());
            assertThrows(AccessDeniedException.class, () -> billing.mutex("/shipping")
                    .queue());
            assertEquals(List.of(new Id("sasl", "billing")), owners("Billing", "/billing"));
            assertEquals(List.of(new Id("sasl", "shipping")), owners("Shipping", "/shipping"));
            one.close();
            two.close();
        }
    }

    /** The builder does not see a login by SASL, so it makes nothing private by itself. */
    @Test
    void locksAreOpenToEveryLogin_whenNoAclIsGiven() throws Exception {
        try (ZkLockClient billing = builder("Billing").build();
                ZkLockClient shipping = builder("Shipping").build()) {
            Lease held = billing.mutex("/shared").acquire();
            assertTrue(shipping.mutex("/shared").tryAcquire().isEmpty());
            assertEquals(List.of(ZooDefs.Ids.ANYONE_ID_UNSAFE), owners("Shipping", "/shared"));
            held.close();
        }
    }

    @Test
    void clientIsRefused_withoutALoginOrWithAWrongPassword() {
        for (String section : List.of("Missing", "Wrong")) {
            assertThrows(
                    AccessDeniedException.class,
                    () -> {
                        try (ZkLockClient refused = builder(section).build()) {
                            refused.mutex("/refused").tryAcquire();
                        }
                    },
                    section);
        }
    }

    /** Such a client gets its answer with each request: the connection itself needs no login. */
    @Test
    void clientIsRefused_withoutAnySettingOfSasl() {
        assertThrows(AccessDeniedException.class, () -> {
            try (ZkLockClient refused = ZkLockClient.builder()
                    .connectString(server.connectString())
                    .sessionTimeout(SESSION)
                    .build()) {
                refused.mutex("/refused").acquire();
            }
        });
    }

    private static List<Id> owners(String section, String path) throws Exception {
        ZooKeeper handle =
                new ZooKeeper(server.connectString(), (int) SESSION.toMillis(), event -> {}, section(section));
        try {
            return handle.getACL(path, new Stat()).stream().map(ACL::getId).toList();
        } finally {
            handle.close();
        }
    }
}
