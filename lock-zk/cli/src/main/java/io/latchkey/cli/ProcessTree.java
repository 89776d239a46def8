// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A command's process and its descendants, also those that are started while the command ends. A process whose parent
 * has ended is no descendant any more. On Linux it is still found, by its environment: a clean-up of a shell starts
 * such processes and does not wait for them. A process that had left tree and group before is not part of it.
 */
final class ProcessTree {
    /** The name of a variable in the environment of the command, with a value for this run alone. */
    static final String MARK = "LATCHKEY_RUN";

    private static final Path PROCESSES = Path.of("/proc");
    /** How long a process may take to begin its program. One that has no environment then has emptied it. */
    private static final long BEGINS_WITHIN_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** How long a tree whose processes follow each other may go without one that is met alive. */
    private static final long SHOWS_WITHIN_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** The flags among the fields of {@code stat} after the name, and {@code PF_KTHREAD} among them (proc(5)). */
    private static final int FLAGS = 6;

    private static final long KERNEL_THREAD = 0x0020_0000;

    /** The process group among the same fields. */
    private static final int GROUP = 2;

    /** The state of a process that has ended and that its parent has not waited for. */
    private static final String ZOMBIE = "Z";

    private final String mark;
    private final String group = group(ProcessHandle.current().pid());
    /** The processes that were there before the tree was looked at. */
    private final Set<Long> before;
    /** The ids of the processes that are known to be of the tree or not: each is asked for its environment once. */
    private final Set<Long> known = new HashSet<>();

    /** When a process was first seen without an environment, by its id. */
    private final Map<Long, Long> beginning = new HashMap<>();

    /** Each process after the one that has started it. */
    private final Set<ProcessHandle> tree = new LinkedHashSet<>();

    private long lastSeen = System.nanoTime();

    private enum Kind {
        MARKED,
        NOT_MARKED,
        /** It is a zombie, or is no more. */
        ENDED,
        /** It has no environment yet. */
        BEGINNING
    }

    /**
     * Takes the tree as it is now: the command's process, its descendants, and those with the mark that have lost their
     * parent, as the same signal may have ended that first. One that has left the group of this process before, as a
     * daemon does, is not part of it.
     *
     * @param root the process of the command
     * @param mark the value of {@link #MARK} in its environment
     */
    ProcessTree(ProcessHandle root, String mark) {
        this.mark = "\0" + MARK + "=" + mark + "\0";
        this.before = Set.copyOf(ids());
        add(root);
        addDescendants(root);
        boolean unused = hasEnded();
    }

    /**
     * Looks for processes that were started since the last look, and returns whether the tree has ended.
     *
     * <p>Only a living process starts another, and ids grow. So the tree has ended if all that were known had ended
     * before a look which then found no other, none that ended as it was looked at, and none that may still show its
     * mark. On a machine where others start processes all the time each look may find such ones. Then the tree has
     * ended if none of it has shown for {@link #SHOWS_WITHIN_NANOS}.
     */
    boolean hasEnded() {
        boolean hadEnded = living().isEmpty();
        for (ProcessHandle each : List.copyOf(tree)) {
            addDescendants(each);
        }
        List<Long> ids = ids();
        // An id is given again in time.
        known.retainAll(Set.copyOf(ids));
        beginning.keySet().retainAll(Set.copyOf(ids));
        boolean foundNoOther = true;
        for (long id : ids) {
            if (!known.contains(id)) {
                Kind kind = kind(id);
                foundNoOther &= kind == Kind.NOT_MARKED;
                if (kind == Kind.MARKED && before.contains(id) && !group(id).equals(group)) {
                    known.add(id);
                } else if (kind == Kind.MARKED) {
                    lastSeen = System.nanoTime();
                    ProcessHandle.of(id).ifPresent(this::add);
                } else if (kind != Kind.BEGINNING) {
                    known.add(id);
                }
            }
        }
        if (!hadEnded) {
            lastSeen = System.nanoTime();
        }
        return hadEnded && (foundNoOther || System.nanoTime() - lastSeen > SHOWS_WITHIN_NANOS);
    }

    /**
     * Returns the processes of the tree that live, as of the last look, each after the one that has started it. Who
     * ends them in this order ends a shell before what it waits for: the shell runs no further command.
     */
    List<ProcessHandle> living() {
        return tree.stream()
                .filter(each -> each.isAlive() && !state(each.pid()).startsWith(ZOMBIE))
                .toList();
    }

    private void addDescendants(ProcessHandle process) {
        // Looked at once: a depth changes when a process above ends.
        Map<ProcessHandle, Integer> depths = new HashMap<>();
        process.descendants().filter(each -> !tree.contains(each)).forEach(each -> depths.put(each, depth(each)));
        depths.entrySet().stream().sorted(Map.Entry.comparingByValue()).forEach(each -> add(each.getKey()));
    }

    /** Returns how many living processes are above it. */
    private static int depth(ProcessHandle process) {
        return (int)
                Stream.iterate(process.parent(), Optional::isPresent, above -> above.flatMap(ProcessHandle::parent))
                        .count();
    }

    private void add(ProcessHandle process) {
        tree.add(process);
        known.add(process.pid());
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

    private Kind kind(long id) {
        try {
            String environment = read(id, "environ");
            if (!environment.isEmpty()) {
                return ("\0" + environment).contains(mark) ? Kind.MARKED : Kind.NOT_MARKED;
            }
        } catch (AccessDeniedException ofAnotherUser) {
            return Kind.NOT_MARKED;
        } catch (IOException ended) {
            return Kind.ENDED;
        }
        String state = state(id);
        if (state.isEmpty() || state.startsWith(ZOMBIE)) {
            return Kind.ENDED;
        }
        long now = System.nanoTime();
        boolean hasBegun = now - beginning.computeIfAbsent(id, first -> now) > BEGINS_WITHIN_NANOS;
        return isOfTheKernel(state) || hasBegun ? Kind.NOT_MARKED : Kind.BEGINNING;
    }

    private static String group(long id) {
        String[] fields = state(id).split(" ", -1);
        return fields.length > GROUP ? fields[GROUP] : "";
    }

    /** Threads of the kernel never have an environment. */
    private static boolean isOfTheKernel(String state) {
        return (Long.parseLong(state.split(" ", -1)[FLAGS]) & KERNEL_THREAD) != 0;
    }

    /** What Linux says of a process after its name; empty if it is no more, or on another system. */
    private static String state(long id) {
        try {
            String all = read(id, "stat");
            return all.substring(all.lastIndexOf(')') + 2);
        } catch (IOException | IndexOutOfBoundsException gone) {
            return "";
        }
    }

    private static String read(long id, String file) throws IOException {
        return Files.readString(PROCESSES.resolve(Long.toString(id)).resolve(file), StandardCharsets.ISO_8859_1);
    }
}
