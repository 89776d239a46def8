// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import com.google.common.collect.Comparators;
import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.Acquirable;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.MultiLock;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.Semaphore;
import io.latchkey.lock.SessionStatus;
import io.latchkey.lock.StripedMutex;
import io.latchkey.lock.admin.Diagnosis;
import io.latchkey.lock.admin.LockListing;
import io.latchkey.zk.internal.locks.EngineLockClient;
import io.latchkey.zk.internal.locks.LockPaths;
import io.latchkey.zk.internal.queue.PrintableText;
import io.latchkey.zk.internal.store.LinkedLibraries;
import io.latchkey.zk.internal.store.ZooKeeperHandles;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;

/**
 * A client for locks on ZooKeeper. It has one session at a time and serves any number of threads and locks. Create one
 * for a process, and close it when the process ends.
 *
 * <pre>{@code
 * try (LockClient locks = ZkLockClient.connect("zk1:2181,zk2:2181,zk3:2181/app");
 *         Lease lease = locks.mutex("/orders/42").acquire(Duration.ofSeconds(5))) { // throws if not in time
 *     store.write(42, order, lease.token());
 * }
 * }</pre>
 *
 * <p>A client that {@linkplain #connect(String) connects} by itself opens a new session when the previous one has
 * expired. Then its leases are lost, and its waiting requests queue again within their timeouts. A client that
 * {@linkplain #using(ZooKeeper) borrows} a handle ends with that handle's session.
 */
// The class is long because the contract of each setting of a client is in it.
public final class ZkLockClient implements LockClient {
    private final EngineLockClient locks;

    private ZkLockClient(EngineLockClient locks) {
        this.locks = locks;
    }

    /**
     * Connects a client to the servers, with the default of every other setting of {@link #builder()}.
     *
     * @param connectString the servers as {@code host:port[,host:port...]}, with an optional chroot at the end, which
     *     is created if it does not exist
     * @return a connected client
     * @throws IllegalArgumentException if the connect string is malformed, or can only be a mistake, as
     *     {@link Builder#connectString} says
     * @throws IllegalStateException if a library on the class path is too old; the message names it
     * @throws InterruptedException if the current thread is interrupted before or while it waits; nothing is left
     * @throws LockServiceUnavailableException if no server has a known address, or none responds in time; its reason and
     *     message tell whether TLS is why
     * @throws AccessDeniedException if the chroot does not exist and this client may not create it
     */
    public static ZkLockClient connect(String connectString) throws InterruptedException {
        return builder().connectString(connectString).build();
    }

    /**
     * Returns a client that uses the session of a handle that the caller owns. The handle is never closed. After its
     * session has expired, calls of this client throw {@link io.latchkey.lock.SessionExpiredException}. When a request
     * leaves a queue, all watches of the handle on the nodes that it watched are removed. So do not watch the paths or
     * nodes of locks through the same handle.
     *
     * <p>On the handle's event thread, where its watchers run, a call that waits would wait for itself. There acquiring
     * and all questions to the servers fail at once with {@link IllegalStateException}. {@code release()} and {@code
     * close()} send the deletions and do not wait, and the outcome of a release is {@link
     * io.latchkey.lock.ReleaseOutcome#PENDING}.
     *
     * <p>The first lease is granted a {@linkplain Builder#validityMargin validity margin} after this call at the
     * earliest, by default a quarter of the session timeout. The handle may have connected just now, and nothing proves
     * before that how long the servers keep its session. A {@code tryAcquire} with less time than that returns empty
     * until then.
     *
     * <p>After {@code close()} the client leaves nothing on the handle, with one exception: if the response to the
     * create of a node was lost and the node was not found since, the server may still create it when the session
     * reconnects. Then the closed client keeps a watch and a timer thread until it has deleted that node or the session
     * has ended.
     *
     * @param zooKeeper a live handle
     * @return a connected client; closing it deletes its nodes and leaves the handle open
     * @throws IllegalArgumentException if the handle's configuration is unfit for locks, such as one with {@code
     *     zookeeper.disableAutoWatchReset}
     * @throws InterruptedException if the current thread is interrupted before or while it waits; nothing is left
     * @throws LockServiceUnavailableException if the handle is not connected within its session timeout, or within ten
     *     seconds if it has not connected yet
     */
    public static ZkLockClient using(ZooKeeper zooKeeper) throws InterruptedException {
        return builder().using(zooKeeper).build();
    }

