// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * The signals that end a process unless it handles them, and that the JVM does not handle. Without this, they would end
 * {@code latchkey} at once, and the command would go on without the lock. TERM, INT and HUP are the JVM's: it runs its
 * shutdown hooks. So are ILL, TRAP, BUS, FPE and SEGV, which it uses itself. USR2 ends a JVM that gets it from outside,
 * and only the Flight Recorder uses it.
 */
final class EndingSignals {
    private static final List<String> NAMES =
            List.of("ABRT", "ALRM", "IO", "PROF", "PWR", "STKFLT", "SYS", "USR1", "USR2", "VTALRM", "XCPU");

    private EndingSignals() {}

    /**
     * Calls {@code ends} with the number of each such signal. One that the caller of this process has had ignored stays
     * ignored. By reflection, because the compiler warns of the class, which cannot be suppressed: it is in the module
     * {@code jdk.unsupported}, and no other class of the platform offers this.
     */
    static void handle(IntConsumer ends) {
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            Object ours = handler(signal, handler, ends);
            Object ignored = handler.getField("SIG_IGN").get(null);
            for (String name : NAMES) {
                try {
                    Object each = signal.getConstructor(String.class).newInstance(name);
                    Object former = signal.getMethod("handle", signal, handler).invoke(null, each, ours);
                    if (ignored.equals(former)) {
                        Object unused =
                                signal.getMethod("handle", signal, handler).invoke(null, each, ignored);
                    }
                } catch (ReflectiveOperationException notOfThisSystem) {
                    // Another system, or another JVM, has no such signal, or uses it.
                }
            }
        } catch (ReflectiveOperationException none) {
            // A JVM without this class: these signals end it at once, as docs/command-line.md says of others.
        }
    }

    /** Calls {@code then} at each CONT, by which a stopped process goes on. Does nothing on another system. */
    static void afterStop(Runnable then) {
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            Object unused = signal.getMethod("handle", signal, handler)
                    .invoke(
                            null,
                            signal.getConstructor(String.class).newInstance("CONT"),
                            handler(signal, handler, number -> then.run()));
        } catch (ReflectiveOperationException none) {
            // It goes on as it is.
        }
    }

    private static Object handler(Class<?> signal, Class<?> handler, IntConsumer then) {
        InvocationHandler call = (proxy, method, args) -> {
            if (method.getName().equals("handle")) {
                then.accept((int) signal.getMethod("getNumber").invoke(args[0]));
            }
            return null;
        };
        return Proxy.newProxyInstance(handler.getClassLoader(), new Class<?>[] {handler}, call);
    }
}
