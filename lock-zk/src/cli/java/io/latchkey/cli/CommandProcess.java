// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * The process of the command, with its descendants. It is ended at most once, by a loss of the lock or by a signal; a
 * second call waits for the first to complete.
 */
final class CommandProcess {
    /** Maximum wait after KILL, while the kernel removes the process. */
    private static final Duration KILLED_WITHIN = Duration.ofSeconds(10);

    private final Duration grace;
    private Optional<Process> started = Optional.empty();
    private boolean over;

    /**
     * Prepares the process without starting it.
     *
     * @param grace the time between TERM and KILL
     */
    CommandProcess(Duration grace) {
        this.grace = grace;
    }

    /** Starts the command with latchkey's standard streams and without its login, unless it has been ended before. */
    synchronized Optional<Process> start(List<String> command, Map<String, String> environment) throws IOException {
        if (!over) {
            ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
            builder.environment().remove(ConnectionOptions.LOGIN);
            builder.environment().putAll(environment);
            started = Optional.of(builder.start());
        }
        return started;
    }

    /**
     * Terminates the command and its descendants: sends TERM, and KILL to those that are left after the grace period.
     * Returns when they have ended. All of them get the signal, because a shell would run its next command if only its
     * child got it, and would leave the child running if only the shell got it.
     */
    synchronized void end() {
        over = true;
        if (started.isEmpty() || !started.get().isAlive()) {
            return;
        }
        List<ProcessHandle> tree = tree(started.get());
        tree.forEach(ProcessHandle::destroy);
        if (!goneWithin(grace, tree)) {
            List<ProcessHandle> left = Stream.concat(tree.stream(), tree(started.get()).stream())
                    .distinct()
                    .toList();
            left.forEach(ProcessHandle::destroyForcibly);
            goneWithin(KILLED_WITHIN, left);
        }
    }

    private static List<ProcessHandle> tree(Process root) {
        return Stream.concat(Stream.of(root.toHandle()), root.descendants()).toList();
    }

    private static boolean goneWithin(Duration time, List<ProcessHandle> processes) {
        CompletableFuture<?>[] exits =
                processes.stream().map(ProcessHandle::onExit).toArray(CompletableFuture<?>[]::new);
        try {
            CompletableFuture.allOf(exits).get(time.toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException late) {
            return false;
        } catch (ExecutionException impossible) {
            throw new IllegalStateException(impossible);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
