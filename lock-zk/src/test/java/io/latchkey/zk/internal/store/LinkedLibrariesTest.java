// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.thirdparty.org.objectweb.asm.ClassReader;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.ClassVisitor;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.FieldVisitor;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.Handle;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.MethodVisitor;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.Opcodes;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.Type;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The list of what lock-zk links to in the libraries that its users may have in another version. */
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

    private static Set<String> linked() throws Exception {
        Set<String> symbols = new TreeSet<>();
        Path classes = Path.of(new URI(LinkedLibraries.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .toString()))
                .resolve("io/latchkey/zk");
        try (Stream<Path> files = Files.walk(classes)) {
            for (Path file : files.filter(each -> each.toString().endsWith(".class"))
                    .filter(each -> !each.toString().contains("micrometer"))
                    .toList()) {
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
