// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.security.CodeSource;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The check that the class path has what this library links to: ZooKeeper's client, Guava and slf4j-api in versions
 * that are late enough. A parent or another library of a program may pin an earlier one. Without this check, such a
 * program would end with a linkage error in the middle of some request.
 *
 * <p>The list of what is linked to is made from the compiled classes, and a test keeps it true.
 */
public final class LinkedLibraries {
    /** The earliest versions that have all of it. */
    static final String FLOORS = "ZooKeeper's client 3.8.2 or 3.7.2, Guava 31 and slf4j-api 1.7";

    static final String LIST = "linked.txt";

    /** What is called only where it is there, so that it is not in the list: see {@link ZooKeeperStore}. */
    static final Set<String> OPTIONAL = Set.of("org.apache.zookeeper.WatchedEvent getZxid ()J");

    /** Not as a class: it may be missing. */
    private static final String ZOOKEEPER = "org.apache.zookeeper.ZooKeeper";

    private static final String CONSTRUCTOR = "<init>";

    private LinkedLibraries() {}

    /**
     * Checks the class path.
     *
     * @throws IllegalStateException if a library is missing or too old, with its place
     */
    public static void check() {
        for (String symbol : linked()) {
            Optional<String> missing = missing(symbol);
            if (missing.isPresent()) {
                throw new IllegalStateException(
                        "The class path is too old for this lock client: "
                                + missing.get() + " is missing in " + placeOf(symbol)
                                + ". The client needs at least " + FLOORS
                                + ". Nothing was sent. Use a later version: a parent or another library of the program may pin this one.");
            }
        }
    }

    /** Returns the symbols: a class, or a class with a member and its descriptor. */
    static List<String> linked() {
        try (InputStream list = LinkedLibraries.class.getResourceAsStream(LIST)) {
            return new String(Objects.requireNonNull(list, LIST).readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private static Optional<String> missing(String symbol) {
        String[] parts = symbol.split(" ", -1);
        try {
            Class<?> owner = Class.forName(parts[0], false, LinkedLibraries.class.getClassLoader());
            boolean there = parts.length == 1 || has(owner, parts[1], parts[2]);
            return there ? Optional.empty() : Optional.of(parts[0] + '.' + parts[1] + parts[2]);
        } catch (ClassNotFoundException | LinkageError absent) {
            return Optional.of(parts[0]);
        }
    }

    private static boolean has(Class<?> owner, String member, String descriptor) {
        if (!descriptor.startsWith("(")) {
            return Stream.of(owner.getFields())
                    .filter(field -> field.getName().equals(member))
                    .map(Field::getType)
                    .anyMatch(type -> type.descriptorString().equals(descriptor));
        }
        if (member.equals(CONSTRUCTOR)) {
            return Stream.of(owner.getDeclaredConstructors())
                    .map(Constructor::getParameterTypes)
                    .anyMatch(types -> descriptor(void.class, types).equals(descriptor));
        }
        return Stream.of(owner.getMethods())
                .filter(method -> method.getName().equals(member))
                .anyMatch(method -> descriptor(method).equals(descriptor));
    }

    private static String descriptor(Method method) {
        return descriptor(method.getReturnType(), method.getParameterTypes());
    }

    private static String descriptor(Class<?> result, Class<?>[] arguments) {
        return MethodType.methodType(result, arguments).toMethodDescriptorString();
    }

    /** Returns the file from which the class comes, or the one of ZooKeeper's client if there is no such class. */
    private static String placeOf(String symbol) {
        String name = symbol.split(" ", -1)[0];
        return fileOf(name)
                .or(() -> name.startsWith("org.apache.") ? fileOf(ZOOKEEPER) : Optional.empty())
                .orElse("the class path");
    }

    private static Optional<String> fileOf(String name) {
        try {
            Class<?> type = Class.forName(name, false, LinkedLibraries.class.getClassLoader());
            return Optional.ofNullable(type.getProtectionDomain().getCodeSource())
                    .map(CodeSource::getLocation)
                    .map(URL::getPath)
                    .map(path -> path.substring(path.lastIndexOf('/') + 1));
        } catch (ClassNotFoundException | LinkageError absent) {
            return Optional.empty();
        }
    }
}
