// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.latchkey.testkit.server.StandaloneServer;
import io.latchkey.zk.SaslServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The jar of the command line against a server that refuses sessions without a SASL login. */
@Timeout(180)
class CommandLineSaslIT {
    @TempDir
    private static Path folder;

    private static StandaloneServer server;

    @BeforeAll
    static void start() throws Exception {
        Files.writeString(
                folder.resolve("jaas.conf"),
                """
                Billing {
                    org.apache.zookeeper.server.auth.DigestLoginModule required
                    username="billing"
                    password="one";
                };
                Shipping {
                    org.apache.zookeeper.server.auth.DigestLoginModule required
                    username="shipping"
                    password="two";
                };
                """);
        for (String section : List.of("Billing", "Shipping")) {
            Files.writeString(
                    folder.resolve(section + ".properties"),
                    "zookeeper.sasl.clientconfig=" + section + "\nzookeeper.fips-mode=false\n");
        }
        server = SaslServer.start(folder);
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static Program.Exit latchkey(List<String> jvm, String... args) throws InterruptedException {
        return Program.jarEnded(folder, server.connectString(), jvm, args);
    }

    @Test
    void lockBelongsToTheSaslLogin_withCreatorOnly() throws Exception {
        List<String> jaas = List.of("-Djava.security.auth.login.config=jaas.conf");
        Program.Exit ran = latchkey(
                jaas, "run", "--client-config", "Billing.properties", "--creator-only", "/sasl", "--", "echo", "ran");
        assertEquals(0, ran.status(), ran::toString);
        assertEquals("ran\n", ran.out());
        Program.Exit other = latchkey(jaas, "show", "--client-config", "Shipping.properties", "/sasl");
        assertEquals(77, other.status(), other::toString);
        Program.Exit same = latchkey(jaas, "show", "--client-config", "Billing.properties", "/sasl");
        assertEquals(0, same.status(), same::toString);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "run /none -- echo ran",
                "run --timeout 0 /none -- echo ran",
                "run --client-config Billing.properties /none -- echo ran",
                "show /none",
                "ls",
                "evict /none 1"
            })
    void endsWithDenied_withoutALogin(String arguments) throws Exception {
        assertRefused(latchkey(List.of(), arguments.split(" ")));
    }

    @Test
    void endsWithDenied_withAWrongPassword() throws Exception {
        String login = Files.readString(folder.resolve("jaas.conf"));
        Files.writeString(folder.resolve("wrong.conf"), login.replace("password=\"one\"", "password=\"other\""));
        assertRefused(latchkey(
                List.of("-Djava.security.auth.login.config=wrong.conf"),
                "run",
                "--client-config",
                "Billing.properties",
                "/none",
                "--",
                "echo",
                "ran"));
    }

    /** It has ended: run waits for a lock, or for a server, without end. */
    private static void assertRefused(Program.Exit ended) {
        assertEquals(77, ended.status(), ended::toString);
        assertEquals("", ended.out(), "the command did not run");
        assertEquals(
                "latchkey: ZooKeeper refused the login of this client. The client holds no lease. Check scheme and"
                        + " credentials, then create a new client.\n",
                ended.err());
    }
}
