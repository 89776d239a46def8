// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import java.io.Console;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The demo's output. On a terminal one line of progress is written over and over; elsewhere there is a new one every
 * two seconds.
 */
final class Screen {
    private static final Duration LIVE = Duration.ofMillis(100);
    private static final Duration PLAIN = Duration.ofSeconds(2);
    private static final int WIDEST = 79;

    private final PrintStream out;
    private final boolean live;

    Screen(PrintStream out) {
        this.out = out;
        this.live = onTerminal();
    }

    /** Until JDK 21 there is a console only on a terminal; later ones always have one, and it knows. */
    @SuppressWarnings("SystemConsoleNull") // from 22 on isTerminal() tells
    private static boolean onTerminal() {
        Console console = System.console();
        if (console == null) {
            return false;
        }
        try {
            return (boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (NoSuchMethodException before22) {
            return true;
        } catch (IllegalAccessException | InvocationTargetException unknown) {
            return false;
        }
    }

    void line(String text) {
        out.println(text);
    }

    /** Shows the status now and then until the end. */
    void follow(Supplier<String> status, CountDownLatch end) throws InterruptedException {
        Duration pause = live ? LIVE : PLAIN;
        while (!end.await(pause.toMillis(), TimeUnit.MILLISECONDS)) {
            show(status.get());
        }
        show(status.get());
        if (live) {
            out.println();
        }
    }

    private void show(String status) {
        if (live) {
            out.print('\r' + ("%-" + WIDEST + "s").formatted(status));
            out.flush();
        } else {
            out.println(status);
        }
    }
}