    /**
     * Returns a new builder of a client.
     *
     * @return a builder; {@link Builder#connectString} or {@link Builder#using} is still to be called
     * @throws IllegalStateException if ZooKeeper's client, Guava or slf4j-api on the class path is older than this
     *     library needs
     */
    public static Builder builder() {
        LinkedLibraries.check();
        return new Builder();
    }

    /** Returns the mutex at a path: one holder at a time. See {@link LockClient#mutex}. */
    @Override
    public Mutex mutex(String path) {
        return locks.mutex(path);
    }

    /** Returns the read-write lock at a path: many readers, or one writer. See {@link LockClient#readWriteLock}. */
    @Override
    public ReadWriteLock readWriteLock(String path) {
        return locks.readWriteLock(path);
    }

    /**
     * Returns the semaphore at a path, of which all clients declare the same number of permits. See {@link
     * LockClient#semaphore}.
     */
    @Override
    public Semaphore semaphore(String path, int permits) {
        return locks.semaphore(path, permits);
    }

    /**
     * Returns a lock that acquires all of its members together, or none. See {@link
     * LockClient#multiLock(Acquirable...)}.
     */
    @Override
    public MultiLock multiLock(Acquirable... members) {
        return locks.multiLock(members);
    }

    /**
     * Returns a fixed number of mutexes under one path, each of them shared by many keys. See {@link
     * LockClient#stripedMutex}.
     */
    @Override
    public StripedMutex stripedMutex(String path, int stripes) {
        return locks.stripedMutex(path, stripes);
    }

    /** Returns what this client holds and waits for, and the suspected deadlocks. See {@link LockClient#diagnose}. */
    @Override
    public Diagnosis diagnose() {
        return locks.diagnose();
    }

    /** Lists the locks at and below a path, with their holders and waiters. See {@link LockClient#listLocks}. */
    @Override
    public LockListing listLocks(String root) throws InterruptedException {
        return locks.listLocks(root);
    }

    /** Lists the locks as {@link #listLocks} does, without waiting. See {@link LockClient#listLocksAsync}. */
    @Override
    public CompletableFuture<LockListing> listLocksAsync(String root) {
        return locks.listLocksAsync(root);
    }

    /** Lists the locks at one path, without those below it. See {@link LockClient#listLocksAt}. */
    @Override
    public LockListing listLocksAt(String path) throws InterruptedException {
        return locks.listLocksAt(path);
    }

    /** Returns what this client knows of its session, without asking a server. See {@link LockClient#session}. */
    @Override
    public SessionStatus session() {
        return locks.session();
    }

    /** Closes this client: its leases are lost, and its waiting requests fail. See {@link LockClient#close()}. */
    @Override
    public void close() {
        locks.close();
    }

    /** Lets the holders of this client finish, and closes it then. See {@link LockClient#close(Duration)}. */
    @Override
    public void close(Duration grace) {
        locks.close(grace);
    }

    @Override
    public String toString() {
        return locks.toString();
    }

    /**
     * A builder of a client. Call {@link #connectString} or {@link #using}; all other settings have defaults.
     *
     * <ul>
     *   <li><b>Servers</b>: {@link #connectString}, {@link #using}
     *   <li><b>Session and time</b>: {@link #sessionTimeout}, {@link #connectTimeout}, {@link #validityMargin}
     *   <li><b>Access</b>: {@link #clientConfig} for TLS and SASL, {@link #auth}, {@link #acl}
     *   <li><b>Shared with other clients</b>: {@link #basePath}, {@link #layout}, {@link #ownerLabel}
     *   <li><b>Load and limits</b>: {@link #localTurns}, {@link #sessionNodeBytes}
     *   <li><b>Callbacks and observers</b>: {@link #callbackExecutor}, {@link #observer}
     * </ul>
     */
    public static final class Builder {
        private static final Duration LONGEST_SPAN = Duration.ofNanos(Long.MAX_VALUE);

        private final ClientSettings settings = new ClientSettings();

        private Builder() {}

        // ---- servers

