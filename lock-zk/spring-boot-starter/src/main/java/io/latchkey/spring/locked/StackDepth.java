// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.locked;

import java.util.HashMap;
import java.util.Map;
import org.springframework.asm.Handle;
import org.springframework.asm.Label;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;

/** Follows the depth of the operand stack through the bytecode of a method, in slots. */
abstract class StackDepth extends MethodVisitor {
    /** How many slots each instruction without an operand takes and leaves, except those that end a method. */
    private static final Map<Integer, Effect> PLAIN = plain();

    private final Map<Label, Integer> atLabel = new HashMap<>();
    private int depth;

    private record Effect(int pops, int pushes) {}

    StackDepth() {
        super(SpringAsmInfo.ASM_VERSION);
    }

    final int depth() {
        return depth;
    }

    /** Called when values were taken from the stack: those from {@link #depth} on are gone. */
    abstract void popped();

    private void change(int pops, int pushes) {
        depth = Math.max(0, depth - pops);
        popped();
        depth += pushes;
    }

    private static void put(Map<Integer, Effect> to, int from, int last, int pops, int pushes) {
        for (int opcode = from; opcode <= last; opcode++) {
            to.put(opcode, new Effect(pops, pushes));
        }
    }

    private static Map<Integer, Effect> plain() {
        Map<Integer, Effect> all = new HashMap<>();
        put(all, Opcodes.NOP, Opcodes.NOP, 0, 0);
        put(all, Opcodes.ACONST_NULL, Opcodes.ICONST_5, 0, 1);
        put(all, Opcodes.LCONST_0, Opcodes.LCONST_1, 0, 2);
        put(all, Opcodes.FCONST_0, Opcodes.FCONST_2, 0, 1);
        put(all, Opcodes.DCONST_0, Opcodes.DCONST_1, 0, 2);
        put(all, Opcodes.IALOAD, Opcodes.SALOAD, 2, 1);
        put(all, Opcodes.LALOAD, Opcodes.LALOAD, 2, 2);
        put(all, Opcodes.DALOAD, Opcodes.DALOAD, 2, 2);
        put(all, Opcodes.IASTORE, Opcodes.SASTORE, 3, 0);
        put(all, Opcodes.LASTORE, Opcodes.LASTORE, 4, 0);
        put(all, Opcodes.DASTORE, Opcodes.DASTORE, 4, 0);
        put(all, Opcodes.POP, Opcodes.POP, 1, 0);
        put(all, Opcodes.POP2, Opcodes.POP2, 2, 0);
        put(all, Opcodes.DUP, Opcodes.DUP, 0, 1);
        put(all, Opcodes.DUP_X1, Opcodes.DUP_X1, 2, 3);
        put(all, Opcodes.DUP_X2, Opcodes.DUP_X2, 3, 4);
        put(all, Opcodes.DUP2, Opcodes.DUP2, 0, 2);
        put(all, Opcodes.DUP2_X1, Opcodes.DUP2_X1, 3, 5);
        put(all, Opcodes.DUP2_X2, Opcodes.DUP2_X2, 4, 6);
        put(all, Opcodes.SWAP, Opcodes.SWAP, 2, 2);
        for (int operation = Opcodes.IADD; operation <= Opcodes.IREM; operation += 4) { // int, long, float, double
            put(all, operation, operation, 2, 1);
            put(all, operation + 1, operation + 1, 4, 2);
            put(all, operation + 2, operation + 2, 2, 1);
            put(all, operation + 3, operation + 3, 4, 2);
        }
        put(all, Opcodes.INEG, Opcodes.INEG, 1, 1);
        put(all, Opcodes.LNEG, Opcodes.LNEG, 2, 2);
        put(all, Opcodes.FNEG, Opcodes.FNEG, 1, 1);
        put(all, Opcodes.DNEG, Opcodes.DNEG, 2, 2);
        for (int operation = Opcodes.ISHL; operation <= Opcodes.IUSHR; operation += 2) {
            put(all, operation, operation, 2, 1);
            put(all, operation + 1, operation + 1, 3, 2);
        }
        for (int operation = Opcodes.IAND; operation <= Opcodes.IXOR; operation += 2) {
            put(all, operation, operation, 2, 1);
            put(all, operation + 1, operation + 1, 4, 2);
        }
        put(all, Opcodes.I2L, Opcodes.I2L, 1, 2);
        put(all, Opcodes.I2F, Opcodes.I2F, 1, 1);
        put(all, Opcodes.I2D, Opcodes.I2D, 1, 2);
        put(all, Opcodes.L2I, Opcodes.L2F, 2, 1);
        put(all, Opcodes.L2D, Opcodes.L2D, 2, 2);
        put(all, Opcodes.F2I, Opcodes.F2I, 1, 1);
        put(all, Opcodes.F2L, Opcodes.F2D, 1, 2);
        put(all, Opcodes.D2I, Opcodes.D2I, 2, 1);
        put(all, Opcodes.D2L, Opcodes.D2L, 2, 2);
        put(all, Opcodes.D2F, Opcodes.D2F, 2, 1);
        put(all, Opcodes.I2B, Opcodes.I2S, 1, 1);
        put(all, Opcodes.LCMP, Opcodes.LCMP, 4, 1);
        put(all, Opcodes.FCMPL, Opcodes.FCMPG, 2, 1);
        put(all, Opcodes.DCMPL, Opcodes.DCMPG, 4, 1);
        put(all, Opcodes.ARRAYLENGTH, Opcodes.ARRAYLENGTH, 1, 1);
        put(all, Opcodes.MONITORENTER, Opcodes.MONITOREXIT, 1, 0);
        return all;
    }

