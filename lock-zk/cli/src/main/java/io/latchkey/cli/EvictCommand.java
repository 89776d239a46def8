// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import io.latchkey.lock.admin.Contender;
import io.latchkey.lock.admin.LockListing;
import io.latchkey.lock.admin.LockSummary;
import io.latchkey.zk.Layout;
import io.latchkey.zk.ZkLockClient;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** The command {@code evict}, which deletes a request. */
@Command(
        name = "evict",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        description = {
            "Deletes a request for the lock at PATH: for a holder that does not release. An evicted holder continues until"
                    + " it checks its lease; 'latchkey run' ends its command. An evicted waiter queues again, at the end.",
            "Exit status 1 if there was no such request."
        })
final class EvictCommand implements Callable<Integer> {
    @Mixin
    private ConnectionOptions connection = new ConnectionOptions();

    @Parameters(paramLabel = "PATH", index = "0", description = "The lock's path.")
    private String path = "";

    @Parameters(
            paramLabel = "REQUEST",
            index = "1",
            converter = Token.class,
            description = "The request's token, as printed by 'latchkey show'.")
    private long token;

    @Override
    public Integer call() throws InterruptedException {
        ConnectionOptions.checkPath(path);
        LockListing found;
        try (ZkLockClient client = connection.client("latchkey evict", Layout.LATCHKEY)) {
            found = client.listLocksAt(path);
            for (LockSummary lock : found.locks()) {
                for (Contender request : lock.queue()) {
                    if (request.token() == token && request.evict() == Contender.Eviction.EVICTED) {
                        System.out.println(Terminal.plain("evicted " + described(request)));
                        return ExitStatus.DONE.code();
                    }
                }
            }
        }
        if (!found.isComplete()) {
            return Shown.complainOfMissing(found).code();
        }
        Terminal.complain("no request with token " + token + " at " + path
                + ": it has already left the queue, or never existed. Nothing was changed.");
        return ExitStatus.GONE.code();
    }

    private String described(Contender request) {
        String role = request.state() == Contender.State.HOLDING ? "holder" : "waiter";
        String process = request.owner().processId() == 0
                ? ""
                : "process " + request.owner().processId();
        String owner = Stream.of(
                        request.owner().host(), process, request.owner().label())
                .filter(text -> !text.isEmpty())
                .collect(Collectors.joining(", "));
        return "the " + role + " with token " + token + " at " + path + (owner.isEmpty() ? "" : ": " + owner);
    }

    static final class Token implements ITypeConverter<Long> {
        /** Not 0, which is shown for requests that this client may not read. */
        private static final Pattern TOKEN = Pattern.compile("[1-9]\\d{0,17}");

        @Override
        public Long convert(String text) {
            if (!TOKEN.matcher(text).matches()) {
                throw new TypeConversionException(
                        "'" + text + "' is not a token: give the number in the column TOKEN of 'latchkey show'");
            }
            return Long.valueOf(text);
        }
    }
}
