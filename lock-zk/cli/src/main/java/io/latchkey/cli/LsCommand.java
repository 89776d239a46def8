// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import io.latchkey.lock.LockClient;
import io.latchkey.lock.admin.Contender;
import io.latchkey.lock.admin.LockListing;
import io.latchkey.lock.admin.LockSummary;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
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
                "Lists the locks at PATH and below it: kind, number of holders and waiters, layout; and of the first holder"
                        + " the age of its request, its session and label. Locks of Curator and kazoo are listed while"
                        + " they have holders or waiters.")
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
        ConnectionOptions.checkRoot(path);
        LockListing found;
        try (LockClient client = connection.lookingClient("latchkey ls")) {
            found = client.listLocks(path);
        }
        Instant now = Instant.now();
        List<LockSummary> locks = found.locks();
        System.out.println(
                json
                        ? Output.json(locks.stream()
                                .map(lock -> Output.Lock.of(lock, now))
                                .toList())
                        : table(locks, now));
        if (locks.isEmpty() && found.isComplete() && !json) {
            Terminal.complain("no lock at or below " + path);
        }
        return Output.complainOfMissing(found).code();
    }

    private static Table table(List<LockSummary> locks, Instant now) {
        Table table = new Table("PATH", "KIND", "CAPACITY", "HOLDERS", "WAITERS", "LAYOUT", "AGE", "SESSION", "LABEL");
        for (LockSummary lock : locks) {
            Output.Lock shown = Output.Lock.of(lock, now);
            Optional<Contender> holder = lock.queue().stream()
                    .filter(request -> request.state() == Contender.State.HOLDING)
                    .findFirst();
            table.line(
                    shown.path(),
                    shown.kind(),
                    Objects.requireNonNullElse(shown.capacity(), ""),
                    shown.holders(),
                    shown.waiters(),
                    shown.layout(),
                    holder.map(each -> Age.text(Age.of(each.requestedAt(), now)))
                            .orElse(""),
                    holder.map(each -> Owners.session(each.session())).orElse(""),
                    holder.map(each -> each.owner().label()).orElse(""));
        }
        return table;
    }
}
