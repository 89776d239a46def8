// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.Lease;
import io.latchkey.testkit.server.Ports;
import io.latchkey.testkit.server.StandaloneServer;
import io.latchkey.testkit.time.Slowness;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import javax.security.auth.login.Configuration;
import org.apache.kerby.kerberos.kerb.server.SimpleKdcServer;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Logins by Kerberos at a server that refuses sessions without one. The key distribution centre is in this process. */
@Timeout(120)
@Tag("slow")
class KerberosTest {
    private static final Duration SESSION = Slowness.stretched(Duration.ofSeconds(8));
    private static final String KRB5 = "com.sun.security.auth.module.Krb5LoginModule";
    private static final String SERVER = "zookeeper/localhost";

    private static SimpleKdcServer centre;
    private static StandaloneServer server;

    @BeforeAll
    static void start(@TempDir Path folder) throws Exception {
        centre = new SimpleKdcServer();
        centre.setWorkDir(folder.toFile());
        centre.setKdcHost("127.0.0.1");
        centre.setKdcTcpPort(Ports.free());
        centre.setAllowUdp(false);
        centre.init(); // which also writes krb5.conf, and sets java.security.krb5.conf
        centre.start();
        Path serverKeys = keys(folder, SERVER);
        Path billing = keys(folder, "billing");
        Path shipping = keys(folder, "shipping");
        Path old = keys(folder, "old");
        centre.deletePrincipal("old");
        server = SaslServer.start(
                folder,
                """
                %s required
                    useKeyTab=true storeKey=true useTicketCache=false keyTab="%s" principal="%s";
                """
                        .formatted(KRB5, serverKeys, SERVER),
                Map.of("java.security.krb5.conf", System.getProperty("java.security.krb5.conf")));
        SaslServer.setLogins(
                KRB5,
                Map.of(
                        "Billing", login("billing", billing),
                        "Shipping", login("shipping", shipping),
                        "Deleted", login("old", old)));
    }

    private static Path keys(Path folder, String principal) throws Exception {
        Path keytab = folder.resolve(principal.replace('/', '-') + ".keytab");
        centre.createAndExportPrincipals(keytab.toFile(), principal);
        return keytab;
    }

    private static Map<String, String> login(String principal, Path keytab) {
        return Map.of(
                "useKeyTab", "true",
                "storeKey", "true",
                "keyTab", keytab.toString(),
                "principal", principal,
                "refreshKrb5Config", "true");
    }

    @AfterAll
    static void stop() throws Exception {
        Configuration.setConfiguration(null);
        server.close();
        centre.stop();
        System.clearProperty("java.security.krb5.conf");
    }

    private static ZkLockClient client(String section) throws InterruptedException {
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKClientConfig.LOGIN_CONTEXT_NAME_KEY, section);
        config.setProperty(ZKClientConfig.ZOOKEEPER_SERVER_PRINCIPAL, SERVER);
        return ZkLockClient.builder()
                .connectString(server.connectString())
                .clientConfig(config)
                .acl(ZooDefs.Ids.CREATOR_ALL_ACL)
                .sessionTimeout(SESSION)
                .build();
    }

    @Test
    void loginsOfOneProcessAreSeparateCreators() throws Exception {
        try (ZkLockClient billing = client("Billing");
                ZkLockClient shipping = client("Shipping")) {
            Lease one = billing.mutex("/billing").acquire();
            Lease two = shipping.mutex("/shipping").acquire();
            assertNotEquals(one.path(), two.path());
            assertThrows(AccessDeniedException.class, () -> shipping.mutex("/billing")
                    .tryAcquire());
            assertThrows(AccessDeniedException.class, () -> billing.mutex("/shipping")
                    .queue());
            one.close();
            two.close();
            assertEquals(0, billing.mutex("/billing").queue().size());
        }
    }

    @Test
    void clientIsRefused_withoutALoginOrWithADeletedPrincipal() {
        for (String section : List.of("Missing", "Deleted")) {
            assertThrows(
                    AccessDeniedException.class,
                    () -> {
                        try (ZkLockClient refused = client(section)) {
                            refused.mutex("/refused").tryAcquire();
                        }
                    },
                    section);
        }
    }
}
