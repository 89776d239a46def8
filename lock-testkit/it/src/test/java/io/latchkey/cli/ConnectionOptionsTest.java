// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import static java.util.stream.Collectors.joining;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.testkit.LatchkeyTest;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.zk.ZkLockClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Servers, logins and settings of the command line, from its options and from the environment. */
@Tag("slow")
@LatchkeyTest(sessionMillis = 10_000)
@Timeout(120)
class ConnectionOptionsTest extends CommandFixture {
    ConnectionOptionsTest(EmbeddedZooKeeper server, LockClient other) {
        super(server, other);
    }

    // ---- the environment

    /** picocli replaces $$ and ${x} where a variable is a default value of an option. */
    @Test
    void variablesAreTakenAsTheyAre_withDollars() throws Exception {
        String servers = server.connectString() + "/pa$$th";
        String password = "digest:me:pa$$wo${x}rd";
        Files.writeString(folder.resolve("co$$nfig.properties"), "zookeeper.request.timeout=30000\n");
        try (LockClient mine = ZkLockClient.builder()
                        .connectString(servers)
                        .auth("digest", password.substring("digest:".length()).getBytes(StandardCharsets.UTF_8))
                        .build();
                Lease held = mine.mutex("/mine").acquire()) {
            Program.Exit shown = start(
                            Map.of(
                                    "LATCHKEY_CONNECT", servers,
                                    "LATCHKEY_AUTH", password,
                                    "LATCHKEY_CLIENT_CONFIG", "co$$nfig.properties",
                                    "PATH", PATH),
                            "show",
                            "/mine")
                    .ended();
            assertEquals(0, shown.status(), shown::toString);
            assertTrue(shown.out().contains(" " + held.token() + " "), shown::toString);
            assertEquals(
                    shown.out().lines().count(),
                    InThisJvm.latchkey(servers, "show", "/mine", "--auth=" + password)
                            .out()
                            .lines()
                            .count());
        }
    }

    @Test
    void loginOfTheEnvironmentWithoutAScheme_isRefused() throws Exception {
        Program.Exit ended = start(Map.of("LATCHKEY_CONNECT", "127.0.0.1:1", "LATCHKEY_AUTH", "secret"), "ls")
                .ended();
        assertEquals(64, ended.status(), ended::toString);
        assertEquals(
                "latchkey: LATCHKEY_AUTH: a login is SCHEME:CREDENTIALS, such as digest:user:password. Nothing was"
                        + " sent.\n",
                ended.err());
    }

    /** Without a locale, as under cron. A false password would not be noticed by the servers. */
    @ParameterizedTest
    @ValueSource(strings = {"LATCHKEY_CONNECT", "LATCHKEY_AUTH", "LATCHKEY_CLIENT_CONFIG"})
    void undecodableVariableIsRefused(String variable) throws Exception {
        String script = "export " + variable + "=\"digest:me:$(printf '\\303\\274')\"; exec "
                + String.join(" ", Program.command("ls", "--connect=127.0.0.1:1"));
        Program.Exit ended = kept(Program.start(folder, Map.of("PATH", PATH), List.of("/bin/sh", "-c", script)))
                .ended();
        assertEquals(64, ended.status(), ended::toString);
        assertEquals(
                "latchkey: " + variable + " is not ASCII, and no locale says how to read it. Nothing was done. Set"
                        + " LC_ALL=C.UTF-8.\n",
                ended.err());
    }

    // ---- servers

    /** One that answers behind those that refuse: they are tried in an order of chance, and it is rarely the first. */
    private String behindDeadServers() {
        return IntStream.rangeClosed(1, 19)
                        .mapToObj(port -> "127.0.0.1:" + port + ",")
                        .collect(joining())
                + server.connectString();
    }

    /** ZooKeeper's client fails all requests that wait for its connection once one server has refused it. */
    @Test
    void watchHasItsSecondSession_whenOtherServersAreDown() throws Exception {
        try (Lease held = other.mutex("/second").acquire()) {
            Program.Exit watched = InThisJvm.latchkey(
                    behindDeadServers(), "watch", "/second", "--for=1ms", "--connect-timeout=60s", "--interval=20ms");
            assertEquals(0, watched.status(), watched::toString);
            assertEquals("", watched.err());
            assertTrue(held.isValid());
        }
    }

    /** A mistyped one would answer that there is no lock. */
    @ParameterizedTest
    @ValueSource(
            strings = {"ls", "top --count=1", "show /x", "watch /x --for=1ms", "ask /x 1", "evict /x 1", "resize /x 2"})
    void missingChrootIsRefused_andNotCreated(String line) {
        String servers = (line.equals("ls") ? behindDeadServers() : server.connectString()) + "/typo";
        List<String> args = new ArrayList<>(List.of(line.split(" ", -1)));
        args.add("--connect-timeout=60s");
        Program.Exit ended = InThisJvm.latchkey(servers, args.remove(0), args.toArray(String[]::new));
        assertEquals(78, ended.status(), ended::toString);
        assertEquals("", ended.out());
        assertTrue(
                ended.err().startsWith("latchkey: the chroot /typo of the connect string does not exist."),
                ended::toString);
        assertTrue(server.nodesUnder("/").stream().noneMatch(node -> node.path().equals("/typo")), "created");
        assertEquals(
                69,
                InThisJvm.latchkey("127.0.0.1:1/typo", "ls", "--connect-timeout=300ms")
                        .status());
    }

    // ---- rights

    @Test
    void ping_endsWithDenied_withoutTheRightToDelete() throws Exception {
        List<ACL> noDelete = new ArrayList<>(List.of(new ACL(
                ZooDefs.Perms.ALL & ~ZooDefs.Perms.DELETE & ~ZooDefs.Perms.ADMIN, ZooDefs.Ids.ANYONE_ID_UNSAFE)));
        ZooKeeper operator = kept(new ZooKeeper(server.connectString(), 10_000, event -> {}));
        String unused = operator.create(
                "/no-delete", "latchkey/3 mutex".getBytes(StandardCharsets.UTF_8), noDelete, CreateMode.PERSISTENT);
        Program.Exit ended = latchkey("ping", "/no-delete", "--acquire");
        assertEquals(77, ended.status(), ended::toString);
        assertTrue(
                ended.err().startsWith("latchkey: this client may not delete nodes below /no-delete"), ended::toString);
        assertTrue(ended.out().endsWith("acquiring   acquired, but the release is PENDING\n"), ended::toString);
    }
}
