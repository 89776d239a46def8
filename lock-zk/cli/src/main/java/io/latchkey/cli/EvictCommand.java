// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import io.latchkey.lock.admin.Contender;
import io.latchkey.zk.ZkLockClient;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The command {@code evict}, which deletes a request. */
@Command(
        name = "evict",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        description = {
            "Deletes a request for the lock at PATH: for a holder that does not release. An evicted holder continues until"
                    + " it checks its lease; 'latchkey run' ends its command. An evicted waiter queues again, at the end.",
            "Exit status 66 if there was no such request."
        })
final class EvictCommand implements Callable<Integer> {
    @Mixin
    private ConnectionOptions connection = new ConnectionOptions();

    @Mixin
    private AddressedRequest request = new AddressedRequest();

    @Override
    public Integer call() throws InterruptedException {
        request.check();
        try (ZkLockClient client = connection.lookingClient("latchkey evict")) {
            return request.act(client, EvictCommand::evict);
        }
    }

    private static Optional<ExitStatus> evict(Contender request, String path) throws InterruptedException {
        if (request.evict() == Contender.Eviction.GONE) {
            return Optional.empty();
        }
        System.out.println(Terminal.plain("evicted " + Owners.described(request, path)));
        return Optional.of(ExitStatus.DONE);
    }
}
