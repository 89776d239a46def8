// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import io.latchkey.docs.Docs;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * A second copy of the locks and the kit with a mutant's classes. All other classes, such as JUnit's, are shared with
 * the original.
 */
final class MutantClasses extends ClassLoader {
    private static final List<String> OWN = List.of("io.latchkey.lock.", "io.latchkey.zk.", "io.latchkey.testkit.");

    /** Tests of the pure rooms, which are not on the kit's class path. */
    static final Path PURE_TESTS = Docs.root().resolve("lock-zk/target/test-classes");

    private final Map<String, byte[]> changed;

    MutantClasses(Map<String, byte[]> changed) {
        super("mutant", MutantClasses.class.getClassLoader());
        this.changed = changed;
    }

    /** Loads the same classes again, so that errors logged by one copy do not affect the other. */
    MutantClasses again() {
        return new MutantClasses(changed);
    }

    /** Returns the unchanged locks. */
    static MutantClasses unchanged() {
        return new MutantClasses(Map.of());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (OWN.stream().noneMatch(name::startsWith)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded == null ? define(name) : loaded;
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        byte[] bytes = changed.containsKey(name) ? changed.get(name) : shipped(name);
        return defineClass(name, bytes, 0, bytes.length);
    }

    private byte[] shipped(String name) throws ClassNotFoundException {
        String file = name.replace('.', '/') + ".class";
        try (InputStream in = getParent().getResourceAsStream(file)) {
            return in == null ? Files.readAllBytes(PURE_TESTS.resolve(file)) : in.readAllBytes();
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }
}
