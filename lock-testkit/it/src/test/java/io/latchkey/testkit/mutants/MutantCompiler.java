// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import io.latchkey.docs.Docs;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/** Compiles the changed files of a mutant, in memory, against the shipped classes. */
final class MutantCompiler {
    /** Files of lock-api begin with it; all others are of lock-zk, below its package. */
    static final String API = "lock/";

    private final JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();

    /** The classes that differ from the shipped ones, by their names. */
    Map<String, byte[]> compile(Mutant mutant) {
        return compile(mutant.name(), changed(mutant));
    }

    /** Compiles mutants of different files together, which takes less time than one after the other. */
    void compileAll(List<Mutant> mutants) {
        List<Map<String, String>> groups = new ArrayList<>();
        List<Mutant> left = new ArrayList<>(mutants);
        while (!left.isEmpty()) {
            Map<String, String> group = new LinkedHashMap<>();
            left.removeIf(mutant -> {
                Map<String, String> changed = changed(mutant);
                boolean isApart = Collections.disjoint(group.keySet(), changed.keySet());
                if (isApart) {
                    group.putAll(changed);
                }
                return isApart;
            });
            groups.add(group);
        }
        groups.parallelStream().forEach(group -> compile(group.keySet().toString(), group));
    }

    private Map<String, byte[]> compile(String name, Map<String, String> files) {
        List<Source> changed = files.entrySet().stream()
                .map(file -> new Source(file.getKey(), file.getValue()))
                .toList();
        if (changed.isEmpty()) {
            return Map.of();
        }
        StringWriter errors = new StringWriter();
        try (InMemory classes = new InMemory(compiler.getStandardFileManager(null, null, null))) {
            List<String> options = List.of("-proc:none", "-nowarn", "-cp", System.getProperty("java.class.path"));
            if (!compiler.getTask(errors, classes, null, options, null, changed).call()) {
                throw new AssertionError("mutant \"" + name + "\" does not compile: " + errors);
            }
            return classes.compiled();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The changed sources, by their files. Fails unless each edit fits the source as it is. */
    static Map<String, String> changed(Mutant mutant) {
        Map<String, String> files = new LinkedHashMap<>();
        for (Mutant.Edit edit : mutant.edits()) {
            files.put(edit.file(), edit.apply(files.computeIfAbsent(edit.file(), MutantCompiler::read)));
        }
        return files;
    }

    private static String read(String file) {
        try {
            return Files.readString(Docs.root()
                    .resolve((file.startsWith(API) ? "lock-api" : "lock-zk") + "/src/main/java" + nameOf(file)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String nameOf(String file) {
        return "/io/latchkey/" + (file.startsWith(API) ? "" : "zk/") + file + ".java";
    }

    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String file, String text) {
            super(URI.create("string://" + nameOf(file)), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }

    private static final class InMemory extends ForwardingJavaFileManager<JavaFileManager> {
        private final Map<String, ByteArrayOutputStream> written = new HashMap<>();

        InMemory(JavaFileManager files) {
            super(files);
        }

        Map<String, byte[]> compiled() {
            Map<String, byte[]> classes = new HashMap<>();
            written.forEach((name, bytes) -> classes.put(name, bytes.toByteArray()));
            return classes;
        }

        @Override
        public JavaFileObject getJavaFileForOutput(
                Location location, String className, JavaFileObject.Kind kind, FileObject sibling) {
            return new SimpleJavaFileObject(URI.create("mem:///" + className), kind) {
                @Override
                public OutputStream openOutputStream() {
                    return written.computeIfAbsent(className, name -> new ByteArrayOutputStream());
                }
            };
        }
    }
}
