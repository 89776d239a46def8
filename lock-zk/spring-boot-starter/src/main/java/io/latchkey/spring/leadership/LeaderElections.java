// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.leadership;

import io.latchkey.lock.BadPathException;
import io.latchkey.lock.Leadership;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.Mutex;
import io.latchkey.spring.boot.LatchkeyLifecycle;
import java.lang.reflect.UndeclaredThrowableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.SmartLifecycle;

/**
 * The candidates of this application: one for each role. They queue when the application has started, and leave before
 * its lock client is closed.
 */
public final class LeaderElections implements SmartLifecycle {
    private static final Logger LOG = LoggerFactory.getLogger(LeaderElections.class);
    /** Between web server and client. */
    private static final int PHASE = LatchkeyLifecycle.PHASE + 512;

    private final LockClient client;
    private final String path;
    private final Duration grace;
    private final ApplicationEventPublisher events;
    private final Map<String, Optional<LeaderTask>> roles = new LinkedHashMap<>();
    private final Map<String, Leadership> candidates = new LinkedHashMap<>();
    private boolean running;

    LeaderElections(
            LockClient client,
            String path,
            Duration grace,
            Collection<String> withEventsOnly,
            Collection<LeaderTask> tasks,
            ApplicationEventPublisher events) {
        this.client = client;
        this.path = path;
        this.grace = grace;
        this.events = events;
        for (LeaderTask task : tasks) {
            if (roles.put(task.role(), Optional.of(task)) != null) {
                throw new IllegalStateException("Two beans of LeaderTask have the role \"" + task.role()
                        + "\": one instance would be two candidates. Give one of them another role.");
            }
        }
        withEventsOnly.forEach(role -> roles.putIfAbsent(role, Optional.empty()));
        roles.keySet().forEach(role -> {
            if (role.contains("/")) {
                throw new IllegalStateException("The role \"" + role
                        + "\" has a slash, and a role is the last level of a path. Give it a name without one, such as \""
                        + role.replace('/', '-') + "\"; latchkey.leadership.path is the path above all roles.");
            }
            var unused = mutex(role); // a bad path fails here
        });
    }

    private Mutex mutex(String role) {
        try {
            return client.mutex(path + "/" + role);
        } catch (BadPathException bad) {
            throw new IllegalStateException(
                    "The role \"" + role + "\" below latchkey.leadership.path (" + path + ") makes a bad path: "
                            + bad.getMessage(),
                    bad);
        }
    }

    /** {@return the roles that this application is a candidate for} */
    public Set<String> roles() {
        return new LinkedHashSet<>(roles.keySet());
    }

    /**
     * Returns whether this instance leads a role now. Sends nothing.
     *
     * @param role the role
     * @return whether it leads; {@code false} if it is no candidate
     */
    public boolean isLeader(String role) {
        return candidate(role).map(Leadership::isLeader).orElse(false);
    }

    /**
     * Returns the candidate for a role, for its epoch, its state, and the other candidates.
     *
     * @param role the role
     * @return the candidate; empty if there is none, or the application has not started or stops
     */
    public synchronized Optional<Leadership> candidate(String role) {
        return Optional.ofNullable(candidates.get(role));
    }

    /** Begins to queue for all roles. */
    @Override
    public synchronized void start() {
        if (!running) {
            running = true;
            roles.forEach((role, task) -> candidates.put(role, started(role, task)));
        }
    }

    private Leadership started(String role, Optional<LeaderTask> task) {
        Leadership.Reports reports = Leadership.Reports.to(LOG::warn);
        Leadership candidate = task.map(each -> Leadership.start(mutex(role), lease -> lead(each, lease), reports))
                .orElseGet(() -> Leadership.start(mutex(role), new Publisher(role, reports)));
        var unused = candidate.ended().whenComplete((nothing, failure) -> {
            if (failure != null) {
                LOG.error("This instance is no candidate for the role {} any more", role, failure);
            }
        });
        return candidate;
    }