    /** After an instruction that nothing follows, only a jump or a handler leads on. */
    private void ends() {
        depth = 0;
        popped();
    }

    @Override
    public void visitInsn(int opcode) {
        Effect effect = PLAIN.get(opcode);
        if (effect == null) { // return or throw
            ends();
        } else {
            change(effect.pops(), effect.pushes());
        }
    }

    @Override
    public void visitIntInsn(int opcode, int operand) {
        change(opcode == Opcodes.NEWARRAY ? 1 : 0, 1);
    }

    @Override
    public void visitVarInsn(int opcode, int variable) {
        int size =
                switch (opcode) {
                    case Opcodes.LLOAD, Opcodes.DLOAD, Opcodes.LSTORE, Opcodes.DSTORE -> 2;
                    default -> 1;
                };
        if (opcode <= Opcodes.ALOAD) {
            change(0, size);
        } else {
            change(size, 0);
        }
    }

    @Override
    public void visitTypeInsn(int opcode, String type) {
        change(opcode == Opcodes.NEW ? 0 : 1, 1);
    }

    @Override
    public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
        int size = Type.getType(descriptor).getSize();
        switch (opcode) {
            case Opcodes.GETSTATIC -> change(0, size);
            case Opcodes.PUTSTATIC -> change(size, 0);
            case Opcodes.GETFIELD -> change(1, size);
            default -> change(1 + size, 0);
        }
    }

    @Override
    public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
        change(slots(descriptor) + (opcode == Opcodes.INVOKESTATIC ? 0 : 1), result(descriptor));
    }

    @Override
    public void visitInvokeDynamicInsn(String name, String descriptor, Handle factory, Object... arguments) {
        change(slots(descriptor), result(descriptor));
    }

    /** Returns the number of slots of the arguments, without the receiver. */
    static int slots(String descriptor) {
        return (Type.getArgumentsAndReturnSizes(descriptor) >> 2) - 1;
    }

    private static int result(String descriptor) {
        return Type.getArgumentsAndReturnSizes(descriptor) & 3;
    }

    @Override
    public void visitJumpInsn(int opcode, Label label) {
        change(
                switch (opcode) {
                    case Opcodes.GOTO -> 0;
                    case Opcodes.IFEQ,
                            Opcodes.IFNE,
                            Opcodes.IFLT,
                            Opcodes.IFGE,
                            Opcodes.IFGT,
                            Opcodes.IFLE,
                            Opcodes.IFNULL,
                            Opcodes.IFNONNULL -> 1;
                    default -> 2;
                },
                0);
        atLabel.putIfAbsent(label, depth);
    }

    @Override
    public void visitLabel(Label label) {
        Integer known = atLabel.get(label);
        if (known != null) {
            depth = known;
            popped();
        }
    }

    @Override
    public void visitTryCatchBlock(Label start, Label end, Label handler, String type) {
        atLabel.put(handler, 1);
    }

    @Override
    public void visitTableSwitchInsn(int min, int max, Label byDefault, Label... labels) {
        switched(byDefault, labels);
    }

    @Override
    public void visitLookupSwitchInsn(Label byDefault, int[] keys, Label[] labels) {
        switched(byDefault, labels);
    }

    private void switched(Label byDefault, Label[] labels) {
        change(1, 0);
        atLabel.putIfAbsent(byDefault, depth);
        for (Label label : labels) {
            atLabel.putIfAbsent(label, depth);
        }
    }

    @Override
    public void visitLdcInsn(Object value) {
        change(0, value instanceof Long || value instanceof Double ? 2 : 1);
    }

    @Override
    public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
        change(dimensions, 1);
    }
}
