// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.ClassReader;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.ClassVisitor;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.MethodVisitor;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.Opcodes;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * No blocking call is made while a monitor is held; before JDK 24, such a call pins a virtual thread to its carrier.
 * The test reads the bytecode: each call inside a monitor, and the calls that follow from it in the classes of lock-api
 * and lock-zk. It does not follow the bodies of lambdas.
 */
@Tag("slow")
class MonitorsTest {
    /** Owner, name and descriptor of methods that wait for another thread or for the server. */
    private static final Pattern BLOCKING = Pattern.compile(String.join(
            "|",
            "java/lang/Object\\.wait.*",
            "java/lang/Thread\\.(sleep|join).*",
            "java/lang/Process\\.waitFor.*",
            "java/util/concurrent/locks/LockSupport\\.park.*",
            "java/util/concurrent/(Completable|Scheduled)?Future(Task)?\\.(get|join)\\(.*",
            "java/util/concurrent/(\\w*Executor\\w*)\\.(awaitTermination|invokeA|close).*",
            "java/util/concurrent/(\\w*(Queue|Deque))\\.(put|take).*",
            "java/util/concurrent/(\\w*(Queue|Deque))\\.(offer|poll)\\w*\\(.*TimeUnit;\\).*",
            "java/util/concurrent/(CountDownLatch|CyclicBarrier|Phaser|Exchanger|locks/Condition)\\.(await|arriveAndAwait|exchange).*",
            "java/util/concurrent/Semaphore\\.(acquire|tryAcquire).*",
            "java/util/concurrent/locks/\\w*Lock\\.(lock|tryLock).*",
            "com/google/common/util/concurrent/(Uninterruptibles|Futures)\\..*(ninterruptibly|Unchecked|Done).*",
            "java/io/\\w*Stream\\.(read|write|flush).*",
            "java/net/.*\\.(connect|accept|getAllByName|getByName).*",
            // ZooKeeper's synchronous methods: those without a callback, but for what only reads a field or notes a
            // login.
            "org/apache/zookeeper/ZooKeeper(Admin)?\\.(?!(getSessionId|getSessionPasswd|getSessionTimeout|getState|addAuthInfo"
                    + "|register|getClientConfig|getTestable|toString)\\()\\w+\\((?!.*AsyncCallback).*"));

    private static final JavaClasses PRODUCTION = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.latchkey.lock", "io.latchkey.zk");

    @Test
    void noBlockingCallIsMade_whileAMonitorIsHeld() throws IOException {
        Calls calls = Calls.of(PRODUCTION);
        assertTrue(calls.monitors > 10, "only " + calls.monitors + " monitors: look where they are");
        assertEquals(List.of(), calls.blockingInMonitors());
    }

    @Test
    void blockingCallsAreFound_inBlocksInMethodsAndThroughCalls() throws IOException {
        List<String> found = Calls.of(
                        new ClassFileImporter().importClasses(Samples.class, Waits.class, WaitsInside.class))
                .blockingInMonitors();
        assertEquals(
                Set.of("inBlock", "inMethod", "throughACall", "throughAnInterface"),
                new HashSet<>(found.stream()
                        .map(each -> each.substring(each.indexOf('.') + 1, each.indexOf('(')))
                        .toList()),
                found::toString);
    }

    /** What each method calls, and what it calls while it holds a monitor. */
    private static final class Calls {
        private final Map<String, Set<String>> all = new HashMap<>();
        private final Map<String, Set<String>> inMonitor = new HashMap<>();
        private final Map<String, Set<String>> subtypes = new HashMap<>();
        private int monitors;

