// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** The entry point of the command line. */
@Command(
        name = "latchkey",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        description = "Distributed locks on ZooKeeper, from the command line.",
        footerHeading = "%nExit status:%n",
        footer = {
            "  0    done; of run: the command's own status",
            "  1    evict: there was no such request",
            "  64   the command line is wrong; nothing was done",
            "  69   no server answers",
            "  70   an unexpected error",
            "  74   standard output could not be written",
            "  75   run: not acquired in time; the command was not run",
            "  76   run: the lock was lost before the command had ended",
            "  77   the server denies access",
            "  78   the path is for another kind of lock",
            "  127  run: the command could not be started",
            "",
            "'latchkey COMMAND --help' says more of each command."
        },
        subcommands = {LsCommand.class, ShowCommand.class, RunCommand.class, EvictCommand.class})
final class Main {
    /** Java's replacement for bytes that it cannot decode. */
    private static final char UNREADABLE = '\uFFFD';

    private Main() {}

    public static void main(String[] args) {
        // JSON is in UTF-8, and under cron no locale sets that encoding.
        System.setOut(utf8(FileDescriptor.out));
        System.setErr(utf8(FileDescriptor.err));
        if (Stream.of(args).anyMatch(arg -> arg.indexOf(UNREADABLE) >= 0)) {
            Terminal.complain("an argument is not ASCII, and no locale says how to read it. Nothing was done."
                    + " Set LC_ALL=C.UTF-8.");
            System.exit(ExitStatus.USAGE.code());
        }
        System.exit(status(args));
    }

    private static int status(String... args) {
        try {
            int status = execute(args);
            return System.out.checkError() ? notWritten(status) : status;
        } catch (Error broken) {
            // The JVM would end with 1, which says that there was no such request.
            Terminal.complain(broken);
            return ExitStatus.UNEXPECTED.code();
        }
    }

    /** A stream notes the failure of a write, and throws nothing: half a list would look like a whole one. */
    private static int notWritten(int status) {
        Terminal.complain("standard output could not be written, and is not complete.");
        return status == ExitStatus.DONE.code() ? ExitStatus.NOT_WRITTEN.code() : status;
    }

    private static int execute(String... args) {
        return new CommandLine(new Main())
                // Arguments after -- belong to the command.
                .setExpandAtFiles(false)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler(Main::misused)
                .setExecutionExceptionHandler(Main::failed)
                .execute(args);
    }

    private static PrintStream utf8(FileDescriptor stream) {
        return new PrintStream(new FileOutputStream(stream), true, StandardCharsets.UTF_8);
    }

    /** Prints only a reference to the usage, which is long. */
    private static int misused(ParameterException wrong, String[] args) {
        Terminal.complain(String.valueOf(wrong.getMessage()));
        System.err.println("Try '" + wrong.getCommandLine().getCommandSpec().qualifiedName() + " --help'.");
        return ExitStatus.USAGE.code();
    }

    private static int failed(Exception failed, CommandLine command, ParseResult parsed) {
        if (ExitStatus.isExplained(failed)) {
            Terminal.complain(String.valueOf(failed.getMessage()));
        } else {
            Terminal.complain(failed);
        }
        return ExitStatus.of(failed).code();
    }

    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = Main.class.getPackage().getImplementationVersion();
            return new String[] {"latchkey " + Objects.requireNonNullElse(version, "(not from its jar)")};
        }
    }
}
