// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import com.google.common.base.Utf8;
import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Diagnosis;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockException.Reason;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LockUnavailableException;
import io.latchkey.lock.MultiLock;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.Semaphore;
import io.latchkey.lock.SessionView;
import io.latchkey.lock.StripedMutex;
import io.latchkey.zk.internal.admin.Diagnostics;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.client.LocalHandOff;
import io.latchkey.zk.internal.context.ClientConfig;
import io.latchkey.zk.internal.events.ObserverDispatcher;
import io.latchkey.zk.internal.queue.Owner;
import io.latchkey.zk.internal.queue.PrintableText;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZooKeeperHandles;
import io.latchkey.zk.internal.store.ZooKeeperStore;
import io.latchkey.zk.internal.threads.CallbackThreads;
import io.latchkey.zk.internal.threads.DaemonThreads;
import io.latchkey.zk.internal.validity.Clock;
import io.latchkey.zk.internal.validity.SystemClock;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * Locks on ZooKeeper. One client has one session at a time and serves any number of threads and locks; make one for a
 * process, and close it at its end.
 *
 * <pre>{@code
 * try (LockClient locks = ZkLockClient.connect("zk1:2181,zk2:2181,zk3:2181/app")) {
 *     try (Lease lease = locks.mutex("/orders/42").acquire()) {
 *         store.write(order, lease.token());
 *     }
 * }
 * }</pre>
 *
 * <p>A client that {@linkplain #connect(String) connects} by itself opens a new session when the former has expired:
 * what was held is lost, who waited queues again within its time. A client that {@linkplain #using(ZooKeeper) borrows} a
 * handle ends with that handle's session.
 */
public final class ZkLockClient implements LockClient {
    private static final AtomicInteger NUMBER = new AtomicInteger();
    /** Several reconnects of ZooKeeper's client, which take one to two seconds each. */
    private static final Duration LOGIN_PATIENCE = Duration.ofSeconds(10);

    private final Engine engine;
    private final String basePath;
    private final ThreadHolds holds = new ThreadHolds();
    /** Lets the threads of this client end. */
    private final Runnable threadsEnd;

    private final Optional<LocalHandOff> turns;
    /** What a member of a multi-lock takes of a packet besides its path. */
    private final int memberBytes;

    private ZkLockClient(
            Engine engine, String basePath, Runnable threadsEnd, Optional<LocalHandOff> turns, int memberBytes) {
        this.engine = engine;
        this.basePath = basePath;
        this.threadsEnd = threadsEnd;
        this.turns = turns;
        this.memberBytes = memberBytes;
    }

    /**
     * Connects with the defaults of {@link #builder()}.
     *
     * @param connectString servers as {@code host:port[,host:port...]}, and maybe a chroot behind them, which is created
     *     if it is missing
     * @return a connected client
     * @throws IllegalArgumentException if the connect string is malformed
     * @throws LockUnavailableException if no server has a known address, or none answers in time
     */
    public static ZkLockClient connect(String connectString) {
        return builder().connectString(connectString).build();
    }

    /**
     * Locks in the session of a handle that the caller owns: it is never closed, and after its session has expired this
     * client says so with {@link io.latchkey.lock.SessionExpiredException}. When a request leaves a queue, all watches of
     * the handle on what it watched are taken back, so do not watch locks' paths or nodes through the same handle.
     *
     * <p>On the handle's event thread, where its watchers run, a call that waits would wait for itself. There acquiring and
     * all questions to the servers fail at once with {@link IllegalStateException}; {@code release()} and {@code close()}
     * send what is to be deleted and do not wait, and the outcome of a release is {@link
     * io.latchkey.lock.ReleaseOutcome#PENDING}.
     *
     * <p>The first lease is granted a {@linkplain Builder#validityMargin validity margin} after this call at the earliest, by
     * default a quarter of the session time-out: the handle may have been connected just now, and nothing proves before that how
     * long the servers keep its session. A {@code tryAcquire} with less time than that is empty until then.
     *
     * <p>After {@code close()} nothing of the client is left on the handle, but for one case: if the answer to the creation of
     * a node was lost and the node was not found since, the server may still create it when the session reconnects. Then the
     * closed client keeps a watch and a timer thread until it has deleted that node or the session has ended.
     *
     * @param zooKeeper a live handle
     * @return a connected client; closing it deletes its nodes and leaves the handle open
     * @throws IllegalArgumentException if the handle's configuration is unfit for locks, as one with {@code
     *     zookeeper.disableAutoWatchReset} is
     * @throws LockUnavailableException if the handle is not connected within its session time-out
     */
    public static ZkLockClient using(ZooKeeper zooKeeper) {
        return builder().using(zooKeeper).build();
    }

    /**
     * Begins the description of a client.
     *
     * @return a description in which it is still to be said where to connect
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * The same locks over something that stands in for ZooKeeper, as the test kit's simulation does. Not for applications:
     * what an engine is made of changes from version to version.
     *
     * @param engine a started engine; closing the client closes it
     * @param turns how its waiters for a mutex take turns with one place, if they do
     * @return a client with no base path
     * @hidden
     */
    @SuppressWarnings("InvalidBlockTag") // Error Prone does not know @hidden, which keeps this off the published pages
    public static ZkLockClient over(Engine engine, Optional<LocalHandOff> turns) {
        return new ZkLockClient(engine, "", () -> {}, turns, 0);
    }

    @Override
    public Mutex mutex(String path) {
        return mutexAt(node(path));
    }

    private Mutex mutexAt(String node) {
        return new ZkMutex(engine, node, holds, turns);
    }

    @Override
    public ReadWriteLock readWriteLock(String path) {
        return new ZkReadWriteLock(engine, node(path), holds);
    }

    @Override
    public Semaphore semaphore(String path, int permits) {
        if (permits <= 0) {
            throw new IllegalArgumentException("permits must be positive, not " + permits);
        }
        String node = node(path);
        if (engine.context().naming() == Layout.CURATOR.naming()) {
            return new ZkCuratorSemaphore(engine, node, permits);
        }
        onlyIn(Layout.LATCHKEY, "semaphore");
        return new ZkSemaphore(engine, node, permits);
    }

    @Override
    public MultiLock multiLock(Acquirable... members) {
        onlyIn(Layout.LATCHKEY, "multi-lock");
        return ZkMultiLock.of(engine, memberBytes, members);
    }

    @Override
    public StripedMutex stripedMutex(String path, int stripes) {
        if (stripes <= 0) {
            throw new IllegalArgumentException("stripes must be positive, not " + stripes);
        }
        String node = node(path);
        return new ZkStripedMutex(stripes, stripe -> mutexAt(node + '/' + stripe));
    }

    /** Unicode's category C: control and format characters, lone surrogates, private use, unassigned. */
    private static boolean doesNotShow(int character) {
        return Character.toString(character).matches("\\p{C}");
    }

    /**
     * @param name the argument's, for the message
     * @throws IllegalArgumentException if it cannot be shown
     */
    static void checkLabel(String name, String text) {
        Objects.requireNonNull(text, name);
        if (text.length() > PrintableText.LONGEST) {
            throw new IllegalArgumentException(
                    name + " has " + text.length() + " characters; at most " + PrintableText.LONGEST + " are allowed");
        }
        text.codePoints().filter(ZkLockClient::doesNotShow).findFirst().ifPresent(c -> {
            throw new IllegalArgumentException(
                    String.format("%s has the character U+%04X, which does not show, and is not allowed", name, c));
        });
    }

    private void onlyIn(Layout layout, String what) {
        if (engine.context().naming() != layout.naming()) {
            throw new UnsupportedOperationException(
                    "There is no " + what + " in this client's layout, which it shares with"
                            + " other clients than Latchkey's. Nothing was sent. Make a client with Layout." + layout
                            + " for it, and use a path of its own.");
        }
    }

    private String node(String path) {
        return basePath + LockPaths.check(path);
    }

    @Override
    public Diagnosis diagnose() {
        return new Diagnostics(engine, basePath).diagnose();
    }

    @Override
    public SessionView session() {
        return engine.context().signals().view();
    }

    @Override
    public void close() {
        engine.close();
        threadsEnd.run();
    }

    @Override
    public String toString() {
        return "ZkLockClient[" + session() + "]";
    }

    /** Describes a client. Everything but {@link #connectString(String)} or {@link #using(ZooKeeper)} has a default. */
    public static final class Builder {
        private static final Duration DEFAULT_SESSION_TIMEOUT = Duration.ofSeconds(10);
        private static final Duration QUICK_CONNECT = Duration.ofSeconds(1);
        private static final Duration LONGEST_SPAN = Duration.ofNanos(Long.MAX_VALUE);
        /** A borrowed handle does not tell its chroot. */
        private static final int UNKNOWN_CHROOT_BYTES = 100;

        private @Nullable String connectString;
        private @Nullable ZooKeeper borrowed;
        private Duration sessionTimeout = DEFAULT_SESSION_TIMEOUT;
        private @Nullable Duration connectTimeout;
        private String basePath = "";
        private @Nullable List<ACL> acl;
        private final List<ZooKeeperHandles.Auth> auth = new ArrayList<>();
        private ZKClientConfig clientConfig = new ZKClientConfig();
        private String label = "";
        private Optional<Duration> validityMargin = Optional.empty();
        private @Nullable Executor callbacks;
        private Optional<TurnBounds> turnBounds = Optional.empty();

        private record TurnBounds(int most, Duration longest) {
            LocalHandOff turns(Engine engine) {
                return new LocalHandOff(engine, most, longest);
            }
        }

        private Optional<LockObserver> observer = Optional.empty();

        private Layout layout = Layout.LATCHKEY;

        private Builder() {}

        /**
         * The servers, as {@code host:port[,host:port...][/chroot]}.
         *
         * @param servers the connect string
         * @return this
         */
        public Builder connectString(String servers) {
            this.connectString = Objects.requireNonNull(servers, "connectString");
            return this;
        }

        /**
         * A handle of the caller's instead of a connect string; see {@link ZkLockClient#using}.
         *
         * @param zooKeeper a live handle
         * @return this
         */
        public Builder using(ZooKeeper zooKeeper) {
            this.borrowed = Objects.requireNonNull(zooKeeper, "zooKeeper");
            return this;
        }

        /**
         * How long the servers keep a session that they do not hear of; so long may a crashed holder block others. The
         * servers have the last word and may shorten or lengthen it. Ten seconds if not given.
         *
         * @param timeout from a millisecond to {@link Integer#MAX_VALUE} of them
         * @return this
         * @throws IllegalArgumentException if it is less or more
         */
        public Builder sessionTimeout(Duration timeout) {
            this.sessionTimeout = positive(timeout, "sessionTimeout");
            if (timeout.compareTo(Duration.ofMillis(1)) < 0
                    || timeout.compareTo(Duration.ofMillis(Integer.MAX_VALUE)) > 0) {
                throw new IllegalArgumentException("sessionTimeout is out of range: " + timeout);
            }
            return this;
        }

        /**
         * How long {@link #build()} waits for the first connection; zero does not wait. If not given it is the session
         * time-out, and one to four seconds when every server refuses the connection.
         *
         * <p>With a time given, {@link #build()} also waits for servers that still have to start and for host names that do not
         * resolve yet, as those of a service whose pods are not ready: they are looked up again with each attempt to connect.
         * With zero that goes on in the background. Without a time, names of which none resolves fail at once.
         *
         * @param timeout zero or more
         * @return this
         * @throws IllegalArgumentException if it is negative
         */
        public Builder connectTimeout(Duration timeout) {
            Objects.requireNonNull(timeout, "connectTimeout");
            if (timeout.isNegative()) {
                throw new IllegalArgumentException("connectTimeout is negative: " + timeout);
            }
            this.connectTimeout = measurable(timeout);
            return this;
        }

        /**
         * A path that stands before all lock paths of this client.
         *
         * @param path a path as {@link LockClient} describes it, created as needed; none if not given
         * @return this
         * @throws io.latchkey.lock.BadPathException if it is no such path
         */
        public Builder basePath(String path) {
            this.basePath = LockPaths.check(path);
            return this;
        }

        /**
         * Who may do what with all that this client creates: requests, lock paths, the levels above them and the chroot. If
         * not given it is everything for the creator and nothing for anybody else where there is an {@link #auth login},
         * and everything for everybody where there is none; a borrowed handle and a login by SASL or TLS, which the
         * builder does not see, count as none. Everybody who is to use the same locks needs all rights; whoever may
         * delete what is under a path can take its requests away.
         *
         * @param entries at least one
         * @return this
         * @throws IllegalArgumentException if there is none
         */
        public Builder acl(List<ACL> entries) {
            if (entries.isEmpty()) {
                throw new IllegalArgumentException("acl is empty: nobody could use what this client creates");
            }
            this.acl = List.copyOf(entries);
            return this;
        }

        /**
         * A login to present on every connection, as {@link ZooKeeper#addAuthInfo(String, byte[])}. What this client creates
         * is then for those with the same login only, unless an {@link #acl} says otherwise. Not for a borrowed handle,
         * which logs in by itself.
         *
         * @param scheme such as {@code digest}
         * @param credentials such as {@code user:password}
         * @return this
         */
        public Builder auth(String scheme, byte[] credentials) {
            auth.add(new ZooKeeperHandles.Auth(Objects.requireNonNull(scheme, "scheme"), credentials.clone()));
            return this;
        }

        /**
         * TLS, SASL and other settings of ZooKeeper's client. TLS needs {@code io.netty:netty-handler} and {@code
         * io.netty:netty-transport-classes-epoll} with what they depend on, which Latchkey does not bring. One with {@code
         * zookeeper.disableAutoWatchReset} is refused by {@link #build()}: who waits would miss its turn.
         *
         * @param config the settings
         * @return this
         */
        public Builder clientConfig(ZKClientConfig config) {
            this.clientConfig = Objects.requireNonNull(config, "clientConfig");
            return this;
        }

        /**
         * What this client is called in the queue's holder data, which everybody sees who may read the lock's path. Empty if not
         * given.
         *
         * @param text at most 256 characters, each of which shows: no control or format characters
         * @return this
         * @throws IllegalArgumentException if it is longer or has others
         */
        public Builder ownerLabel(String text) {
            checkLabel("ownerLabel", text);
            this.label = text;
            return this;
        }

        /**
         * How long it may take until the leader hears from the server that this client talks to: half a tick and some
         * slack. A larger margin makes holders give up earlier, a smaller one rests on quicker servers. A quarter of the
         * session time-out if not given, and up to a third where the time-out may be the smallest that the servers give; at
         * most a third is used.
         *
         * @param margin more than zero
         * @return this
         * @throws IllegalArgumentException if it is not
         */
        public Builder validityMargin(Duration margin) {
            this.validityMargin = Optional.of(positive(margin, "validityMargin"));
            return this;
        }

        /**
         * Where users' code runs that depends on futures of this client. It should run tasks promptly: notice of loss
         * goes through it, too. The futures of the client are completed there: stages that block all its threads, as by
         * waiting for another lease, hold up all other futures, not only their stages. Four daemon threads of the client's
         * own if not given.
         *
         * <p>The executor is called on four daemon threads of the client's own. So one that runs tasks in the calling
         * thread, as {@code Runnable::run} or a pool with {@code CallerRunsPolicy} does, or that blocks, holds up other
         * callbacks and nothing else. A task that the executor refuses, by throwing anything, runs on one of these threads
         * instead. A task that it accepts and never runs leaves its future incomplete, and a lease that it was to deliver
         * held.
         *
         * @param executor not closed by the client
         * @return this
         */
        public Builder callbackExecutor(Executor executor) {
            this.callbacks = Objects.requireNonNull(executor, "callbackExecutor");
            return this;
        }

        /**
         * Lets those of this client who wait for the same mutex take several turns with one place in the server's queue, for
         * processes whose threads fight over one lock: from one to the next nothing goes over the wire. Off if not given.
         *
         * <p>Within a client it stays first come, first served. Other clients wait for {@code most} turns, or for {@code
         * longest} and the turn that began before its end, each time that this client's place comes: they are served in the
         * order of the places, none is left out. A holder that is {@linkplain io.latchkey.lock.Lease#releaseRequested asked
         * to let go} passes nothing on. Turns with one place have one {@linkplain io.latchkey.lock.Lease#token token}: a
         * store that checks tokens sees them as one holder, so within this process the lock alone keeps them apart.
         * Mutexes only, and striped ones; members of a multi-lock, and those who try now or never, stand for themselves.
         *
         * @param most turns that one place is good for, two or more
         * @param longest no turn begins later than this after the first; more than zero
         * @return this
         * @throws IllegalArgumentException if {@code most} is below two, or {@code longest} is not more than zero
         */
        public Builder localTurns(int most, Duration longest) {
            if (most < 2) {
                throw new IllegalArgumentException("localTurns: one place takes two turns or more, not " + most);
            }
            this.turnBounds = Optional.of(new TurnBounds(most, positive(longest, "localTurns")));
            return this;
        }

        /**
         * Whose znodes this client's locks are made of: another than {@link Layout#LATCHKEY} shares live paths with the
         * recipes of Curator or kazoo, and can do less.
         *
         * @param whose the same for every client at one path
         * @return this
         */
        public Builder layout(Layout whose) {
            this.layout = Objects.requireNonNull(whose, "layout");
            return this;
        }

        /**
         * Who is told what becomes of requests and of the session. It has a daemon thread of its own, which ends when there
         * is nothing to tell for ten seconds. Nobody if not given, at no cost.
         *
         * @param told cannot harm the locks, whatever it does; see {@link LockObserver}
         * @return this
         */
        public Builder observer(LockObserver told) {
            this.observer = Optional.of(Objects.requireNonNull(told, "observer"));
            return this;
        }

        /**
         * Makes the client and waits for its first connection, as long as {@link #connectTimeout} says. If it throws, nothing is
         * left open.
         *
         * @return a connected client; one that connects by itself if the connect time-out is zero
         * @throws IllegalStateException if it is not said where to connect, or said twice; or if there is a login for a
         *     borrowed handle
         * @throws IllegalArgumentException if the connect string is malformed or the configuration unfit for locks
         * @throws LockUnavailableException if no server answers in time; or if the current thread is interrupted, whose status
         *     stays set
         * @throws AccessDeniedException if the login is refused, or the chroot is missing and may not be created
         */
        public ZkLockClient build() {
            if ((connectString == null) == (borrowed == null)) {
                throw new IllegalStateException("Give either connectString(...) or using(zooKeeper), and not both.");
            }
            if (borrowed != null && !auth.isEmpty()) {
                throw new IllegalStateException(
                        "A borrowed handle logs in by itself: give the login to its addAuthInfo(...), and the ACL here.");
            }
            ZooKeeper handle = borrowed;
            return handle == null ? connect(Objects.requireNonNull(connectString)) : borrow(handle);
        }

        private List<ACL> aclOfWhatIsCreated() {
            if (acl != null) {
                return acl;
            }
            return auth.isEmpty() ? ZooKeeperHandles.EVERYBODY_EVERYTHING : ZooKeeperHandles.CREATOR_EVERYTHING;
        }

        private ZkLockClient borrow(ZooKeeper handle) {
            ZooKeeperHandles.checkWatchReset(handle.getClientConfig());
            List<ACL> acls = aclOfWhatIsCreated();
            Duration timeout =
                    handle.getSessionTimeout() > 0 ? Duration.ofMillis(handle.getSessionTimeout()) : sessionTimeout;
            return start(
                    new ClientConfig.Source.Borrowed(listener -> ZooKeeperStore.borrow(handle, acls, listener)),
                    timeout,
                    "the borrowed handle's servers",
                    () -> false,
                    memberBytes(acls, UNKNOWN_CHROOT_BYTES));
        }

        private ZkLockClient connect(String servers) {
            ZooKeeperHandles handles = new ZooKeeperHandles(servers, sessionTimeout, auth, clientConfig);
            if (connectTimeout == null) {
                handles.checkHosts();
            }
            List<ACL> acls = aclOfWhatIsCreated();
            ZkLockClient client;
            try {
                client = start(
                        new ClientConfig.Source.Own(listener -> ZooKeeperStore.open(handles::open, acls, listener)),
                        sessionTimeout,
                        servers,
                        handles::allRefuse,
                        memberBytes(acls, Utf8.encodedLength(handles.chroot())));
            } catch (LockUnavailableException late) {
                if (late.reason() != Reason.INTERRUPTED) {
                    // ZooKeeper's client has looked the names up with each attempt: no address explains more than no
                    // answer.
                    handles.checkHosts();
                }
                throw late;
            }
            try {
                if (!Duration.ZERO.equals(connectTimeout)) {
                    client.checkLoginAndChroot(handles, acls);
                }
            } catch (RuntimeException | Error failed) {
                client.close();
                throw failed;
            }
            return client;
        }

        /** Without a connect time-out of the user's, servers that all refuse are not waited for: the address is wrong. */
        private void awaitConnection(Engine engine, Duration patience, String servers, BooleanSupplier nobodyListens)
                throws InterruptedException {
            if (patience.isZero()) {
                return;
            }
            Duration first = patience.compareTo(QUICK_CONNECT) < 0 ? patience : QUICK_CONNECT;
            if (engine.awaitConnection(first)) {
                return;
            }
            if (connectTimeout == null && nobodyListens.getAsBoolean()) {
                throw new LockUnavailableException("No ZooKeeper server listens at " + servers
                        + ": every connection is refused. Nothing was sent. Check the connect string, and that the"
                        + " servers run; to wait for servers that are still to start, give a connectTimeout,"
                        + " on the command line --connect-timeout.");
            }
            if (!engine.awaitConnection(patience.minus(first))) {
                throw new LockUnavailableException("No connection to ZooKeeper at " + servers + " within "
                        + patience.toMillis() + " ms. Nothing was sent. Check the connect string, and that the servers"
                        + " run and have a quorum: a server without one refuses clients that write, or is read-only.");
            }
        }

        /** In a request that makes a member of a multi-lock, besides its path and the owner. */
        private static int memberBytes(List<ACL> acls, int chrootBytes) {
            return 2 * ZooKeeperHandles.bytesOf(acls) + 3 * chrootBytes;
        }

        private ZkLockClient start(
                ClientConfig.Source source,
                Duration timeout,
                String servers,
                BooleanSupplier nobodyListens,
                int memberBytes) {
            int number = NUMBER.incrementAndGet();
            Clock time = new SystemClock("latchkey-timer-" + number, timeout);
            CallbackThreads callbackThreads =
                    new CallbackThreads("latchkey-callback-" + number, Optional.ofNullable(callbacks), time);
            ExecutorService relief = DaemonThreads.pool(1, "latchkey-relief-" + number);
            SecureRandom seed = new SecureRandom();
            SplittableRandom ids = new SplittableRandom(seed.nextLong());
            Optional<ObserverDispatcher> feed =
                    observer.map(told -> new ObserverDispatcher(told, "latchkey-observer-" + number));
            int hidden = basePath.length();
            Owner owner = new Owner(hostName(), ProcessHandle.current().pid(), label);
            Engine engine = new Engine(new ClientConfig(
                    source,
                    timeout,
                    validityMargin,
                    owner,
                    ids::nextLong,
                    time,
                    callbackThreads,
                    relief,
                    path -> path.substring(hidden),
                    layout.naming(),
                    feed));
            Runnable threadsEnd = () -> {
                callbackThreads.close();
                relief.shutdown();
            };
            ZkLockClient client = new ZkLockClient(
                    engine,
                    basePath,
                    threadsEnd,
                    turnBounds.map(bounds -> bounds.turns(engine)),
                    owner.data().length + memberBytes);
            Duration patience = connectTimeout == null ? timeout : connectTimeout;
            try {
                engine.start();
                awaitConnection(engine, patience, servers, nobodyListens);
            } catch (RuntimeException | Error failed) {
                client.close();
                throw failed;
            } catch (IOException failed) {
                client.close();
                throw new LockUnavailableException("Cannot open a ZooKeeper handle to " + servers + ": " + failed);
            } catch (InterruptedException interrupted) {
                client.close();
                Thread.currentThread().interrupt();
                throw new LockUnavailableException(
                        "Interrupted while connecting to " + servers + ".", Reason.INTERRUPTED);
            }
            return client;
        }

        private static String hostName() {
            try {
                return InetAddress.getLocalHost().getHostName();
            } catch (UnknownHostException unnamed) {
                return "";
            }
        }

        private static Duration positive(Duration span, String name) {
            Objects.requireNonNull(span, name);
            if (span.isNegative() || span.isZero()) {
                throw new IllegalArgumentException(name + " must be positive, not " + span);
            }
            return measurable(span);
        }

        /** What is too long to be counted in nanoseconds, as {@code ChronoUnit.FOREVER} is, is the longest that can be. */
        private static Duration measurable(Duration span) {
            return span.compareTo(LONGEST_SPAN) > 0 ? LONGEST_SPAN : span;
        }
    }

    /**
     * One question behind the login: a refusal shows only after the connection, and so does a missing chroot, which is
     * made then.
     */
    private void checkLoginAndChroot(ZooKeeperHandles handles, List<ACL> acl) {
        if (handles.auth().isEmpty() && !handles.hasChroot()) {
            return;
        }
        try {
            Status code = askForRoot();
            if (code == Status.LOGIN_REFUSED) {
                throw Engine.loginRefusal();
            }
            if (code == Status.SESSION_EXPIRED) {
                throw new LockUnavailableException(
                        "The first session at " + handles.connectString()
                                + " expired before its login was answered. Nothing is held. Give a longer sessionTimeout.",
                        Reason.NO_SESSION);
            }
            if (code == Status.NO_NODE) {
                handles.createChroot(acl);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new LockUnavailableException(
                    "Interrupted while looking for the chroot of " + handles.connectString(), Reason.INTERRUPTED);
        } catch (ExecutionException failed) {
            throw Errors.toCaller(failed);
        } catch (TimeoutException | IOException | KeeperException failed) {
            throw new LockException(
                    "Cannot make sure that the chroot of " + handles.connectString() + " exists", failed);
        }
    }

    /** A server that refuses a login may close the connection before its refusal is read: then the next one tells. */
    private Status askForRoot() throws InterruptedException, ExecutionException, TimeoutException {
        long end = System.nanoTime() + LOGIN_PATIENCE.toNanos();
        while (true) {
            CompletableFuture<Status> root =
                    engine.query((port, then) -> port.read("/", answer -> then.complete(answer.code())));
            Status code = root.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (code != Status.CONNECTION_LOSS) {
                return code;
            }
        }
    }
}
