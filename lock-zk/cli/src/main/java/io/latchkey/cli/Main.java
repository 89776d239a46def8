// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/** The entry point of the command line. */
@Command(
        name = "latchkey",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        description = "Distributed locks on ZooKeeper, from the command line.",
        footer = {
            "",
            "'latchkey COMMAND --help' says more of each command. All need the servers:",
            "  export LATCHKEY_CONNECT=zk1:2181,zk2:2181,zk3:2181"
        },
        subcommands = {
            RunCommand.class,
            LsCommand.class,
            ShowCommand.class,
            TopCommand.class,
            WatchCommand.class,
            PingCommand.class,
            AskCommand.class,
            EvictCommand.class,
            ResizeCommand.class,
            Main.Completion.class,
            HelpCommand.class
        })
final class Main implements Callable<Integer> {
    /** Java's replacement for bytes that it cannot decode. */
    private static final char UNREADABLE = '\uFFFD';

    /** What follows belongs to the command of {@code run}. */
    private static final String SEPARATOR = "--";

    @Spec
    private @Nullable CommandSpec spec;

    private Main() {}

    public static void main(String[] args) {
        // JSON is in UTF-8, and under cron no locale sets that encoding.
        System.setOut(utf8(FileDescriptor.out));
        System.setErr(utf8(FileDescriptor.err));
        // Before any class that logs.
        LogOfZooKeeper.show(own(args).anyMatch(LogOfZooKeeper.OPTION::equals));
        if (isUnreadable(Stream.of(args))) {
            refuse("an argument");
        }
        for (String variable : ConnectionOptions.VARIABLES) {
            if (isUnreadable(Stream.ofNullable(System.getenv(variable)))) {
                refuse(variable);
            }
        }
        System.exit(status(args));
    }

    private static boolean isUnreadable(Stream<String> texts) {
        return texts.anyMatch(text -> text.indexOf(UNREADABLE) >= 0);
    }

    private static void refuse(String what) {
        Terminal.complain(
                what + " is not ASCII, and no locale says how to read it. Nothing was done. Set LC_ALL=C.UTF-8.");
        System.exit(ExitStatus.USAGE.code());
    }

    /** Without a command, help is what is wanted. */
    @Override
    public Integer call() {
        CommandSpec self = Objects.requireNonNull(spec);
        self.commandLine().usage(System.out);
        return ExitStatus.DONE.code();
    }

    /** Runs a command line on the standard streams, and returns its exit status. */
    static int status(String... args) {
        try {
            int status = execute(args);
            return System.out.checkError() ? notWritten(status) : status;
        } catch (Error broken) {
            // The JVM would end with 1, which is no status of this program.
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
        CommandLine latchkey = new CommandLine(new Main());
        latchkey.getCommandSpec()
                .usageMessage()
                .exitCodeListHeading("%nExit status:%n")
                .exitCodeList(ExitStatus.list());
        return latchkey
                // Arguments after -- belong to the command.
                .setExpandAtFiles(false)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler(Main::misused)
                .setExecutionExceptionHandler(Main::failed)
                .execute(args);
    }

    private static Stream<String> own(String... args) {
        return Arrays.stream(args).takeWhile(arg -> !arg.equals(SEPARATOR));
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
        if (failed instanceof StatusException known) {
            Terminal.complain(String.valueOf(failed.getMessage()));
            return known.status().code();
        }
        if (!ExitStatus.isExplained(failed)) {
            Terminal.complain(failed);
            return ExitStatus.of(failed).code();
        }
        Terminal.complain(forTheCommandLine(String.valueOf(failed.getMessage())));
        if (own(parsed.originalArgs().toArray(String[]::new)).anyMatch(LogOfZooKeeper.OPTION::equals)) {
            Stream.iterate(failed.getCause(), each -> each != null, Throwable::getCause)
                    .forEach(cause -> Terminal.complain("caused by " + cause));
        }
        return ExitStatus.of(failed).code();
    }

    /** Names a command in place of a method. */
    private static String forTheCommandLine(String message) {
        return message.replaceAll(
                "call resize\\((\\d+)\\) and go on declaring (\\d+)",
                "give 'latchkey resize PATH $1' and go on with --semaphore $2");
    }

    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {"latchkey " + number()};
        }

        static String number() {
            String version = Main.class.getPackage().getImplementationVersion();
            return Objects.requireNonNullElse(version, "(not from its jar)");
        }
    }

    /** The command {@code completion}, which prints the script that picocli makes. */
    @Command(
            name = "completion",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = {
                "Prints a script for bash and zsh, by which TAB completes commands and options.",
                "  source <(latchkey completion)"
            })
    static final class Completion implements Callable<Integer> {
        private static final Pattern VALUES = Pattern.compile("(?<=_option_args=\\()[^)]*");

        @Spec
        private @Nullable CommandSpec spec;

        @Override
        public Integer call() {
            CommandLine latchkey = Objects.requireNonNull(
                            Objects.requireNonNull(spec).parent())
                    .commandLine();
            // picocli offers the names of constants, which are in upper case.
            System.out.print(VALUES.matcher(AutoComplete.bash("latchkey", latchkey))
                    .replaceAll(values -> values.group().toLowerCase(Locale.ROOT)));
            return ExitStatus.DONE.code();
        }
    }

    /** Returns the names of all commands, for texts and tests. */
    static List<String> commands() {
        return List.copyOf(new CommandLine(new Main()).getSubcommands().keySet());
    }
}
