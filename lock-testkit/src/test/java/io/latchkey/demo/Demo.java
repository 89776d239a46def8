package io.latchkey.demo;

import io.latchkey.lock.LockException;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;
import org.apache.zookeeper.KeeperException;

/** Plays one scenario and says whether what it promises came true: exit status 0 if so, 1 if not, 2 if it could not be played. */
public final class Demo {
    static final List<Scenario> SCENARIOS = List.of(new Inventory(6, 400));

    private static final int TRUE = 0;
    private static final int FALSE = 1;
    private static final int NOT_PLAYED = 2;

    private Demo() {}

    /** Started by the Maven profile {@code demo}. Leaves by {@code System.exit} only with a status other than 0. */
    public static void main(String[] args) throws InterruptedException {
        int status = run(System.out, args);
        if (status != TRUE) {
            System.exit(status);
        }
    }

    static int run(PrintStream out, String... args) throws InterruptedException {
        Options options;
        try {
            options = Options.parse(SCENARIOS, args);
        } catch (IllegalArgumentException wrong) {
            out.println(wrong.getMessage());
            out.println();
            out.print(Options.help(SCENARIOS));
            return NOT_PLAYED;
        }
        if (options.wantsHelp()) {
            out.print(Options.help(SCENARIOS));
            return TRUE;
        }
        try (Servers servers = Servers.open()) {
            return options.scenario().play(new Stage(servers, options.mode(), new Screen(out))) ? TRUE : FALSE;
        } catch (IOException | KeeperException | LockException | IllegalArgumentException failed) {
            out.println("The demo broke off: " + failed.getMessage());
            return NOT_PLAYED;
        }
    }
}
