// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.lock.LockClient;
import io.latchkey.lock.Semaphore;
import java.util.List;
import java.util.function.ToIntFunction;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;

/**
 * A node for each job, with the number of permits that it takes, created when the job begins and written again when it
 * ends. The numbers of these two transactions tell which jobs ran at the same time, whatever the workers and their
 * clocks say.
 */
record Jobs(Site site) {
    static final int PERMITS = 3;

    private static final String JOBS = "jobs";

    /**
     * A job.
     *
     * @param begin the transaction in which it began
     * @param end the transaction in which it ended; {@code begin} if it is not known to have lasted any longer
     */
    record Job(String name, int permits, long begin, long end) {
        static Job of(Site.Entry entry) {
            return new Job(entry.name(), Integer.parseInt(entry.text()), entry.created(), entry.changed());
        }

        boolean isDone() {
            return end > begin;
        }

        private boolean ranAt(long transaction) {
            return begin <= transaction && transaction <= end;
        }
    }

    static Semaphore lock(LockClient locks) {
        return locks.semaphore("/permits", PERMITS);
    }

    static Jobs begin(Site site) throws KeeperException, InterruptedException {
        site.write(List.of(site.folder(JOBS)));
        return new Jobs(site);
    }

    /** What begins a job. */
    Op beginning(String job, int permits) {
        return site.creation(JOBS + '/' + job, Integer.toString(permits));
    }

    /** What ends it. */
    Op ending(String job, int permits) {
        return site.change(JOBS + '/' + job, Integer.toString(permits));
    }

    /** All jobs that were begun. */
    List<Job> all() throws KeeperException, InterruptedException {
        return site.entries(JOBS).stream().map(Job::of).toList();
    }

    /** The most that there was at a time, if each job counts so much. It can only rise when a job begins. */
    static int most(List<Job> jobs, ToIntFunction<Job> count) {
        return jobs.stream()
                .mapToInt(job -> jobs.stream()
                        .filter(other -> other.ranAt(job.begin()))
                        .mapToInt(count)
                        .sum())
                .max()
                .orElse(0);
    }
}
