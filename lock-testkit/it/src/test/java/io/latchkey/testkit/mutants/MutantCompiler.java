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
import java.util.HashMap;
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
    private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();

    private MutantCompiler() {}

    /** The locks and the kit with a mutant's classes. Fails unless its edits fit the sources and compile. */
    static MutantClasses compile(Mutant mutant) {
        List<Source> changed = mutant.changed(MutantCompiler::read).entrySet().stream()
                .map(file -> new Source(file.getKey(), file.getValue()))
                .toList();
        StringWriter errors = new StringWriter();
        try (InMemory classes = new InMemory(COMPILER.getStandardFileManager(null, null, null))) {
            List<String> options = List.of("-proc:none", "-nowarn", "-cp", System.getProperty("java.class.path"));
            if (!COMPILER.getTask(errors, classes, null, options, null, changed).call()) {
                throw new AssertionError("mutant \"" + mutant.name() + "\" does not compile: " + errors);
            }
            return new MutantClasses(classes.compiled());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String read(String file) {
        try {
            return Files.readString(Docs.root().resolve("lock-zk/src/main/java" + nameOf(file)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String nameOf(String file) {
        return "/io/latchkey/zk/" + file + ".java";
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
