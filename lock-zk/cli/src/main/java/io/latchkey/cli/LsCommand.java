// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import io.latchkey.lock.LockClient;
import io.latchkey.lock.admin.LockListing;
import io.latchkey.zk.Layout;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.apache.zookeeper.common.PathUtils;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code ls}, which lists locks. */
@Command(
        name = "ls",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        description =
                "Lists the locks at PATH and below it: kind, number of holders and waiters, and layout. Locks of Curator"
                        + " and kazoo are listed while they have holders or waiters.")
final class LsCommand implements Callable<Integer> {
    @Mixin
    private ConnectionOptions connection = new ConnectionOptions();

    @Parameters(
            paramLabel = "PATH",
            arity = "0..1",
            defaultValue = "/",
            description = "Where to begin. If not given: everything.")
    private String path = "/";

    @Option(names = "--json", description = "A JSON array with an object for each lock.")
    private boolean json;

    @Override
    public Integer call() throws InterruptedException {
        PathUtils.validatePath(path);
        LockListing found;
        try (LockClient client = connection.client("latchkey ls", Layout.LATCHKEY)) {
            found = client.listLocks(path);
        }
        List<Shown.Lock> locks = found.locks().stream().map(Shown.Lock::of).toList();
        System.out.println(json ? Shown.json(locks) : table(locks));
        if (locks.isEmpty() && found.isComplete() && !json) {
            Terminal.complain("no lock at or below " + path);
        }
        return Shown.complainOfMissing(found).code();
    }

    private static Table table(List<Shown.Lock> locks) {
        Table table = new Table("PATH", "KIND", "CAPACITY", "HOLDERS", "WAITERS", "LAYOUT");
        locks.forEach(lock -> table.line(
                lock.path(),
                lock.kind(),
                Objects.requireNonNullElse(lock.capacity(), ""),
                lock.holders(),
                lock.waiters(),
                lock.layout()));
        return table;
    }
}
