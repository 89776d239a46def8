// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The screen of the terminal: its second page, without a cursor, and keys one by one. The terminal is as it was before
 * when this is closed, also by a signal.
 */
final class Screen implements AutoCloseable {
    private static final String TERMINAL = "/dev/tty";
    private static final String ENTER = "\u001b[?1049h\u001b[?25l";
    private static final String LEAVE = "\u001b[?25h\u001b[?1049l";
    private static final String HOME = "\u001b[H";
    private static final String CLEAR_LINE = "\u001b[K";
    private static final String CLEAR_BELOW = "\u001b[J";
    private static final int DEFAULT_LINES = 24;
    private static final int DEFAULT_COLUMNS = 80;

    private final String before;
    private final Thread atExit;
    private boolean closed;
    private boolean resumed;

    private Screen(String before) {
        this.before = before;
        this.atExit = new Thread(this::restore, "latchkey-screen");
    }

    /** Returns whether input and output are a terminal that this program can steer. */
    static boolean isTerminal() {
        try {
            Process test = new ProcessBuilder("sh", "-c", "test -t 0 && test -t 1")
                    .inheritIO()
                    .start();
            return test.waitFor() == 0 && !stty("-g").isEmpty();
        } catch (IOException none) {
            return false;
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    static Screen open() throws InterruptedException {
        try {
            Screen screen = new Screen(stty("-g"));
            Runtime.getRuntime().addShutdownHook(screen.atExit);
            screen.enter();
            EndingSignals.afterStop(screen::resume);
            return screen;
        } catch (IOException cannot) {
            throw new StatusException(
                    ExitStatus.UNEXPECTED, "the terminal cannot be set up: " + cannot.getMessage() + ". Give --plain.");
        }
    }

    private void enter() throws IOException, InterruptedException {
        String unused = stty("-icanon -echo min 1");
        System.out.print(ENTER);
        System.out.flush();
    }

    /** After Ctrl-Z and fg the shell has set the terminal as it needs it. */
    private synchronized void resume() {
        if (closed) {
            return;
        }
        try {
            enter();
            resumed = true;
        } catch (IOException gone) {
            // The terminal is no more.
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns whether the process was stopped and goes on, since the last call: the screen is to be shown again. */
    synchronized boolean takeResumed() {
        boolean was = resumed;
        resumed = false;
        return was;
    }

    /** Shows these lines, each as far as it has room. */
    void show(List<String> lines) throws InterruptedException {
        int rows = DEFAULT_LINES;
        int columns = DEFAULT_COLUMNS;
        try {
            String[] size = stty("size").split(" ", -1);
            if (size.length == 2 && Integer.parseInt(size[0]) > 0) {
                rows = Integer.parseInt(size[0]);
                columns = Integer.parseInt(size[1]);
            }
        } catch (IOException | NumberFormatException unknown) {
            // As of a terminal that does not say.
        }
        StringBuilder frame = new StringBuilder(HOME);
        for (int n = 0; n < Math.min(rows, lines.size()); n++) {
            String line = lines.get(n);
            frame.append(n == 0 ? "" : "\r\n")
                    .append(Columns.cut(line, columns))
                    .append(CLEAR_LINE);
        }
        System.out.print(frame.append(CLEAR_BELOW));
        System.out.flush();
    }

    /** Returns the next key; -1 if none is pressed in that time. */
    int key(long millis) throws InterruptedException {
        try {
            if (System.in.available() > 0) {
                return System.in.read();
            }
        } catch (IOException closedInput) {
            // Only a signal ends it then.
        }
        Thread.sleep(millis);
        return -1;
    }

    @Override
    public void close() {
        restore();
        try {
            boolean unused = Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException ending) {
            // It has run.
        }
    }

    private synchronized void restore() {
        if (closed) {
            return;
        }
        closed = true;
        System.out.print(LEAVE);
        System.out.flush();
        try {
            String unused = stty(before);
        } catch (IOException gone) {
            // The terminal is no more.
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static String stty(String what) throws IOException, InterruptedException {
        Process stty = new ProcessBuilder("sh", "-c", "stty " + what)
                .redirectInput(new File(TERMINAL))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String said = new String(stty.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        int unused = stty.waitFor();
        return said;
    }
}
