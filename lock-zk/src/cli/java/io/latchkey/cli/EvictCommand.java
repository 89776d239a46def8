// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import io.latchkey.lock.Contender;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Takes a request out of a queue. */
@Command(
        name = "evict",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        description = {
            "Takes a request away from the lock at PATH: for a holder that does not let go. What the holder has begun goes"
                    + " on until it looks at its lease; 'latchkey run' ends its command. A waiter asks again, at the end of"
                    + " the queue.",
            "Exit status 1 if there was no such request."
        })
final class EvictCommand implements Callable<Integer> {
    @Mixin
    private Connection connection = new Connection();

    @Parameters(paramLabel = "PATH", index = "0", description = "The lock's path.")
    private String path = "";

    @Parameters(paramLabel = "REQUEST", index = "1", description = "The request's token, as 'latchkey show' tells it.")
    private long token;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (token <= 0) {
            throw new IllegalArgumentException(
                    "REQUEST is a token, which is greater than 0; this client may not even read"
                            + " requests that are shown with token 0.");
        }
        try (LockTree tree = LockTree.open(connection, "latchkey evict")) {
            for (FoundLock lock : tree.at(path)) {
                for (Contender request : tree.queue(lock)) {
                    if (request.token() == token && request.evict() == Contender.Eviction.EVICTED) {
                        return Status.DONE.code();
                    }
                }
            }
        }
        System.err.println("latchkey: no request with token " + token + " at " + path + ": it had gone before, or never"
                + " was. Nothing was changed.");
        return Status.GONE.code();
    }
}
