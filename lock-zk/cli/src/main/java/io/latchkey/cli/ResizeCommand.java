// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import io.latchkey.lock.Semaphore;
import io.latchkey.lock.admin.LockListing;
import io.latchkey.lock.admin.LockSummary;
import io.latchkey.zk.ZkLockClient;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** The command {@code resize}, which changes the capacity of a semaphore. */
@Command(
        name = "resize",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        description = {
            "Changes how many permits of the semaphore at PATH can be held at a time. Its clients go on declaring the number"
                    + " that they declare. Fewer permits revoke none: none is granted until enough are released.",
            "The change lasts as long as the path exists, and a path that is not used is removed after a while."
        })
final class ResizeCommand implements Callable<Integer> {
    @Mixin
    private ConnectionOptions connection = new ConnectionOptions();

    @Parameters(paramLabel = "PATH", index = "0", description = "The semaphore's path.")
    private String path = "";

    @Parameters(
            paramLabel = "PERMITS",
            index = "1",
            converter = Permits.class,
            description = "The new capacity, 1 or more.")
    private int permits;

    @Override
    public Integer call() throws InterruptedException {
        ConnectionOptions.checkPath(path);
        try (ZkLockClient client = connection.lookingClient("latchkey resize")) {
            LockListing found = client.listLocksAt(path);
            if (!found.isComplete()) {
                return Output.complainOfMissing(found).code();
            }
            Semaphore semaphore = client.semaphore(path, declared(found.locks()));
            int before = semaphore.capacity();
            semaphore.resize(permits);
            System.out.println(Terminal.plain(path + ": " + before + " -> " + permits));
            return ExitStatus.DONE.code();
        }
    }

    private int declared(List<LockSummary> locks) {
        for (LockSummary lock : locks) {
            if (lock.kind() == LockSummary.Kind.SEMAPHORE && lock.permits().isPresent()) {
                return lock.permits().getAsInt();
            }
        }
        throw new StatusException(
                ExitStatus.MISCONFIGURED,
                locks.isEmpty()
                        ? "no semaphore at " + path
                                + ". Nothing was changed. A capacity can be changed once a client uses it."
                        : path + " is no semaphore of Latchkey, but: " + locks.get(0) + ". Nothing was changed.");
    }

    static final class Permits implements ITypeConverter<Integer> {
        private static final Pattern PERMITS = Pattern.compile("0*[1-9]\\d{0,8}");

        @Override
        public Integer convert(String text) {
            if (!PERMITS.matcher(text).matches()) {
                throw new TypeConversionException("'" + text + "' is not a number of permits: give 1 or more");
            }
            return Integer.valueOf(text);
        }
    }
}