        /**
         * Sets the servers to connect to, as {@code host:port[,host:port...][/chroot]}; required unless {@link #using}
         * is called. The chroot comes once, at the end. It is created if it is missing, also if it is deleted later.
         * {@link #build} refuses a text that can only be a mistake: a chroot behind each server, an empty entry, a
         * server named twice, a host or port that no server has.
         *
         * @param servers the connect string
         * @return this builder
         */
        public Builder connectString(String servers) {
            settings.connectString = Objects.requireNonNull(servers, "connectString");
            return this;
        }

        /**
         * Sets a handle of the caller, whose session the client uses in place of one of its own; required unless
         * {@link #connectString} is called. See {@link ZkLockClient#using(ZooKeeper)}.
         *
         * @param zooKeeper a live handle
         * @return this builder
         */
        public Builder using(ZooKeeper zooKeeper) {
            settings.borrowed = Objects.requireNonNull(zooKeeper, "zooKeeper");
            return this;
        }

        // ---- session and time

        /**
         * Sets the session timeout to ask for, ten seconds by default: how long the servers keep the session of a
         * silent client, and so how long a crashed holder may block others. The servers may shorten or lengthen it. A
         * borrowed handle keeps its own; this counts for one that has not connected yet.
         *
         * @param timeout from a millisecond to {@link Integer#MAX_VALUE} of them
         * @return this builder
         * @throws IllegalArgumentException if it is less or more
         */
        public Builder sessionTimeout(Duration timeout) {
            settings.sessionTimeout = positive(timeout, "sessionTimeout");
            if (timeout.compareTo(Duration.ofMillis(1)) < 0
                    || timeout.compareTo(Duration.ofMillis(Integer.MAX_VALUE)) > 0) {
                throw new IllegalArgumentException("sessionTimeout is out of range: " + timeout);
            }
            return this;
        }

        /**
         * Sets how long {@link #build()} waits for the first connection: by default the session timeout, or one to four
         * seconds if every server refuses the connection. Zero does not wait. What is left of it is also the time for
         * the check of the login and the creation of a missing chroot; by default, that is ten seconds at least.
         *
         * <p>If this is set, {@link #build()} also waits for servers that have not started yet and for host names that
         * do not resolve yet, such as those of a service whose pods are not ready. Names are looked up again at each
         * attempt to connect; a JVM remembers for 10 s that a name did not resolve, so give more than that. With zero
         * the client goes on in the background, and the first request creates a missing chroot. By default,
         * {@code build()} fails at once if no name resolves.
         *
         * @param timeout zero or more
         * @return this builder
         * @throws IllegalArgumentException if it is negative
         */
        public Builder connectTimeout(Duration timeout) {
            Objects.requireNonNull(timeout, "connectTimeout");
            if (timeout.isNegative()) {
                throw new IllegalArgumentException("connectTimeout is negative: " + timeout);
            }
            settings.connectTimeout = measurable(timeout);
            return this;
        }

        /**
         * Sets how long it may take until the leader hears from the server that this client talks to: by default a
         * quarter of the session timeout. That is half a tick and some slack. With a larger margin holders give up
         * earlier; a smaller one relies on faster servers. In sessions of less than 5.3 seconds, or longer than asked
         * for, the default is up to a third of the timeout, which is also the most that is used.
         *
         * @param margin more than zero
         * @return this builder
         * @throws IllegalArgumentException if it is not
         */
        public Builder validityMargin(Duration margin) {
            settings.validityMargin = Optional.of(positive(margin, "validityMargin"));
            return this;
        }

        // ---- access

        /**
         * Sets the configuration of ZooKeeper's client, such as TLS and SASL; by default ZooKeeper's own, with its
         * system properties. Has no effect on a borrowed handle. TLS needs no further library. {@link #build()}
         * refuses settings for TLS that cannot work: a store that is missing or cannot be opened, a socket without TLS;
         * and settings with {@code zookeeper.disableAutoWatchReset}: waiters would miss their grant.
         *
         * @param config the settings
         * @return this builder
         */
        public Builder clientConfig(ZKClientConfig config) {
            settings.clientConfig = Objects.requireNonNull(config, "clientConfig");
            return this;
        }

