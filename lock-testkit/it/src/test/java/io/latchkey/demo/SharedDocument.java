// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.demo.Shift.Hold;
import io.latchkey.demo.Shift.Turn;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.ReadWriteLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException;

/**
 * A read-write lock. Editors rewrite a document part by part; a reader must find one version in all parts. Each part is
 * a node that has the number of the version and the name of the edit; the last part is written together with a node for
 * the edit, so edits with a node are complete. Readings are nodes too.
 */
record SharedDocument(int readers, int editors, Duration open) implements DemoScenario {
    private static final int PARTS = 3;
    private static final String EDITS = "edits";
    private static final String READINGS = "readings";
    /** The name of the reading after an edit, behind the edit's name. */
    private static final String READ_BACK = "-read-back";

    private static final int READS_BACK_ONCE_IN = 3;

    /** The content of one part. */
    private record Version(int number, String edit) {
        static Version parse(String text) {
            String[] words = text.split(" ", 2);
            return new Version(Integer.parseInt(words[0]), words[1]);
        }

        @Override
        public String toString() {
            return number + " " + edit;
        }
    }

    /** What a reader has found, from the first part, which an edit writes first, to the last. */
    private record Reading(String name, List<Version> versions) {
        static Reading of(ScenarioNodes.Entry entry) {
            return new Reading(
                    entry.name(), entry.text().lines().map(Version::parse).toList());
        }

        boolean isWhole() {
            return Set.copyOf(versions).size() == 1;
        }

        Version last() {
            return versions.get(PARTS - 1);
        }

        /** Found after an incomplete edit, whose editor lost the lock. */
        boolean isHalfWritten(Set<String> edits) {
            Version first = versions.get(0);
            return first.number() > last().number() && !edits.contains(first.edit());
        }
    }

    /** What is in ZooKeeper at the end. */
    private record Audit(int version, Set<String> edits, List<Reading> readings) {
        static Audit of(ScenarioNodes nodes) throws KeeperException, InterruptedException {
            return new Audit(
                    part(nodes, PARTS).number(),
                    nodes.names(EDITS),
                    nodes.entries(READINGS).stream().map(Reading::of).toList());
        }
    }

    private static ReadWriteLock lock(LockClient locks) {
        return locks.readWriteLock("/document-lock");
    }

    private static Version part(ScenarioNodes nodes, int part) throws KeeperException, InterruptedException {
        return Version.parse(nodes.read("part-" + part));
    }

    /** The reading counts only if it can be kept under the lease: then no writer held since the first part was read. */
    private static void read(ScenarioNodes nodes, String name, Hold hold) throws KeeperException, InterruptedException {
        List<String> versions = new ArrayList<>();
        for (int part = 1; part <= PARTS; part++) {
            versions.add(part(nodes, part).toString());
            Shift.think();
        }
        hold.enter(name, nodes.creation(READINGS + '/' + name, String.join("\n", versions)));
    }

    private static Turn reading(ScenarioNodes nodes, String name) {
        return new Turn(locks -> lock(locks).readLock(), hold -> {
            read(nodes, name, hold);
            return true;
        });
    }

    /**
     * Writes the next version; now and then stays as a reader, to read back what it wrote, while other readers come in.
     * An editor that loses the lock leaves the first parts new and the others old, until the next one writes them all.
     */
    private static Turn edit(ScenarioNodes nodes, String edit) {
        return new Turn(locks -> lock(locks).writeLock(), hold -> {
            String next = new Version(part(nodes, PARTS).number() + 1, edit).toString();
            for (int part = 1; part < PARTS; part++) {
                hold.write(nodes.change("part-" + part, next));
                Shift.think();
            }
            hold.enter(edit, nodes.change("part-" + PARTS, next), nodes.creation(EDITS + '/' + edit, ""));
            if (ThreadLocalRandom.current().nextInt(READS_BACK_ONCE_IN) == 0) {
                hold.downgrade(SharedDocument::lock);
                read(nodes, edit + READ_BACK, hold);
            }
            return true;
        });
    }

    @Override
    public String name() {
        return "document";
    }

    @Override
    public String summary() {
        return readers + " clients read a document of " + PARTS + " parts while " + editors + " rewrite it";
    }

    @Override
    public boolean play(ScenarioRun run) throws KeeperException, InterruptedException {
        run.announce("Each turn: take the read lock or the write lock, read or rewrite part by part, think.");
        ScenarioNodes nodes = run.nodes();
        nodes.write(nodes.creation(EDITS, ""), nodes.creation(READINGS, ""));
        for (int part = 1; part <= PARTS; part++) {
            nodes.write(nodes.creation("part-" + part, "0 none"));
        }
        List<Function<String, Turn>> roles =
                new ArrayList<>(Collections.nCopies(readers, name -> reading(nodes, name)));
        roles.addAll(Collections.nCopies(editors, name -> edit(nodes, name)));
        Shift shift = Shift.work(run, open, roles, done -> ScenarioRun.count(done) + " edits and readings");
        Audit audit = run.audit(locks -> lock(locks).readLock(), () -> Audit.of(nodes));
        List<Reading> readings = audit.readings();
        Set<String> edits = audit.edits();
        Set<String> entries = Stream.concat(edits.stream(), readings.stream().map(Reading::name))
                .collect(Collectors.toSet());
        long torn = readings.stream()
                .filter(reading -> !reading.isWhole() && !reading.isHalfWritten(edits))
                .count();
        run.claim(
                "no editor came between a reader's parts, in " + ScenarioRun.count(readings.size()) + " readings",
                torn == 0);
        run.claim(
                "version " + audit.version() + " at the end, after " + edits.size() + " edits",
                audit.version() == edits.size());
        List<Reading> readBack = readings.stream()
                .filter(reading -> reading.name().endsWith(READ_BACK))
                .toList();
        long own = readBack.stream()
                .filter(reading -> reading.isWhole()
                        && reading.name().equals(reading.last().edit() + READ_BACK))
                .count();
        run.claim(
                own + " of " + readBack.size() + " editors that stayed as readers read back their own edit",
                own == readBack.size());
        shift.claim("edit and reading", entries);
        return run.verdict("TORN READINGS: " + ScenarioRun.count(torn) + " of " + ScenarioRun.count(readings.size()));
    }
}