    private Leadership.Next lead(LeaderTask task, Lease lease) throws Exception {
        publishElected(task.role(), lease);
        try {
            return task.lead(lease);
        } finally {
            // What ended the work is for the work: a listener that waits for something would not be able to.
            boolean interrupted = Thread.interrupted();
            publishTermOver(task.role(), lease);
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void publishElected(String role, Lease lease) {
        publish(
                new LeaderElectedEvent(role, lease),
                () -> isOver(role, lease),
                failed -> LOG.error(
                        "A listener threw on the LeaderElectedEvent of the role {}. This instance {} the role, with"
                                + " epoch {}. Listeners that come after that one were not called",
                        role,
                        lease.isValid() ? "leads" : "does not lead any more",
                        lease.token(),
                        failed));
    }

    private void publishTermOver(String role, Lease lease) {
        publish(
                new LeaderTermOverEvent(role, lease),
                () -> true, // by what ended the term, and came late
                failed -> LOG.error(
                        "A listener threw on the LeaderTermOverEvent of the role {}. The term with epoch {} is over, and"
                                + " the candidate goes on as if the listener had returned. Listeners that come after that"
                                + " one were not called",
                        role,
                        lease.token(),
                        failed));
    }

    /** Whether the term has ended, or is asked to end. */
    private boolean isOver(String role, Lease lease) {
        return !lease.isValid()
                || candidate(role)
                        .map(each -> each.state() != Leadership.State.LEADING)
                        .orElse(true);
    }

    /**
     * An exception of a listener does not end the candidacy: it says nothing about the leadership.
     *
     * @param endsListeners whether listeners are interrupted now, so that one that ends by that has not failed
     */
    private void publish(Object event, BooleanSupplier endsListeners, Consumer<Throwable> log) {
        try {
            events.publishEvent(event);
        } catch (Throwable failed) {
            boolean interrupted =
                    failed instanceof UndeclaredThrowableException && failed.getCause() instanceof InterruptedException;
            if (!interrupted || !endsListeners.getAsBoolean()) {
                log.accept(failed);
            }
            if (interrupted) {
                Thread.currentThread().interrupt(); // the term is over, or other code ends the candidate
            }
        }
    }

    private final class Publisher implements Leadership.Listener {
        private final String role;
        private final Leadership.Reports reports;

        Publisher(String role, Leadership.Reports reports) {
            this.role = role;
            this.reports = reports;
        }

        @Override
        public void elected(Lease lease) {
            publishElected(role, lease);
        }

        @Override
        public void termOver(Lease lease) {
            publishTermOver(role, lease);
        }

        @Override
        public void mutexRefused(Throwable why, Duration pause) {
            reports.mutexRefused(why, pause);
        }

        @Override
        public void bodyNotEnded(Lease lease, Duration overdue) {
            reports.bodyNotEnded(lease, overdue);
        }

        @Override
        public void exceptionDropped(Lease lease, Throwable thrown) {
            reports.exceptionDropped(lease, thrown);
        }
    }

    /** Ends all candidates: interrupts the work, and waits for it for the time of the grace. */
    @Override
    public void stop() {
        Map<String, Leadership> ending;
        synchronized (this) {
            ending = new LinkedHashMap<>(candidates);
            candidates.clear();
            running = false;
        }
        // All are interrupted at once, and share the time.
        List<Thread> closing = new ArrayList<>();
        ending.forEach((role, candidate) -> {
            Thread thread = new Thread(() -> close(role, candidate), "latchkey-leader-end");
            thread.setDaemon(true);
            thread.start();
            closing.add(thread);
        });
        for (Thread each : closing) {
            try {
                each.join();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
                return; // they are closed in the background
            }
        }
    }

    private void close(String role, Leadership candidate) {
        if (!candidate.close(grace)) {
            LOG.warn("The work of the leader of {} has not ended within the grace. Another instance may lead", role);
        }
    }

    /** Returns whether the candidates queue or lead. */
    @Override
    public synchronized boolean isRunning() {
        return running;
    }

    /** Returns a phase that ends before the lock client does. */
    @Override
    public int getPhase() {
        return PHASE;
    }
}
