// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.demo.Jobs.Job;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.zookeeper.KeeperException;

/** A semaphore. Workers do jobs of different weight; those that run at a time must not take more than the permits. */
final class Workers implements Scenario {
    private final int workers;
    private final Duration open;

    /** So many workers, for so long. */
    Workers(int workers, Duration open) {
        this.workers = workers;
        this.open = open;
    }

    @Override
    public String name() {
        return "workers";
    }

    @Override
    public String summary() {
        return workers + " clients do jobs that take 1 to " + Jobs.PERMITS + " of " + Jobs.PERMITS + " permits";
    }

    @Override
    public boolean play(Stage stage) throws KeeperException, InterruptedException {
        stage.announce("Each job: take the permits, write that it begins, think, write that it ends.");
        Jobs jobs = Jobs.begin(stage.site());
        Shift shift = Shift.work(stage, open, Collections.nCopies(workers, new Worker(jobs)), Workers::progress);
        List<Job> begun = stage.audit(locks -> Jobs.lock(locks).permits(Jobs.PERMITS), jobs::all);
        Set<String> done = begun.stream().filter(Job::isDone).map(Job::name).collect(Collectors.toSet());
        int inUse = Jobs.most(begun, Job::permits);

        Report report = new Report(stage);
        report.figure("jobs done", done.size());
        report.figure("jobs broken off", begun.size() - done.size());
        report.figure("at a time, at most", Jobs.most(begun, job -> 1));
        shift.figures(report, done);
        report.claim("never more than " + Jobs.PERMITS + " permits in use, at most " + inUse, inUse <= Jobs.PERMITS);
        shift.claim(report, "job", done);
        return report.verdict("OVERLOADED: " + inUse + " permits in use at a time, where there are " + Jobs.PERMITS);
    }

    private static String progress(Books books) {
        return Report.count(books.confirmations()) + " jobs done";
    }
}
