// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * The locks and the kit once more, with a mutant's classes among them. Everything else, the API of the locks and JUnit
 * among it, is shared with the real ones.
 */
final class MutantClasses extends ClassLoader {
    private static final List<String> OWN = List.of("io.latchkey.zk.", "io.latchkey.testkit.");

    /** Tests of the pure rooms, which are not on the kit's class path. */
    static final Path PURE_TESTS = Path.of("../lock-zk/target/test-classes");

    private final Map<String, byte[]> changed;

    MutantClasses(Map<String, byte[]> changed) {
        super("mutant", MutantClasses.class.getClassLoader());
        this.changed = changed;
    }

    /** The same classes loaded again: errors that these log are none of the first ones'. */
    MutantClasses again() {
        return new MutantClasses(changed);
    }

    /** The locks as they are. */
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