        static Calls of(JavaClasses classes) throws IOException {
            Calls calls = new Calls();
            for (JavaClass each : classes) {
                String name = each.getName().replace('.', '/');
                Set<String> below = calls.subtypes.computeIfAbsent(name, type -> new HashSet<>());
                each.getAllSubclasses()
                        .forEach(subclass -> below.add(subclass.getName().replace('.', '/')));
                try (InputStream in =
                        each.getSource().orElseThrow().getUri().toURL().openStream()) {
                    new ClassReader(in).accept(calls.reader(name), ClassReader.SKIP_DEBUG);
                }
            }
            return calls;
        }

        private ClassVisitor reader(String owner) {
            return new ClassVisitor(Opcodes.ASM9) {
                @Override
                public MethodVisitor visitMethod(
                        int access, String name, String descriptor, String signature, String[] exceptions) {
                    boolean whole = (access & Opcodes.ACC_SYNCHRONIZED) != 0;
                    monitors += whole ? 1 : 0;
                    return new MethodReader(owner + "." + name + descriptor, whole);
                }
            };
        }

        /** A monitor is taken to be held from the first enter to the last exit in the order of the code. */
        private final class MethodReader extends MethodVisitor {
            private final String method;
            private final boolean whole;
            private boolean entered;
            private final List<String> sinceEnter = new ArrayList<>();
            private final Set<String> called = new LinkedHashSet<>();
            private final Set<String> held = new LinkedHashSet<>();

            MethodReader(String method, boolean whole) {
                super(Opcodes.ASM9);
                this.method = method;
                this.whole = whole;
            }

            @Override
            public void visitInsn(int opcode) {
                if (opcode == Opcodes.MONITORENTER) {
                    entered = true;
                    monitors++;
                } else if (opcode == Opcodes.MONITOREXIT) {
                    held.addAll(sinceEnter);
                    sinceEnter.clear();
                }
            }

            @Override
            public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean ofInterface) {
                String callee = owner + "." + name + descriptor;
                called.add(callee);
                if (whole) {
                    held.add(callee);
                } else if (entered) {
                    sinceEnter.add(callee);
                }
            }

            @Override
            public void visitEnd() {
                all.put(method, called);
                inMonitor.put(method, held);
            }
        }

        List<String> blockingInMonitors() {
            Set<String> found = new TreeSet<>();
            inMonitor.forEach((method, first) -> {
                Set<String> seen = new HashSet<>();
                Deque<String> next = new ArrayDeque<>(first);
                while (!next.isEmpty()) {
                    String callee = next.remove();
                    if (BLOCKING.matcher(callee).matches()) {
                        found.add(method + " -> " + callee);
                    } else if (seen.add(callee)) {
                        next.addAll(all.getOrDefault(callee, Set.of()));
                        overriding(callee).forEach(next::add);
                    }
                }
            });
            return List.copyOf(found);
        }

        private List<String> overriding(String callee) {
            int dot = callee.indexOf('.');
            return subtypes.getOrDefault(callee.substring(0, dot), Set.of()).stream()
                    .map(subtype -> subtype + callee.substring(dot))
                    .filter(all::containsKey)
                    .toList();
        }
    }

    /** For the check itself. */
    private interface Waits {
        void await() throws InterruptedException;
    }

    private record WaitsInside(CountDownLatch latch) implements Waits {
        @Override
        public void await() throws InterruptedException {
            latch.await();
        }
    }

    @SuppressWarnings("unused")
    private static final class Samples {
        private final CountDownLatch latch = new CountDownLatch(1);
        private final CompletableFuture<String> future = new CompletableFuture<>();
        private final Waits waits = new WaitsInside(latch);

        void inBlock() throws InterruptedException {
            synchronized (future) {
                latch.await();
            }
        }

        synchronized String inMethod() {
            return future.join();
        }

        synchronized void throughACall() throws InterruptedException {
            outside();
        }

        synchronized void throughAnInterface() throws InterruptedException {
            waits.await();
        }

        void outside() throws InterruptedException {
            latch.await();
            synchronized (future) {
                latch.countDown();
            }
        }

        synchronized Runnable later() {
            return future::join;
        }
    }
}
