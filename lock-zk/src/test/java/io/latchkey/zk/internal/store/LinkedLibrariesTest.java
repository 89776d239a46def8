// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.thirdparty.org.objectweb.asm.ClassReader;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.ClassVisitor;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.ClassWriter;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.FieldVisitor;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.Handle;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.MethodVisitor;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.Opcodes;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.Type;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The list of what lock-zk links to in the libraries that its users may have in another version. It reads the compiled
 * classes, where seeded bugs are not.
 */
@Tag("once")
class LinkedLibrariesTest {
    private static final List<String> LIBRARIES = List.of("org/apache/", "com/google/common/", "org/slf4j/");

    /** With {@code -Dlatchkey.docs.renew=true} the list is written. */
    @Test
    void listHasWhatTheCompiledClassesLinkTo() throws Exception {
        List<String> linked = List.copyOf(linked());
        if (Boolean.getBoolean("latchkey.docs.renew")) {
            Path list = Path.of("src/main/resources/io/latchkey/zk/internal/store", LinkedLibraries.LIST);
            Files.writeString(list, String.join("\n", linked) + "\n");
        }
        assertEquals(linked, LinkedLibraries.linked());
    }

    @Test
    void classPathOfTheTestsHasAllOfIt() {
        LinkedLibraries.check();
    }

    static Stream<String> symbols() {
        return LinkedLibraries.linked().stream();
    }

    /** Each symbol is hidden as an earlier version of its library would not have it. */
    @ParameterizedTest
    @MethodSource("symbols")
    void classPathIsRefused_whenOneSymbolIsMissing(String symbol) throws Exception {
        try (WithoutSymbol loader = new WithoutSymbol(symbol)) {
            Method check = loader.loadClass(LinkedLibraries.class.getName()).getMethod("check");
            if (loader.inherits()) {
                check.invoke(null);
                return;
            }
            Throwable refused = assertThrows(InvocationTargetException.class, () -> check.invoke(null))
                    .getCause();
            assertInstanceOf(IllegalStateException.class, refused);
            // A class that cannot be read without the missing one is reported in its place.
            String[] parts = symbol.split(" ", -1);
            String missing = parts.length == 1 ? "" : parts[0] + "." + parts[1] + parts[2] + " is missing in ";
            assertTrue(
                    refused.getMessage().startsWith("The class path is too old for this lock client: " + missing),
                    refused::getMessage);
        }
    }

    /** The class path without one class, or without one member of a class. */
    private static final class WithoutSymbol extends URLClassLoader {
        private final String[] symbol;

        WithoutSymbol(String symbol) {
            super(classPath(), ClassLoader.getPlatformClassLoader());
            this.symbol = symbol.split(" ", -1);
        }

        private static URL[] classPath() {
            return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                    .map(WithoutSymbol::url)
                    .toArray(URL[]::new);
        }

        private static URL url(String entry) {
            try {
                return Path.of(entry).toUri().toURL();
            } catch (MalformedURLException impossible) {
                throw new IllegalStateException(impossible);
            }
        }

        /** Returns whether the class has the member from a supertype as well: then it is not missing. */
        boolean inherits() throws ClassNotFoundException {
            return symbol.length > 1
                    && Stream.of(loadClass(symbol[0]).getMethods())
                            .anyMatch(method -> is(method.getName(), Type.getMethodDescriptor(method)));
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            if (!name.equals(symbol[0])) {
                return super.findClass(name);
            }
            if (symbol.length == 1) {
                throw new ClassNotFoundException(name);
            }
            try (InputStream in = Objects.requireNonNull(getResourceAsStream(name.replace('.', '/') + ".class"))) {
                ClassWriter writer = new ClassWriter(0);
                new ClassReader(in).accept(without(writer), 0);
                byte[] code = writer.toByteArray();
                return defineClass(name, code, 0, code.length);
            } catch (IOException unreadable) {
                throw new ClassNotFoundException(name, unreadable);
            }
        }

        private ClassVisitor without(ClassWriter writer) {
            return new ClassVisitor(Opcodes.ASM9, writer) {
                @Override
                public @Nullable MethodVisitor visitMethod(
                        int access, String name, String descriptor, String signature, String[] exceptions) {
                    return is(name, descriptor)
                            ? null
                            : super.visitMethod(access, name, descriptor, signature, exceptions);
                }

                @Override
                public @Nullable FieldVisitor visitField(
                        int access, String name, String descriptor, String signature, Object value) {
                    return is(name, descriptor) ? null : super.visitField(access, name, descriptor, signature, value);
                }
            };
        }

        private boolean is(String name, String descriptor) {
            return name.equals(symbol[1]) && descriptor.equals(symbol[2]);
        }
    }

    private static Set<String> linked() throws Exception {
        Set<String> symbols = new TreeSet<>();
        Path classes = Path.of(new URI(LinkedLibraries.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .toString()))
                .resolve("io/latchkey/zk");
        try (Stream<Path> files = Files.walk(classes)) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".class")).toList()) {
                read(file, symbols);
            }
        }
        assertTrue(symbols.removeAll(LinkedLibraries.OPTIONAL), "what is optional is still called");
        return symbols;
    }

    private static void read(Path file, Set<String> symbols) throws IOException {
        new ClassReader(Files.readAllBytes(file))
                .accept(
                        new ClassVisitor(Opcodes.ASM9) {
                            @Override
                            public FieldVisitor visitField(
                                    int access, String name, String descriptor, String signature, Object value) {
                                type(Type.getType(descriptor), symbols);
                                return null;
                            }

                            @Override
                            public MethodVisitor visitMethod(
                                    int access, String name, String descriptor, String signature, String[] thrown) {
                                return new Links(symbols);
                            }
                        },
                        ClassReader.SKIP_DEBUG);
    }

    private static void type(Type type, Set<String> symbols) {
        Type element = type.getSort() == Type.ARRAY ? type.getElementType() : type;
        if (element.getSort() == Type.OBJECT && isOfALibrary(element.getInternalName())) {
            symbols.add(element.getClassName());
        }
    }

    private static boolean isOfALibrary(String owner) {
        return LIBRARIES.stream().anyMatch(owner::startsWith);
    }

    private static final class Links extends MethodVisitor {
        private final Set<String> symbols;

        Links(Set<String> symbols) {
            super(Opcodes.ASM9);
            this.symbols = symbols;
        }

        private void member(String owner, String name, String descriptor) {
            if (isOfALibrary(owner)) {
                symbols.add(Type.getObjectType(owner).getClassName() + " " + name + " " + descriptor);
            }
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean ofInterface) {
            member(owner, name, descriptor);
        }

        @Override
        public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
            member(owner, name, descriptor);
        }

        @Override
        public void visitTypeInsn(int opcode, String of) {
            type(Type.getObjectType(of), symbols);
        }

        @Override
        public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
            for (Object argument : arguments) {
                if (argument instanceof Handle handle) {
                    member(handle.getOwner(), handle.getName(), handle.getDesc());
                }
            }
        }
    }
}
