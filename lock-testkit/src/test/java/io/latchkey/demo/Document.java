// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.lock.LockClient;
import io.latchkey.lock.ReadWriteLock;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;

/**
 * A document of several parts, each in a node that tells which version of the document it is of and by which edit. An
 * edit rewrites them one by one, the last one together with a node for the edit: so edits with a node are complete. The
 * readers' findings are kept in nodes too.
 */
record Document(Site site, int parts) {
    private static final String PARTS = "parts";
    private static final String EDITS = "edits";
    private static final String READINGS = "readings";

    /** What is in one part. */
    record Version(int number, String edit) {
        static Version parse(String text) {
            String[] words = text.split(" ", 2);
            return new Version(Integer.parseInt(words[0]), words[1]);
        }

        @Override
        public String toString() {
            return number + " " + edit;
        }
    }

    /** What a reader has found, from the first part to the last. */
    record Reading(String name, List<Version> versions) {
        private static final String BETWEEN = "\n";

        static Reading of(Site.Entry entry) {
            return new Reading(
                    entry.name(),
                    Stream.of(entry.text().split(BETWEEN)).map(Version::parse).toList());
        }

        String text() {
            return versions.stream().map(Version::toString).collect(Collectors.joining(BETWEEN));
        }

        boolean isWhole() {
            return Set.copyOf(versions).size() == 1;
        }

        /** What was in the part that an edit writes first. */
        Version first() {
            return versions.get(0);
        }

        /** What was in the part that an edit writes last. */
        Version last() {
            return versions.get(versions.size() - 1);
        }
    }

    static ReadWriteLock lock(LockClient locks) {
        return locks.readWriteLock("/document-lock");
    }

    /** Writes a first version. */
    static Document begin(Site site, int parts) throws KeeperException, InterruptedException {
        Document document = new Document(site, parts);
        List<Op> ops = new ArrayList<>(List.of(site.folder(PARTS), site.folder(EDITS), site.folder(READINGS)));
        Version first = new Version(0, "none");
        IntStream.rangeClosed(1, parts)
                .mapToObj(part -> site.creation(path(part), first.toString()))
                .forEach(ops::add);
        site.write(ops);
        return document;
    }

    private static String path(int part) {
        return PARTS + '/' + part;
    }

    /** What is in a part now; parts are counted from 1. */
    Version part(int part) throws KeeperException, InterruptedException {
        return Version.parse(site.read(path(part)));
    }

    /** What writes a part. */
    Op rewriting(int part, Version version) {
        return site.change(path(part), version.toString());
    }

    /** The writes of the last part and of the node of the edit. */
    Op[] ending(Version version) {
        return new Op[] {rewriting(parts, version), site.creation(EDITS + '/' + version.edit(), "")};
    }

    /** What keeps a reading. */
    Op keeping(Reading reading) {
        return site.creation(READINGS + '/' + reading.name(), reading.text());
    }

    /** The complete edits. */
    Set<String> edits() throws KeeperException, InterruptedException {
        return site.names(EDITS);
    }

    /** What was found by all readers. */
    List<Reading> readings() throws KeeperException, InterruptedException {
        return site.entries(READINGS).stream().map(Reading::of).toList();
    }
}
