// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;

/**
 * A second copy of the locks and the kit with a mutant's classes. All other classes, such as JUnit's, are shared with
 * the original.
 */
final class MutantClasses extends ClassLoader {
    private static final List<String> OWN = List.of("io.latchkey.lock.", "io.latchkey.zk.", "io.latchkey.testkit.");

    private final Map<String, byte[]> changed;

    MutantClasses(Map<String, byte[]> changed) {
        super("mutant", MutantClasses.class.getClassLoader());
        this.changed = changed;
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
        try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (in == null) {
                throw new ClassNotFoundException(name);
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }
}
