// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.demo.Shift.Turn;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.Semaphore;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import org.apache.zookeeper.KeeperException;

/**
 * A semaphore. Workers do jobs of different weight; those that run at a time must not take more than the permits. A job
 * is a node, created when it begins and written again when it ends: the numbers of these two transactions tell which
 * jobs ran at the same time, whatever the workers and their clocks say.
 */
record Workers(int workers, Duration open) implements DemoScenario {
    private static final int PERMITS = 3;
    private static final String JOBS = "jobs";

    private static Semaphore lock(LockClient locks) {
        return locks.semaphore("/permits", PERMITS);
    }

    private static Turn job(ScenarioNodes nodes, String name) {
        int permits = ThreadLocalRandom.current().nextInt(1, PERMITS + 1);
        String node = JOBS + '/' + name;
        return new Turn(locks -> lock(locks).permits(permits), hold -> {
            hold.write(nodes.creation(node, Integer.toString(permits)));
            Shift.think();
            hold.enter(name, nodes.change(node, Integer.toString(permits)));
            return true;
        });
    }

    @Override
    public String name() {
        return "workers";
    }

    @Override
    public String summary() {
        return workers + " clients do jobs that take 1 to " + PERMITS + " of " + PERMITS + " permits";
    }

    @Override
    public boolean play(ScenarioRun run) throws KeeperException, InterruptedException {
        run.announce("Each job: take the permits, write that it begins, think, write that it ends.");
        ScenarioNodes nodes = run.nodes();
        nodes.write(nodes.creation(JOBS, ""));
        Shift shift = Shift.work(
                run,
                open,
                Collections.nCopies(workers, name -> job(nodes, name)),
                done -> ScenarioRun.count(done) + " jobs done");
        List<ScenarioNodes.Entry> begun = run.audit(locks -> lock(locks).permits(PERMITS), () -> nodes.entries(JOBS));
        Set<String> done = begun.stream()
                .filter(job -> job.changed() > job.created())
                .map(ScenarioNodes.Entry::name)
                .collect(Collectors.toSet());
        int inUse = most(begun);
        run.claim("never more than " + PERMITS + " permits in use, at most " + inUse, inUse <= PERMITS);
        shift.claim("job", done);
        return run.verdict("OVERLOADED: " + inUse + " permits in use at a time, where there are " + PERMITS);
    }

    /** The most permits that jobs took at a time. It can only rise when a job begins. */
    private static int most(List<ScenarioNodes.Entry> jobs) {
        return jobs.stream()
                .mapToInt(job -> jobs.stream()
                        .filter(other -> other.created() <= job.created() && job.created() <= other.changed())
                        .mapToInt(other -> Integer.parseInt(other.text()))
                        .sum())
                .max()
                .orElse(0);
    }
}
