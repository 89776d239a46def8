// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import com.google.common.collect.Multimap;
import com.google.common.collect.Multiset;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.recipe.Recipe;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

/**
 * What a client's machine has come to, read out of its objects: two that are alike, field by field, do the same from
 * then on, whatever they were told before. Left out are the simulation's own objects, which are looked at elsewhere,
 * the JDK's machinery, which keeps nothing between two steps, and what is done when a future completes: there is one
 * worker for each.
 */
final class Inside {
    /** Fields that have the number of a transaction. */
    private static final Set<String> ZXIDS = Set.of("token", "czxid", "mzxid", "zxid", "changedBy", "dataSince");

    private static final String PORT = SimulatedPort.class.getName() + "$";
    private static final String TIMER = SimulatedTime.class.getName() + "$Due";

    private static final int NONE = -7;
    private static final int AGAIN = -8;

    private final IdentityHashMap<Class<?>, Shape> shapes = new IdentityHashMap<>();
    private final IdentityHashMap<Object, Integer> met = new IdentityHashMap<>(256);
    private final Map<Object, Integer> constants = new HashMap<>();
    private Fingerprint print = new Fingerprint();

    /** How an object is looked at. */
    private enum Kind {
        TEXT,
        NAME,
        NUMBER,
        NODE,
        /** Never changes, and is as good as any that it equals. */
        CONSTANT,
        DATA,
        SPAN,
        OPTIONAL,
        MAP,
        MULTIMAP,
        MULTISET,
        COLLECTION,
        REFERENCE,
        FUTURE,
        ARRAY,
        FIELDS,
        OTHER
    }

    /**
     * A class.
     *
     * @param number in the order of meeting them
     * @param isValue whether two that are equal are as good as one: else it matters which is which
     * @param fields those that count
     */
    private record Shape(Kind kind, int number, boolean isValue, List<Slot> fields) {}

    private record Slot(Field field, boolean isZxid) {}

    /** Adds what these have come to. */
    void addTo(Fingerprint to, List<?> roots) {
        print = to;
        met.clear();
        roots.forEach(this::add);
    }

    private void add(Object value) {
        if (value == null) {
            print.add(NONE);
            return;
        }
        Shape shape = shapeOf(value);
        if (!shape.isValue()) {
            Integer before = met.putIfAbsent(value, met.size());
            if (before != null) {
                print.add(AGAIN);
                print.add(before);
                return;
            }
        }
        switch (shape.kind()) {
            case TEXT -> print.add((String) value);
            case NAME -> print.add(((Enum<?>) value).name());
            // Atomic numbers have the hash of an object.
            case NUMBER ->
                print.add(value instanceof Number number ? Long.hashCode(number.longValue()) : value.hashCode());
            case NODE -> print.add(((NodeName) value).text());
            case CONSTANT -> print.add(constants.computeIfAbsent(value, fresh -> constants.size()));
            case DATA -> print.add((byte[]) value);
            case SPAN -> print.add(((Duration) value).toNanos());
            case OPTIONAL -> add(((Optional<?>) value).orElse(null));
            case MAP -> addAll((Map<?, ?>) value);
            case MULTIMAP ->
                ((Multimap<?, ?>) value).forEach((key, one) -> {
                    add(key);
                    add(one);
                });
            case MULTISET, COLLECTION -> addAll((Collection<?>) value);
            case REFERENCE -> add(((AtomicReference<?>) value).get());
            case FUTURE -> add((CompletableFuture<?>) value);
            case ARRAY -> {
                for (int i = 0; i < Array.getLength(value); i++) {
                    add(Array.get(value, i));
                }
            }
            case FIELDS -> addFields(shape, value);
            case OTHER -> print.add(shape.number());
        }
    }

    private void addAll(Map<?, ?> all) {
        print.add(all.size());
        all.forEach((key, value) -> {
            add(key);
            add(value);
        });
    }

