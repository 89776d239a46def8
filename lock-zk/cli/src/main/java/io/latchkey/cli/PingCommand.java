// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.Lease;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.SessionStatus;
import io.latchkey.lock.admin.LockListing;
import io.latchkey.zk.Layout;
import io.latchkey.zk.ZkLockClient;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code ping}, which checks what a client needs, one thing after the other. */
@Command(
        name = "ping",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        description = {
            "Checks what a client needs for the lock at PATH, one line each: a connection with its login, the right to read,"
                    + " and the round trip to the server. The first that fails ends it, with what to do.",
            "With --acquire it also acquires the lock and releases it at once, which proves the rights to create and delete."
        })
final class PingCommand implements Callable<Integer> {
    private static final int TRIES = 7;

    @Mixin
    private ConnectionOptions connection = new ConnectionOptions();

    @Parameters(paramLabel = "PATH", description = "The lock's path.")
    private String path = "";

    @Option(
            names = "--acquire",
            description = "Acquire the mutex at PATH and release it. If it is held, the exit status is 75.")
    private boolean acquire;

    @Override
    public Integer call() throws InterruptedException {
        ConnectionOptions.checkPath(path);
        Optional<String> chroot = connection.missingChroot();
        long start = System.nanoTime();
        try (ZkLockClient client = connection.client("latchkey ping", Layout.LATCHKEY)) {
            SessionStatus session = client.session();
            say(
                    "connection",
                    "in " + Age.exact(since(start)) + ", session " + Owners.session(session.id()) + ", session timeout "
                            + Span.text(session.timeout()));
            chroot.ifPresent(missing -> Terminal.complain("the chroot " + missing
                    + " of the connect string did not exist, and was created: check that its name is right."));
            say("login", connection.loginText());
            Duration[] trips = new Duration[TRIES];
            for (int n = 0; n < TRIES; n++) {
                trips[n] = read(client);
            }
            say("reading", "allowed");
            Arrays.sort(trips);
            say(
                    "round trip",
                    Age.exact(trips[TRIES / 2]) + " (median of " + TRIES + " lists of the queue, at most "
                            + Age.exact(trips[TRIES - 1]) + ")");
            return (acquire ? acquired(client) : ExitStatus.DONE).code();
        }
    }

    private Duration read(ZkLockClient client) throws InterruptedException {
        long start = System.nanoTime();
        LockListing found = client.listLocksAt(path);
        if (!found.isComplete()) {
            throw found.unreadable().values().iterator().next();
        }
        return since(start);
    }

    private ExitStatus acquired(ZkLockClient client) throws InterruptedException {
        long start = System.nanoTime();
        Optional<Lease> lease;
        try {
            lease = client.mutex(path).tryAcquire();
        } catch (AccessDeniedException denied) {
            say("acquiring", "refused");
            throw denied;
        }
        if (lease.isEmpty()) {
            say("acquiring", "held by others");
            Terminal.complain(path + " is held, so the rights to create and delete are not proved. 'latchkey show "
                    + path + "' shows the holder.");
            return ExitStatus.NOT_ACQUIRED;
        }
        ReleaseOutcome released = lease.get().release();
        if (released != ReleaseOutcome.RELEASED) {
            say("acquiring", "acquired, but the release is " + released);
            return notReleased(client, released);
        }
        say(
                "acquiring",
                "acquired and released in " + Age.exact(since(start)) + ", token "
                        + lease.get().token());
        return ExitStatus.DONE;
    }

    /** The end of this session frees the lock. */
    private ExitStatus notReleased(ZkLockClient client, ReleaseOutcome outcome) {
        if (outcome == ReleaseOutcome.PENDING && client.session().isConnected()) {
            Terminal.complain("this client may not delete nodes below " + path
                    + ": its leases would end with its session only. Give it the right in the ACL of " + path + ".");
            return ExitStatus.DENIED;
        }
        Terminal.complain("the connection was lost, or the request was deleted, before " + path + " was released.");
        return ExitStatus.UNAVAILABLE;
    }

    private static Duration since(long start) {
        return Duration.ofNanos(System.nanoTime() - start);
    }

    private static void say(String what, String how) {
        System.out.println(String.format("%-10s  %s", what, Terminal.plain(how)));
    }
}