        /**
         * Adds credentials that the client presents on every connection, as {@link ZooKeeper#addAuthInfo(String,
         * byte[])} does; none by default. May be called several times. Then
         * only clients with the same credentials can use what this client creates, unless an {@link #acl} is set. Not
         * for a borrowed handle, which has its own credentials.
         *
         * @param scheme the scheme, such as {@code digest}
         * @param credentials the credentials, such as {@code user:password}
         * @return this builder
         */
        public Builder auth(String scheme, byte[] credentials) {
            Objects.requireNonNull(scheme, "scheme");
            Objects.requireNonNull(credentials, "credentials");
            settings.auth.add(new ZooKeeperHandles.Auth(scheme, credentials.clone()));
            return this;
        }

        /**
         * Sets the ACL of all nodes that this client creates: by default all rights for everyone, or, with {@link
         * #auth}, for the creator alone. It is that of requests, lock paths, the levels above them and the chroot. A
         * borrowed handle and a login by SASL or TLS, which the builder does not see, count as none. All clients of the
         * same locks need all rights. A client with the right to delete under a path can delete the requests there.
         *
         * @param entries at least one
         * @return this builder
         * @throws IllegalArgumentException if the list is empty
         */
        public Builder acl(List<ACL> entries) {
            if (Objects.requireNonNull(entries, "acl").isEmpty()) {
                throw new IllegalArgumentException(
                        "acl is empty: no client would have a right to the nodes that this one creates");
            }
            settings.acl = List.copyOf(entries);
            return this;
        }

        // ---- what is shared with other clients

        /**
         * Sets a path that is put before all lock paths of this client, such as {@code /locks}; none by default.
         *
         * @param path a path as {@link LockClient} describes it, created as needed
         * @return this builder
         * @throws io.latchkey.lock.BadPathException if it cannot be such a path
         */
        public Builder basePath(String path) {
            settings.basePath = LockPaths.check(path);
            return this;
        }

        /**
         * Sets the format of the nodes that this client's locks consist of; {@link Layout#LATCHKEY} by default. Any
         * other shares live paths with the recipes of Curator or kazoo, and supports less.
         *
         * @param layout the layout, which must be the same for every client at one path
         * @return this builder
         */
        public Builder layout(Layout layout) {
            settings.layout = Objects.requireNonNull(layout, "layout");
            return this;
        }

        /**
         * Sets the name of this client that others see in queues, empty by default. All clients that may read the path
         * of a lock can see it.
         *
         * @param text at most 256 characters, all printable: no control or format characters
         * @return this builder
         * @throws IllegalArgumentException if it is longer or has other characters
         */
        public Builder ownerLabel(String text) {
            PrintableText.checkLabel("ownerLabel", text);
            settings.label = text;
            return this;
        }

        // ---- load and limits

        /**
         * Lets waiters of this client for the same lock take several turns with one place in the server's queue; off by
         * default. This
         * is for processes whose threads compete for one lock: from one turn to the next nothing is sent. Readers share
         * a place, a writer's place serves the client's writers and readers in their order, and permits are passed on
         * to the next waiter for as many.
         *
         * <p>Within a client the order stays first come, first served. Each time that this client's place is served,
         * other clients wait for {@code maxTurns} turns, or for {@code maxTime} and the turn that began before its end.
         * Places are served in order, and none is left out. A holder that is {@linkplain
         * io.latchkey.lock.Lease#releaseRequested asked to release} passes nothing on.
         *
         * <p>Turns with one place have one {@linkplain io.latchkey.lock.Lease#token token}. A store that checks tokens
         * sees them as one holder, so within this process only the lock keeps them apart. {@code queue()} has one entry
         * for them, with the label of the request for which the place was taken, and an eviction ends all of their
         * leases. Members of a multi-lock and calls that try without waiting have their own places.
         *
         * <p>Only a clean release passes a place on. After a loss, a limit of {@link
         * io.latchkey.lock.Acquirable#heldAtMost}, a guarded write without an answer, or a downgrade, the next waiter
         * gets a place of its own. So does one that waits for permits after {@code resize}.
         *
         * @param maxTurns the maximum number of turns with one place, two or more
         * @param maxTime no turn with a place begins later than this after its first; more than zero
         * @return this builder
         * @throws IllegalArgumentException if {@code maxTurns} is below two, or {@code maxTime} is not more than zero
         */
        public Builder localTurns(int maxTurns, Duration maxTime) {
            if (maxTurns < 2) {
                throw new IllegalArgumentException("localTurns: a place must have two turns or more, not " + maxTurns);
            }
            settings.turnBounds = Optional.of(new ClientSettings.TurnBounds(maxTurns, positive(maxTime, "localTurns")));
            return this;
        }