    private void addAll(Collection<?> all) {
        print.add(all.size());
        for (Object one : all) {
            add(one);
        }
    }

    private void add(CompletableFuture<?> future) {
        boolean failed = future.isCompletedExceptionally();
        print.add((future.isDone() ? 1 : 0) + (failed ? 2 : 0));
        if (future.isDone() && !failed) {
            add(future.join());
        }
    }

    private void addFields(Shape shape, Object value) {
        print.add(shape.number());
        for (Slot slot : shape.fields()) {
            try {
                if (slot.isZxid()) {
                    print.addZxid(slot.field().getLong(value));
                } else {
                    add(slot.field().get(value));
                }
            } catch (IllegalAccessException impossible) {
                throw new IllegalStateException(impossible);
            }
        }
    }

    private Shape shapeOf(Object value) {
        Shape known = shapes.get(value.getClass());
        if (known == null) {
            Class<?> type = value.getClass();
            Kind kind = kindOf(value, type);
            boolean isValue = value instanceof Record
                    || kind.compareTo(Kind.OPTIONAL) <= 0
                    || type.getName().startsWith("java.util.ImmutableCollections");
            known = new Shape(kind, shapes.size(), isValue, kind == Kind.FIELDS ? fields(type) : List.of());
            shapes.put(type, known);
        }
        return known;
    }

    private static Kind kindOf(Object value, Class<?> type) {
        if (value instanceof String) {
            return Kind.TEXT;
        } else if (value instanceof Enum<?>) {
            return Kind.NAME;
        } else if (value instanceof AtomicReference<?>) {
            return Kind.REFERENCE;
        } else if (value instanceof Number || value instanceof Boolean || value instanceof Character) {
            return Kind.NUMBER;
        } else if (value instanceof NodeName) {
            return Kind.NODE;
        } else if (value instanceof Recipe) {
            return Kind.CONSTANT;
        } else if (value instanceof byte[]) {
            return Kind.DATA;
        } else if (value instanceof Duration) {
            return Kind.SPAN;
        } else if (value instanceof Optional<?>) {
            return Kind.OPTIONAL;
        } else if (value instanceof Map<?, ?>) {
            return Kind.MAP;
        } else if (value instanceof Multimap<?, ?>) {
            return Kind.MULTIMAP;
        } else if (value instanceof Multiset<?>) {
            return Kind.MULTISET;
        } else if (value instanceof Collection<?>) {
            return Kind.COLLECTION;
        } else if (value instanceof CompletableFuture<?>) {
            return Kind.FUTURE;
        } else if (type.isArray()) {
            return Kind.ARRAY;
        }
        String name = type.getName();
        boolean counts = name.startsWith("io.latchkey.zk.")
                || name.startsWith("io.latchkey.lock.")
                || name.startsWith(TIMER)
                || name.startsWith(PORT);
        return counts ? Kind.FIELDS : Kind.OTHER;
    }

    private static List<Slot> fields(Class<?> type) {
        List<Slot> fields = new ArrayList<>();
        for (Class<?> at = type; at != null && at != Object.class; at = at.getSuperclass()) {
            for (Field field : at.getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers()) && !isCount(at, field.getName())) {
                    field.setAccessible(true);
                    fields.add(new Slot(field, field.getType() == long.class && ZXIDS.contains(field.getName())));
                }
            }
        }
        return fields;
    }

    /**
     * Whether it only says how many came before, is looked at elsewhere, is what a client is made of, or what is told
     * of it.
     */
    private static boolean isCount(Class<?> type, String field) {
        boolean ofRequest = type.getName().startsWith(PORT) && (field.equals("number") || field.equals("after"));
        boolean ofClient = (type == Engine.class || type == ClientContext.class)
                && (field.equals("config") || field.equals("ownerData"));
        boolean isNews = type.getName().startsWith("io.latchkey.zk.internal.") && field.equals("signals");
        return ofRequest || ofClient || isNews || (type.getName().equals(TIMER) && field.equals("number"));
    }
}
