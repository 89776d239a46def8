// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * A command's process and its descendants, also those that are started while the command ends. A process whose parent
 * has ended is no descendant any more. On Linux it is still found, by its environment: a clean-up of a shell starts
 * such processes and does not wait for them. A process that had left the tree before is not part of it.
 */
final class ProcessTree {
    /** The name of a variable in the environment of the command, with a value for this run alone. */
    static final String MARK = "LATCHKEY_RUN";

    private static final Path PROCESSES = Path.of("/proc");
    /** How often a process is looked at that has no environment: a kernel's never has one. */
    private static final int LOOKS = 20;

    private static final long BETWEEN_LOOKS_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final String mark;
    /** The ids of the processes that were looked at: each is asked for its environment once. */
    private final Set<Long> seen = new HashSet<>();

    private final Map<Long, ProcessHandle> tree = new HashMap<>();

    /**
     * Takes the tree as it is now.
     *
     * @param root the process of the command
     * @param mark the value of {@link #MARK} in its environment
     */
    ProcessTree(ProcessHandle root, String mark) {
        this.mark = "\0" + MARK + "=" + mark + "\0";
        seen.addAll(ids()); // before the descendants: a process in between is one of both
        add(root);
        root.descendants().forEach(this::add);
    }

    /** Returns the processes of the tree that live, with those that were started since the last call. */
    List<ProcessHandle> living() {
        for (ProcessHandle each : List.copyOf(tree.values())) {
            each.descendants().forEach(this::add);
        }
        for (int looks = 0; looks < LOOKS && !allAreKnown(); looks++) {
            LockSupport.parkNanos(BETWEEN_LOOKS_NANOS);
        }
        return tree.values().stream().filter(ProcessHandle::isAlive).toList();
    }

    /** Looks at the new processes. One that is just beginning its program has no environment for a moment. */
    private boolean allAreKnown() {
        boolean known = true;
        for (long id : ids()) {
            if (!seen.contains(id)) {
                Optional<Boolean> marked = isMarked(id);
                if (marked.isPresent()) {
                    seen.add(id);
                }
                if (marked.orElse(false)) {
                    ProcessHandle.of(id).ifPresent(this::add);
                }
                known &= marked.isPresent();
            }
        }
        return known;
    }

    private void add(ProcessHandle process) {
        tree.putIfAbsent(process.pid(), process);
        seen.add(process.pid());
    }

    /** Returns the ids of all processes; none where the system does not show them as Linux does. */
    private static List<Long> ids() {
        try (Stream<Path> all = Files.list(PROCESSES)) {
            return all.map(each -> each.getFileName().toString())
                    .filter(name -> name.chars().allMatch(Character::isDigit))
                    .map(Long::valueOf)
                    .toList();
        } catch (IOException none) {
            return List.of();
        }
    }

    private Optional<Boolean> isMarked(long id) {
        try {
            String environment = Files.readString(
                    PROCESSES.resolve(Long.toString(id)).resolve("environ"), StandardCharsets.ISO_8859_1);
            return environment.isEmpty() ? Optional.empty() : Optional.of(("\0" + environment).contains(mark));
        } catch (IOException endedOrOfAnotherUser) {
            return Optional.of(false);
        }
    }
}
