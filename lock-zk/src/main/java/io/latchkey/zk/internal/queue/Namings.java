// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

/** The namings, one for each layout of paths. */
public final class Namings {
    /** Paths of Curator's recipes. */
    public static final Naming CURATOR = SharedNaming.curator();
    /** Paths of kazoo's recipes. */
    public static final Naming KAZOO = SharedNaming.kazoo();
    /** Paths of Latchkey's own layout, which only Latchkey's clients use. */
    public static final Naming LATCHKEY = new OwnNaming(CURATOR, KAZOO);

    private Namings() {}
}
