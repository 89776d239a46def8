// SPDX-License-Identifier: Apache-2.0
package io.latchkey.log;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;

/** The errors logged by the locks that no test has asserted: bugs that they survive. */
public final class LoggedErrors {
    private static final StackWalker STACK = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);
    private static final Queue<LoggedError> ERRORS = new ConcurrentLinkedQueue<>();

    private LoggedErrors() {}

    /**
     * An error.
     *
     * @param by the class loader of the locks that logged it: a mutant has one of its own
     * @param thread that logged it
     */
    public record LoggedError(String message, Throwable thrown, ClassLoader by, Thread thread) {
        @Override
        public String toString() {
            return thrown == null ? message : String.valueOf(thrown);
        }
    }

    static void add(String message, Throwable thrown) {
        ClassLoader by = STACK.walk(frames -> frames.map(StackWalker.StackFrame::getDeclaringClass)
                .filter(logging -> logging.getName().startsWith("io.latchkey.zk."))
                .findFirst()
                .<ClassLoader>map(Class::getClassLoader)
                .orElse(LoggedErrors.class.getClassLoader()));
        ERRORS.add(new LoggedError(message, thrown, by, Thread.currentThread()));
    }

    /** Those of the calling thread, each once. */
    public static List<LoggedError> ofThisThread() {
        return ERRORS.isEmpty() ? List.of() : take(error -> error.thread() == Thread.currentThread());
    }

    /** Those of the locks that have this class loader, each once. */
    public static List<LoggedError> by(ClassLoader loader) {
        return ERRORS.isEmpty() ? List.of() : take(error -> error.by() == loader);
    }

    private static List<LoggedError> take(Predicate<LoggedError> wanted) {
        List<LoggedError> taken = new ArrayList<>();
        for (LoggedError error : List.copyOf(ERRORS)) {
            if (wanted.test(error) && ERRORS.remove(error)) {
                taken.add(error);
            }
        }
        return taken;
    }
}
