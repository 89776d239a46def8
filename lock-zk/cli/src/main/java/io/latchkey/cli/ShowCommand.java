// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import io.latchkey.lock.admin.LockListing;
import io.latchkey.zk.ZkLockClient;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code show}, which prints the queue of one lock. */
@Command(
        name = "show",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        description =
                "Shows the holders and waiters of the lock at PATH, in order: fencing token, read or write, age and time of"
                        + " the request by the server's clock, session, host, process and label. A waiter's token is the one that it will"
                        + " have. Host, process and label are claims of the clients. Requests of Curator and kazoo are shown"
                        + " with the values that they have.")
final class ShowCommand implements Callable<Integer> {
    @Mixin
    private ConnectionOptions connection = new ConnectionOptions();

    @Parameters(paramLabel = "PATH", description = "The lock's path.")
    private String path = "";

    @Option(names = "--json", description = "A JSON object with the lock and its queue.")
    private boolean json;

    @Override
    public Integer call() throws InterruptedException {
        ConnectionOptions.checkPath(path);
        LockListing found;
        try (ZkLockClient client = connection.lookingClient("latchkey show")) {
            found = client.listLocksAt(path);
        }
        Instant now = Instant.now();
        List<Output.Queue> shown = new ArrayList<>(
                found.locks().stream().map(lock -> Output.Queue.of(lock, now)).toList());
        if (shown.isEmpty() && found.isComplete()) {
            shown.add(Output.Queue.none(path));
        }
        shown.forEach(queue -> System.out.println(json ? Output.json(queue) : text(queue)));
        if (shown.size() > 1) {
            Terminal.complain(path + " is used for " + shown.size()
                    + " locks of different layouts or kinds. Their holders do not exclude each other: give all clients the"
                    + " same layout and kind.");
        }
        return Output.complainOfMissing(found).code();
    }

    private static String text(Output.Queue shown) {
        if (shown.kind() == null) {
            return Terminal.plain(shown.path()) + ": no lock; no holders, no waiters";
        }
        String head = Terminal.plain(shown.path()) + ": " + described(shown);
        if (shown.queue().isEmpty()) {
            return head + "; no holders, no waiters";
        }
        Table table =
                new Table("STATE", "TOKEN", "LOCK", "PERMITS", "AGE", "SINCE", "SESSION", "HOST", "PROCESS", "LABEL");
        shown.queue()
                .forEach(request -> table.line(
                        request.state(),
                        request.token(),
                        request.lock(),
                        request.permits(),
                        age(request),
                        Objects.requireNonNullElse(request.since(), ""),
                        Objects.requireNonNullElse(request.session(), ""),
                        request.host(),
                        request.processId() == 0 ? "" : request.processId(),
                        request.label()));
        return head + System.lineSeparator() + table;
    }

    private static String age(Output.Request request) {
        return request.ageSeconds() == null
                ? ""
                : Age.text(Duration.ofSeconds(request.ageSeconds().longValue()));
    }

    private static String described(Output.Queue shown) {
        String capacity = shown.capacity() == null ? "" : " of capacity " + shown.capacity();
        return shown.kind()
                + ("semaphore".equals(shown.kind()) ? capacity : "")
                + ("latchkey".equals(shown.layout()) ? "" : ", layout " + shown.layout());
    }
}
