// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import java.util.Collection;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The JMH benchmark of an uncontended lock, with one thread. The time is that of the acquisition; the release is not
 * measured.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class FreeLock {
    /** A {@link Contestant}. */
    @Param("LATCHKEY")
    public String contestant;

    /** A {@link Recipe}. */
    @Param("MUTEX")
    public String recipe;

    @Param("127.0.0.1:2181")
    public String servers;

    @Param("/bench/free")
    public String path;

    private static final Collection<Client> OPENED = new ConcurrentLinkedQueue<>();

    private Client.Door door;
    private Client.Held held;

    @Setup(Level.Trial)
    public void open() throws Exception {
        Contestant who = Contestant.valueOf(contestant);
        Recipe what = Recipe.valueOf(recipe);
        if (what == Recipe.FAILED_TRY) {
            var unused = opened(who).door(Recipe.MUTEX, path).acquire();
        }
        door = opened(who).door(what, path);
    }

    private Client opened(Contestant who) throws Exception {
        Client client = who.connect(servers);
        OPENED.add(client);
        return client;
    }

    @Benchmark
    public Client.Held acquire() throws Exception {
        held = door.acquire();
        return held;
    }

    @TearDown(Level.Invocation)
    public void release() throws Exception {
        held.release();
    }

    /**
     * Closes the client after the run: JMH tears down before it asks its profilers, and closing takes time and requests
     * that belong to no operation.
     */
    static void closeClients() {
        Client.closeAll(OPENED);
        OPENED.clear();
    }
}
