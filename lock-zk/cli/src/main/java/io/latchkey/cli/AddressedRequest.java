// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import io.latchkey.lock.admin.Contender;
import io.latchkey.lock.admin.LockListing;
import io.latchkey.zk.ZkLockClient;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** The request that a command acts on: a path, and a token as {@code show} prints it. */
final class AddressedRequest {
    @Parameters(paramLabel = "PATH", index = "0", description = "The lock's path.")
    private String path = "";

    @Parameters(
            paramLabel = "REQUEST",
            index = "1",
            converter = Token.class,
            description = "The request's token, as printed by 'latchkey show'.")
    private long token;

    /** An act on a request; returns the exit status, or empty if the request was gone by then. */
    @FunctionalInterface
    interface Act {
        Optional<ExitStatus> on(Contender request, String path) throws InterruptedException;
    }

    void check() {
        ConnectionOptions.checkPath(path);
    }

    int act(ZkLockClient client, Act act) throws InterruptedException {
        LockListing found = client.listLocksAt(path);
        List<Contender> named = found.locks().stream()
                .flatMap(lock -> lock.queue().stream())
                .filter(request -> request.token() == token)
                .toList();
        if (named.size() > 1) {
            // A client can write any token into its own node.
            Terminal.complain(named.size() + " requests at " + path + " have the token " + token
                    + ", so it names none of them: 'latchkey show " + path
                    + "' shows their sessions. Nothing was changed.");
            return ExitStatus.USAGE.code();
        }
        Optional<ExitStatus> done = named.isEmpty() ? Optional.empty() : act.on(named.get(0), path);
        if (done.isPresent()) {
            return done.get().code();
        }
        if (!found.isComplete()) {
            return Output.complainOfMissing(found).code();
        }
        Terminal.complain("no request with token " + token + " at " + path
                + ": it has already left the queue, or never existed. Nothing was changed.");
        return ExitStatus.GONE.code();
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
