// SPDX-License-Identifier: Apache-2.0
package io.latchkey.log;

import io.latchkey.testkit.time.Eventually;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.slf4j.event.Level;

/** The warnings, and all messages above debug, that the locks log while a test listens. They cost nothing otherwise. */
public final class LoggedWarnings implements AutoCloseable {
    private static final Set<LoggedWarnings> LISTENING = ConcurrentHashMap.newKeySet();

    private final Queue<Line> lines = new ConcurrentLinkedQueue<>();

    private record Line(Level level, String text) {}

    private LoggedWarnings() {}

    /** From now on. */
    public static LoggedWarnings listen() {
        LoggedWarnings listening = new LoggedWarnings();
        LISTENING.add(listening);
        return listening;
    }

    static boolean wanted() {
        return !LISTENING.isEmpty();
    }

    static void add(Level level, String text) {
        LISTENING.forEach(each -> each.lines.add(new Line(level, text)));
    }

    /** Those that have {@code word} in them. */
    public List<String> with(String word) {
        return lines.stream()
                .filter(line -> line.level() == Level.WARN)
                .map(Line::text)
                .filter(text -> text.contains(word))
                .toList();
    }

    /** Those that have {@code word} in them, once there is one: a client logs on a thread of its own. */
    public List<String> awaited(String word) throws InterruptedException {
        Eventually.holds("a warning with " + word, Duration.ofSeconds(10), () -> !with(word)
                .isEmpty());
        return with(word);
    }

    /** Whatever has {@code word} in it and is more than debug. */
    public List<String> aboveDebugWith(String word) {
        return lines.stream()
                .map(Line::text)
                .filter(text -> text.contains(word))
                .toList();
    }

    @Override
    public void close() {
        LISTENING.remove(this);
    }
}
