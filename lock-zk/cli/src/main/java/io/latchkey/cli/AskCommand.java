// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import io.latchkey.lock.admin.Contender;
import io.latchkey.zk.ZkLockClient;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The command {@code ask}, which asks a holder to release. */
@Command(
        name = "ask",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        description = {
            "Asks a holder of the lock at PATH to release it. A program that listens (Lease.releaseRequested) is notified,"
                    + " and decides. 'latchkey run' does not listen. 'latchkey evict' does not ask.",
            "Exit status 66 if there is no such request, or if its owner does not listen."
        })
final class AskCommand implements Callable<Integer> {
    @Mixin
    private ConnectionOptions connection = new ConnectionOptions();

    @Mixin
    private AddressedRequest request = new AddressedRequest();

    @Override
    public Integer call() throws InterruptedException {
        request.check();
        try (ZkLockClient client = connection.lookingClient("latchkey ask")) {
            return request.act(client, AskCommand::ask);
        }
    }

    private static Optional<ExitStatus> ask(Contender request, String path) throws InterruptedException {
        switch (request.requestRelease()) {
            case STORED -> {
                System.out.println(Terminal.plain("asked " + Owners.described(request, path)));
                return Optional.of(ExitStatus.DONE);
            }
            case NOT_LISTENING -> {
                boolean holds = request.state() == Contender.State.HOLDING;
                Terminal.complain(Owners.described(request, path) + (holds ? " does not listen" : " does not hold yet")
                        + ". Nothing was changed." + (holds ? " 'latchkey evict' ends its lease." : ""));
                return Optional.of(ExitStatus.GONE);
            }
            case GONE -> {
                return Optional.empty();
            }
        }
        return Optional.empty();
    }
}
