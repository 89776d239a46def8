// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.locked;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
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
 * receiver is {@code this}, as the bytecode of the class shows. A call through another reference is not one.
 */
final class SelfCalls {
    private SelfCalls() {}

    /** Throws if a method of the class calls a locked one of its own object, unless it has that lock itself. */
    static void refuse(Class<?> type, Set<Method> locked, LockedMethods methods) {
        Map<String, Method> bySignature = new HashMap<>();
        locked.forEach(method -> bySignature.put(method.getName() + Type.getMethodDescriptor(method), method));
        for (Class<?> each = type; each != null && each != Object.class; each = each.getSuperclass()) {
            String name = each.getName();
            scan(each, bySignature, (caller, callee) -> {
                Method outer = bySignature.get(caller);
                if (outer == null || !sameLock(methods.of(outer), methods.of(callee))) {
                    throw LockedMethods.wrong(
                            callee,
                            name + "." + caller.substring(0, caller.indexOf('('))
                                    + " calls it on its own object: the call does not pass the proxy, and is not locked."
                                    + " Call it from another bean, or on an injected reference to this one. If the call"
                                    + " is meant to be without the lock, move the work to a method without the"
                                    + " annotation, or set latchkey.locked.check-self-calls=false.");
                }
            });
        }
    }

    private static boolean sameLock(LockedMethod outer, LockedMethod inner) {
        return outer.path().equals(inner.path()) && text(outer).equals(text(inner));
    }

    private static String text(LockedMethod method) {
        return method.key().map(key -> key.getExpressionString()).orElse("");
    }

    interface Found {
        void call(String caller, Method callee);
    }

    private static void scan(Class<?> type, Map<String, Method> locked, Found found) {
        try (InputStream in = type.getResourceAsStream(ClassUtils.getClassFileName(type))) {
            if (in != null) { // there are no class files in a native image
                new ClassReader(in)
                        .accept(new Classes(type, locked, found), ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
            }
        } catch (IOException | IllegalArgumentException unreadable) {
            // Of a later JDK than Spring reads: the other checks hold, and a self-call fails at CurrentLease.get().
        }
    }

    private static final class Classes extends ClassVisitor {
        private final Class<?> type;
        private final Map<String, Method> locked;
        private final Found found;

        Classes(Class<?> type, Map<String, Method> locked, Found found) {
            super(SpringAsmInfo.ASM_VERSION);
            this.type = type;
            this.locked = locked;
            this.found = found;
        }

        @Override
        public @Nullable MethodVisitor visitMethod(
                int access,
                String name,
                String descriptor,
                @Nullable String signature,
                String @Nullable [] exceptions) {
            boolean hasThis = (access & (Opcodes.ACC_STATIC | Opcodes.ACC_BRIDGE)) == 0;
            return hasThis ? new Calls(type, locked, callee -> found.call(name + descriptor, callee)) : null;
        }
    }

    private interface Callee {
        void called(Method callee);
    }

    /** Follows where {@code this} is on the operand stack of a method. */
    private static final class Calls extends StackDepth {
        private final Class<?> type;
        private final Map<String, Method> locked;
        private final Callee found;
        /** The depths at which {@code this} was pushed, and not used yet. */
        private final TreeSet<Integer> selves = new TreeSet<>();

        Calls(Class<?> type, Map<String, Method> locked, Callee found) {
            this.type = type;
            this.locked = locked;
            this.found = found;
        }

        @Override
        public void visitVarInsn(int opcode, int variable) {
            super.visitVarInsn(opcode, variable);
            if (opcode == Opcodes.ALOAD && variable == 0) {
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
            Method callee = locked.get(signature);
            if (callee != null && isOurs(owner)) {
                found.called(callee);
            }
        }

        private boolean isOurs(String owner) {
            String name = owner.replace('/', '.');
            for (Class<?> each = type; each != null; each = each.getSuperclass()) {
                if (each.getName().equals(name)) {
                    return true;
                }
            }
            return false;
        }
    }
}