        /**
         * Sets the most bytes that the paths of all nodes of this client may need together; 1,000,000 by default. That
         * is some 10,000 locks at a time with paths of 60 characters. Each path counts with its chroot and 4 bytes
         * more. A request that would pass the bound fails for the reason {@link
         * io.latchkey.lock.LockException.Reason#SESSION_FULL}. Clients of one borrowed handle share the sum.
         *
         * <p>The servers end a session by one transaction with the paths of all its nodes, also when its client has
         * crashed. If that exceeds {@code jute.maxbuffer}, whose default is 1 MB and an extra of as much, a server does
         * not start again, and a quorum may be lost for good. So raise this bound only for servers whose {@code
         * jute.maxbuffer} is raised as well; lower it if theirs is lower. Servers with {@code
         * zookeeper.closeSessionTxn.enabled=false} do not write such a transaction, but may not tell clients of a
         * changed list of children after a restart from a snapshot (ZOOKEEPER-3145).
         *
         * @param bytes the limit, one or more
         * @return this builder
         * @throws IllegalArgumentException if it is not
         */
        public Builder sessionNodeBytes(long bytes) {
            if (bytes < 1) {
                throw new IllegalArgumentException("sessionNodeBytes must be positive, not " + bytes);
            }
            settings.sessionNodeBytes = bytes;
            return this;
        }

        // ---- callbacks and observers

        /**
         * Sets the executor that completes this client's futures and runs the stages that depend on them; four daemon
         * threads of the client by default. It should run tasks promptly, since
         * notices of loss go through it, too. The client's futures are completed there. So stages that block all its
         * threads, for example by waiting for another lease, delay all other futures, not only their own stages.
         *
         * <p>The executor is called on four daemon threads of the client. So an executor that blocks, or that runs
         * tasks in the calling thread ({@code Runnable::run}, {@code CallerRunsPolicy}), delays other callbacks and
         * nothing else. A task that the executor refuses, by throwing anything, runs on one of these threads instead. A
         * task that it accepts and never runs leaves its future incomplete, and a lease that the future was to deliver
         * stays held.
         *
         * @param executor an executor, which the client does not close
         * @return this builder
         */
        public Builder callbackExecutor(Executor executor) {
            settings.callbacks = Objects.requireNonNull(executor, "callbackExecutor");
            return this;
        }

        /**
         * Sets an observer that is notified of requests, leases and the session; none by default, at no cost. It is
         * called on a daemon thread of its own, which ends after ten idle seconds.
         *
         * @param observer an observer, which cannot harm the locks, whatever it does; see {@link LockObserver}
         * @return this builder
         */
        public Builder observer(LockObserver observer) {
            settings.observer = Optional.of(Objects.requireNonNull(observer, "observer"));
            return this;
        }

        // ---- the client

        /**
         * Creates the client and waits for its first connection, as {@link #connectTimeout} says. If it throws, nothing
         * is left open.
         *
         * @return a connected client; if the connect timeout is zero, one that connects in the background
         * @throws IllegalStateException if neither a connect string nor a handle is set, or both are; or if credentials
         *     are set for a borrowed handle
         * @throws IllegalArgumentException if the connect string is malformed, or
         *     {@code zookeeper.disableAutoWatchReset} is set
         * @throws InterruptedException if the current thread is interrupted before or while it waits
         * @throws LockServiceUnavailableException if no server has a known address, or none responds in time; its reason and
         *     message tell whether TLS is why
         * @throws AccessDeniedException if the credentials are refused, or the chroot does not exist and may not be
         *     created
         */
        public ZkLockClient build() throws InterruptedException {
            return new ZkLockClient(new ClientOpening(settings).open());
        }

        private static Duration positive(Duration span, String name) {
            Objects.requireNonNull(span, name);
            if (span.isNegative() || span.isZero()) {
                throw new IllegalArgumentException(name + " must be positive, not " + span);
            }
            return measurable(span);
        }

        /**
         * Limits a duration that is too long in nanoseconds, such as {@code ChronoUnit.FOREVER}, to the longest
         * possible.
         */
        private static Duration measurable(Duration span) {
            return Comparators.min(span, LONGEST_SPAN);
        }
    }
}
