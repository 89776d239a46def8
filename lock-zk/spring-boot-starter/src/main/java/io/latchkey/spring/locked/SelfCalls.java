// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.locked;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.Handle;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;
import org.springframework.util.ClassUtils;

/**
 * Calls of locked methods from within their own object, which do not pass the proxy and so are not locked: those whose
 * receiver is {@code this}, as the bytecode shows of the class, its ancestors with the default methods of interfaces,
 * and the classes within them. A call through another reference is not one.
 */
final class SelfCalls {
    private SelfCalls() {}

    /** Throws if a method of the class calls a locked one of its own object, unless it has that lock itself. */
    static void refuse(Class<?> type, Set<Method> locked, LockedMethods methods) {
        Map<String, Method> bySignature = new HashMap<>();
        locked.forEach(method -> bySignature.put(method.getName() + Type.getMethodDescriptor(method), method));
        Set<String> own =
                LockedMethods.ancestors(type).map(Type::getInternalName).collect(Collectors.toSet());
        Scan scan = new Scan(bySignature, own, (caller, callee, outer) -> {
            if (outer == null || !sameLock(methods.of(outer), methods.of(callee))) {
                throw LockedMethods.wrong(
                        callee,
                        caller + " calls it on its own object: the call does not pass the proxy, and is not locked."
                                + " Call it from another bean, or on an injected reference to this one. If the call"
                                + " is meant to be without the lock, move the work to a method without the"
                                + " annotation, or set latchkey.locked.check-self-calls=false.");
            }
        });
        LockedMethods.ancestors(type).forEach(each -> scan.read(each, each.getName(), true));
    }

    private static boolean sameLock(LockedMethod outer, LockedMethod inner) {
        return outer.path().equals(inner.path()) && text(outer).equals(text(inner));
    }

    private static String text(LockedMethod method) {
        return method.key().map(key -> key.getExpressionString()).orElse("");
    }

    interface Listener {
        /**
         * Takes a call of a locked method.
         *
         * @param caller the calling method, for people
         * @param outer the calling method, if it is locked itself
         */
        void call(String caller, Method callee, @Nullable Method outer);
    }

    /** Reads class files. */
    private static final class Scan {
        private final Map<String, Method> locked;
        /** The internal names of the bean's class and its ancestors. */
        private final Set<String> own;

        private final Listener found;
        private final Set<String> read = new HashSet<>();

        Scan(Map<String, Method> locked, Set<String> own, Listener found) {
            this.locked = locked;
            this.own = own;
            this.found = found;
        }

        /**
         * Reads the file of a class.
         *
         * @param isOwn whether {@code this} is the bean, as it is not in a class within
         */
        void read(Class<?> beside, String name, boolean isOwn) {
            String file = "/" + name.replace('.', '/') + ClassUtils.CLASS_FILE_SUFFIX;
            if (name.startsWith("java.") || !read.add(name)) {
                return;
            }
            try (InputStream in = beside.getResourceAsStream(file)) {
                if (in != null) { // there are no class files in a native image
                    new ClassReader(in)
                            .accept(
                                    new Classes(this, beside, name, isOwn),
                                    ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
                }
            } catch (IOException | IllegalArgumentException unreadable) {
                // Of a later JDK than Spring reads: the other checks hold, and a self-call fails at CurrentLease.get().
            }
        }
    }

    private static final class Classes extends ClassVisitor {
        private final Scan scan;
        private final Class<?> beside;
        private final String name;
        private final boolean isOwn;

        Classes(Scan scan, Class<?> beside, String name, boolean isOwn) {
            super(SpringAsmInfo.ASM_VERSION);
            this.scan = scan;
            this.beside = beside;
            this.name = name;
            this.isOwn = isOwn;
        }

        /** Of those within this class, also local and anonymous ones. */
        @Override
        public void visitInnerClass(String inner, @Nullable String outer, @Nullable String simple, int access) {
            String each = inner.replace('/', '.');
            if (each.startsWith(name + "$") && !scan.own.contains(inner)) {
                scan.read(beside, each, false);
            }
        }

        @Override
        public @Nullable MethodVisitor visitMethod(
                int access,
                String method,
                String descriptor,
                @Nullable String signature,
                String @Nullable [] exceptions) {
            if ((access & (Opcodes.ACC_STATIC | Opcodes.ACC_BRIDGE)) != 0) {
                return null;
            }
            Method outer = isOwn ? scan.locked.get(method + descriptor) : null;
            return new Calls(scan, isOwn, callee -> scan.found.call(name + "." + method, callee, outer));
        }
    }

    private interface Callee {
        void called(Method callee);
    }

    /** Follows where the bean is on the operand stack and in the local variables of a method. */
    private static final class Calls extends StackDepth {
        private final Scan scan;
        private final Callee found;
        /** The depths at which the bean was pushed, and not used yet. */
        private final TreeSet<Integer> selves = new TreeSet<>();
        /** The local variables that are the bean. */
        private final Set<Integer> variables = new HashSet<>();

        /** @param isOwn whether {@code this} is the bean; in a class within, a field such as {@code this$0} is */
        Calls(Scan scan, boolean isOwn, Callee found) {
            this.scan = scan;
            this.found = found;
            if (isOwn) {
                variables.add(0);
            }
        }

        @Override
        public void visitVarInsn(int opcode, int variable) {
            boolean stored = selves.contains(depth() - 1);
            super.visitVarInsn(opcode, variable);
            if (opcode == Opcodes.ALOAD && variables.contains(variable)) {
                selves.add(depth() - 1);
            } else if (opcode == Opcodes.ASTORE && stored) {
                variables.add(variable);
            } else if (opcode == Opcodes.ASTORE) {
                variables.remove(variable);
            }
        }

        @Override
        public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
            super.visitFieldInsn(opcode, owner, name, descriptor);
            if (opcode == Opcodes.GETFIELD
                    && name.startsWith("this$")
                    && scan.own.contains(Type.getType(descriptor).getInternalName())) {
                selves.add(depth() - 1);
            }
        }

        @Override
        void popped() {
            selves.tailSet(depth()).clear();
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
            int receiver = depth() - slots(descriptor) - 1;
            if (opcode != Opcodes.INVOKESTATIC && selves.contains(receiver)) {
                called(owner, name + descriptor);
            }
            super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
        }

        /** A lambda is a method of the class, which is read as well; this is a method reference, {@code this::locked}. */
        @Override
        public void visitInvokeDynamicInsn(String name, String descriptor, Handle factory, Object... arguments) {
            int captured = depth() - slots(descriptor);
            if (selves.contains(captured)) {
                for (Object each : arguments) {
                    if (each instanceof Handle method) {
                        called(method.getOwner(), method.getName() + method.getDesc());
                    }
                }
            }
            super.visitInvokeDynamicInsn(name, descriptor, factory, arguments);
        }

        private void called(String owner, String signature) {
            Method callee = scan.locked.get(signature);
            if (callee != null && scan.own.contains(owner)) {
                found.called(callee);
            }
        }
    }
}
