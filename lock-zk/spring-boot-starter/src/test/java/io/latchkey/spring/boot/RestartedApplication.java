// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import io.latchkey.lock.LockClient;
import io.latchkey.spring.Locked;
import io.latchkey.spring.integration.LatchkeyLockRegistry;
import io.latchkey.spring.leadership.LeaderElections;
import io.latchkey.testkit.time.Eventually;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.devtools.restart.Restarter;
import org.springframework.boot.devtools.restart.classloader.RestartClassLoader;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.stereotype.Component;

/**
 * An application that uses its locks and is then restarted by devtools, in a process of its own. The second run prints
 * whether client and context of the first one were collected, and which of its threads are left. (Its class loader is
 * not collected in such a process without Latchkey either.)
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import(RestartedApplication.Work.class)
public class RestartedApplication {
    private static final String FIRST = "latchkey.first";
    private static final Duration SOON = Duration.ofSeconds(20);

    public static void main(String[] args) {
        var unused = SpringApplication.run(RestartedApplication.class, args);
    }

    @Component
    static class Work {
        @Locked(path = "/work", key = "#key")
        public CompletableFuture<String> work(String key) {
            return CompletableFuture.completedFuture(key);
        }
    }

    @Bean
    ApplicationRunner run(
            ApplicationContext context,
            Work work,
            LockClient client,
            LockProvider tasks,
            LatchkeyLockRegistry registry,
            LeaderElections leaders) {
        return args -> {
            Object first = System.getProperties().get(FIRST);
            if (first != null) {
                Thread reporting = new Thread(() -> report((List<?>) first));
                reporting.start();
                return;
            }
            System.getProperties()
                    .put(
                            FIRST,
                            List.of(
                                    new WeakReference<>(client),
                                    new WeakReference<>(context),
                                    new WeakReference<>(work)));
            work.work("a").join();
            registry.executeLocked("b", () -> {});
            tasks.lock(new LockConfiguration(Instant.now(), "c", Duration.ofHours(1), Duration.ofMinutes(30)))
                    .orElseThrow()
                    .unlock(); // kept, and released when the client closes
            var waiting = client.mutex("/d").acquireAsync().thenCompose(lease -> client.mutex("/d")
                    .acquireAsync());
            Eventually.holds("a leader", SOON, () -> leaders.isLeader("cleaner"));
            System.out.println("first run in " + getClass().getClassLoader() + ", waiting: " + !waiting.isDone());
            Thread restarting = new Thread(() -> Restarter.getInstance().restart());
            restarting.setContextClassLoader(ClassLoader.getSystemClassLoader());
            restarting.start();
        };
    }

    private static void report(List<?> first) {
        for (int i = 0; left(first) > 0 && i < 300; i++) {
            System.gc();
            try {
                Thread.sleep(100);
            } catch (InterruptedException ended) {
                break;
            }
        }
        System.out.println("objects of the first run: " + left(first));
        Set<Thread> threads = Thread.getAllStackTraces().keySet();
        ClassLoader ours = RestartedApplication.class.getClassLoader();
        threads.stream()
                .filter(each -> each.getContextClassLoader() instanceof RestartClassLoader other && other != ours)
                .forEach(each -> System.out.println("left: " + each));
        System.out.println("threads of clients: "
                + threads.stream()
                        .filter(each -> each.getName().startsWith("latchkey-timer"))
                        .count());
        Runtime.getRuntime().halt(0);
    }

    private static long left(List<?> first) {
        return first.stream()
                .filter(each -> ((WeakReference<?>) each).get() != null)
                .count();
    }
}
