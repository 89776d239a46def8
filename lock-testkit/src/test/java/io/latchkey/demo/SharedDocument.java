// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.demo.Document.Reading;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.zookeeper.KeeperException;

/** A read-write lock. Editors rewrite a document part by part; a reader must find one version in all parts. */
final class SharedDocument implements Scenario {
    private static final int PARTS = 3;

    private final int readers;
    private final int editors;
    private final Duration open;

    /** So many readers and editors, for so long. */
    SharedDocument(int readers, int editors, Duration open) {
        this.readers = readers;
        this.editors = editors;
        this.open = open;
    }

    /** What is in ZooKeeper at the end. */
    private record Audit(int version, Set<String> edits, List<Reading> readings) {
        static Audit of(Document document) throws KeeperException, InterruptedException {
            return new Audit(document.part(PARTS).number(), document.edits(), document.readings());
        }

        Set<String> entries() {
            Set<String> entries = new HashSet<>(edits);
            readings.forEach(reading -> entries.add(reading.name()));
            return entries;
        }

        /** Those that an editor came between. */
        long torn() {
            return readings.stream()
                    .filter(reading -> !reading.isWhole() && !isHalfWritten(reading))
                    .count();
        }

        long halfWritten() {
            return readings.stream().filter(this::isHalfWritten).count();
        }

        /** Found after an incomplete edit, whose editor lost the lock. */
        private boolean isHalfWritten(Reading reading) {
            return reading.first().number() > reading.last().number()
                    && !edits.contains(reading.first().edit());
        }

        List<Reading> readBack() {
            return readings.stream()
                    .filter(reading -> reading.name().endsWith(Editor.READ_BACK))
                    .toList();
        }

        private static boolean isOfItsEditor(Reading readBack) {
            return readBack.isWhole() && readBack.name().equals(readBack.last().edit() + Editor.READ_BACK);
        }
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
    public boolean play(Stage stage) throws KeeperException, InterruptedException {
        stage.announce("Each turn: take the read lock or the write lock, read or rewrite part by part, think.");
        Document document = Document.begin(stage.site(), PARTS);
        List<Role> roles = new ArrayList<>(Collections.nCopies(readers, new Reader(document)));
        roles.addAll(Collections.nCopies(editors, new Editor(document)));
        Shift shift = Shift.work(stage, open, roles, SharedDocument::progress);
        Audit audit = stage.audit(locks -> Document.lock(locks).readLock(), () -> Audit.of(document));

        Report report = new Report(stage);
        report.figure("edits", audit.edits().size());
        report.figure("readings", audit.readings().size());
        report.figure("found half-written", audit.halfWritten() + ", after an editor that lost the lock");
        shift.figures(report, audit.entries());
        report.claim(
                "no editor came between a reader's parts, in "
                        + Report.count(audit.readings().size()) + " readings",
                audit.torn() == 0);
        report.claim(
                "version " + audit.version() + " at the end, after "
                        + audit.edits().size() + " edits",
                audit.version() == audit.edits().size());
        List<Reading> readBack = audit.readBack();
        long own = readBack.stream().filter(Audit::isOfItsEditor).count();
        report.claim(
                own + " of " + readBack.size() + " editors that stayed as readers read back their own edit",
                own == readBack.size());
        shift.claim(report, "edit and reading", audit.entries());
        return report.verdict("TORN READINGS: " + Report.count(audit.torn()) + " of "
                + Report.count(audit.readings().size()));
    }

    private static String progress(Books books) {
        return Report.count(books.confirmations()) + " edits and readings";
    }
}
