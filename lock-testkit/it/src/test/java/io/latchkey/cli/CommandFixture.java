// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import io.latchkey.lock.LockClient;
import io.latchkey.lock.Owner;
import io.latchkey.lock.admin.Contender;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.zk.ZkLockClient;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** A server, a client of it, and the programs that a test of the command line starts. */
abstract class CommandFixture {
    static final String PATH = "/usr/bin:/bin";
    /** Says that it runs, and that it gets TERM. */
    static final String OBEDIENT = "trap 'echo got TERM; exit 0' TERM; echo running; while :; do sleep 0.05; done";

    final EmbeddedZooKeeper server;
    final LockClient other;

    @TempDir
    Path folder;

    private final List<AutoCloseable> open = new ArrayList<>();

    CommandFixture(EmbeddedZooKeeper server, LockClient other) {
        this.server = server;
        this.other = other;
    }

    @AfterEach
    final void endWhatStillRuns() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    /** It is closed after the test. */
    final <T extends AutoCloseable> T kept(T opened) {
        open.add(opened);
        return opened;
    }

    final Program start(String... args) {
        return start(Map.of("LATCHKEY_CONNECT", server.connectString(), "PATH", PATH), args);
    }

    Program start(Map<String, String> environment, String... args) {
        return kept(Program.latchkey(folder, environment, args));
    }

    /** Starts {@code latchkey run} with a script as its command. */
    final Program runScript(String path, String script, String... options) {
        List<String> args = new ArrayList<>(List.of("run", path));
        args.addAll(List.of(options));
        args.addAll(List.of("--", "sh", "-c", script));
        return start(args.toArray(String[]::new));
    }

    /** Runs a command in this process. */
    final Program.Exit latchkey(String command, String... args) {
        return InThisJvm.latchkey(server.connectString(), command, args);
    }

    final List<ServerNode> requests(String path) {
        return server.nodesUnder(path).stream().filter(ServerNode::isEphemeral).toList();
    }

    /** A client whose nodes others may not read. */
    final LockClient strictClient() throws InterruptedException {
        return ZkLockClient.builder()
                .connectString(server.connectString())
                .auth("digest", "me:mine".getBytes(StandardCharsets.UTF_8))
                .build();
    }

    /** An exclusive request without a time. */
    static Contender contender(Contender.State state, long token, Owner owner) {
        return (Contender) Proxy.newProxyInstance(
                Contender.class.getClassLoader(), new Class<?>[] {Contender.class}, (proxy, method, args) -> {
                    return switch (method.getName()) {
                        case "state" -> state;
                        case "access" -> Contender.Access.EXCLUSIVE;
                        case "requestedAt" -> Instant.EPOCH;
                        case "owner" -> owner;
                        case "token" -> token;
                        case "permits" -> 1;
                        case "session" -> 0L;
                        default -> "";
                    };
                });
    }
}
