// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.common.util.concurrent.Uninterruptibles;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** In a process of its own, since ZooKeeper's class is loaded once. */
@Tag("slow")
@Timeout(60)
class UncaughtExceptionsTest {
    @ParameterizedTest
    @ValueSource(classes = {Program.class, SeveralAtATime.class})
    void handlerOfUncaughtExceptionsIsKept_whenTheFirstServersStart(Class<?> main) throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        main.getName())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor(30, TimeUnit.SECONDS);
        assertEquals("handler null", said.strip());
    }

    static final class Program {
        private Program() {}

        public static void main(String[] args) {
            EmbeddedZooKeeper.start().close();
            System.out.println("handler " + Thread.getDefaultUncaughtExceptionHandler());
        }
    }

    /** The others begin while the first has ZooKeeper's handler in place, and most of them end after it. */
    static final class SeveralAtATime extends Properties {
        private static final long serialVersionUID = 1;
        private static final List<Thread> OTHERS = Stream.generate(() -> new Thread(QuietConnections::make))
                .limit(20)
                .toList();

        private SeveralAtATime() {
            super(System.getProperties());
        }

        /** ZooKeeper's class asks for this one when it has set its handler; the others cannot use the class before. */
        @Override
        public String getProperty(String key) {
            if (key.equals("zookeeper.nio.directBufferBytes")) {
                OTHERS.forEach(Thread::start);
                Uninterruptibles.joinUninterruptibly(OTHERS.get(0), 300, TimeUnit.MILLISECONDS);
            }
            return super.getProperty(key);
        }

        public static void main(String[] args) {
            System.setProperties(new SeveralAtATime());
            var unused = QuietConnections.make();
            OTHERS.forEach(Uninterruptibles::joinUninterruptibly);
            System.out.println("handler " + Thread.getDefaultUncaughtExceptionHandler());
        }
    }
}
