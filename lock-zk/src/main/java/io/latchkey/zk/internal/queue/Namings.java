// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

/** The namings that there are, one for each layout of paths. */
public final class Namings {
    /** Paths of Curator's recipes. */
    public static final Naming CURATOR = SharedNaming.curator();
    /** Paths of kazoo's recipes. */
    public static final Naming KAZOO = SharedNaming.kazoo();
    /** Paths where nobody but Latchkey stands. */
    public static final Naming LATCHKEY = new OwnNaming(CURATOR, KAZOO);

    private Namings() {}
}
