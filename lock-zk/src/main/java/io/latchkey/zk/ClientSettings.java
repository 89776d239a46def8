// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockObserver;
import io.latchkey.zk.internal.locks.LockPaths;
import io.latchkey.zk.internal.queue.PrintableText;
import io.latchkey.zk.internal.store.ZooKeeperHandles;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a client, with the contract of each. {@link ZkLockClient.Builder} inherits them, and users see them
 * there.
 *
 * @param <B> the builder
 */
abstract class ClientSettings<B extends ClientSettings<B>> {
    private static final Duration DEFAULT_SESSION_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration LONGEST_SPAN = Duration.ofNanos(Long.MAX_VALUE);

    final List<ZooKeeperHandles.Auth> auth = new ArrayList<>();

    @Nullable
    String connectString;

    @Nullable
    ZooKeeper borrowed;

    Duration sessionTimeout = DEFAULT_SESSION_TIMEOUT;

    @Nullable
    Duration connectTimeout;

    String basePath = "";

    @Nullable
    List<ACL> acl;

    ZKClientConfig clientConfig = new ZKClientConfig();
    String label = "";
    Optional<Duration> validityMargin = Optional.empty();

    @Nullable
    Executor callbacks;

    Optional<TurnBounds> turnBounds = Optional.empty();
    Optional<LockObserver> observer = Optional.empty();
    Layout layout = Layout.LATCHKEY;

    record TurnBounds(int most, Duration longest) {}

    ClientSettings() {}

    /** Returns this builder. */
    abstract B self();

    /**
     * Sets the servers, as {@code host:port[,host:port...][/chroot]}.
     *
     * @param servers the connect string
     * @return this builder
     */
    public B connectString(String servers) {
        this.connectString = Objects.requireNonNull(servers, "connectString");
        return self();
    }

    /**
     * Sets a handle that the caller owns, in place of a connect string; see {@link ZkLockClient#using}.
     *
     * @param zooKeeper a live handle
     * @return this builder
     */
    public B using(ZooKeeper zooKeeper) {
        this.borrowed = Objects.requireNonNull(zooKeeper, "zooKeeper");
        return self();
    }

    /**
     * Sets how long the servers keep the session of a silent client, and so how long a crashed holder may block
     * others. The servers may shorten or lengthen it. The default is ten seconds.
     *
     * @param timeout from a millisecond to {@link Integer#MAX_VALUE} of them
     * @return this builder
     * @throws IllegalArgumentException if it is less or more
     */
    public B sessionTimeout(Duration timeout) {
        this.sessionTimeout = positive(timeout, "sessionTimeout");
        if (timeout.compareTo(Duration.ofMillis(1)) < 0
                || timeout.compareTo(Duration.ofMillis(Integer.MAX_VALUE)) > 0) {
            throw new IllegalArgumentException("sessionTimeout is out of range: " + timeout);
        }
        return self();
    }

    /**
     * Sets how long {@link ZkLockClient.Builder#build()} waits for the first connection; zero does not wait. The
     * default is the session timeout, or one to four seconds if every server refuses the connection.
     *
     * <p>If this is set, {@link ZkLockClient.Builder#build()} also waits for servers that have not started yet and
     * for host names that do not resolve yet, such as those of a service whose pods are not ready. Names are looked up
     * again at each attempt to connect. With zero the client goes on in the background. By default, {@code build()}
     * fails at once if no name resolves.
     *
     * @param timeout zero or more
     * @return this builder
     * @throws IllegalArgumentException if it is negative
     */
    public B connectTimeout(Duration timeout) {
        Objects.requireNonNull(timeout, "connectTimeout");
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("connectTimeout is negative: " + timeout);
        }
        this.connectTimeout = measurable(timeout);
        return self();
    }

    /**
     * Sets a path that is put before all lock paths of this client. The default is none.
     *
     * @param path a path as {@link LockClient} describes it, created as needed
     * @return this builder
     * @throws io.latchkey.lock.BadPathException if it cannot be such a path
     */
    public B basePath(String path) {
        this.basePath = LockPaths.check(path);
        return self();
    }

    /**
     * Sets the ACL of all nodes that this client creates: requests, lock paths, the levels above them and the
     * chroot. By default a client with {@link #auth credentials} gives all rights to the creator and none to
     * others; a client without gives all rights to all. A borrowed handle and a login by SASL or TLS, which the
     * builder does not see, count as none. All clients of the same locks need all rights. A client with the right
     * to delete under a path can delete the requests there.
     *
     * @param entries at least one
     * @return this builder
     * @throws IllegalArgumentException if the list is empty
     */
    public B acl(List<ACL> entries) {
        if (entries.isEmpty()) {
            throw new IllegalArgumentException(
                    "acl is empty: no client would have a right to the nodes that this one creates");
        }
        this.acl = List.copyOf(entries);
        return self();
    }

    /**
     * Adds credentials to present on every connection, as {@link ZooKeeper#addAuthInfo(String, byte[])} does. Then
     * only clients with the same credentials can use what this client creates, unless an {@link #acl} is set. Not
     * for a borrowed handle, which has its own credentials.
     *
     * @param scheme the scheme, such as {@code digest}
     * @param credentials the credentials, such as {@code user:password}
     * @return this builder
     */
    public B auth(String scheme, byte[] credentials) {
        auth.add(new ZooKeeperHandles.Auth(Objects.requireNonNull(scheme, "scheme"), credentials.clone()));
        return self();
    }

    /**
     * Sets TLS, SASL and other settings of ZooKeeper's client. TLS needs {@code io.netty:netty-handler} and {@code
     * io.netty:netty-transport-classes-epoll} with their dependencies, which Latchkey does not bring. {@link
     * ZkLockClient.Builder#build()} refuses settings with {@code zookeeper.disableAutoWatchReset}: waiters would miss
     * their grant.
     *
     * @param config the settings
     * @return this builder
     */
    public B clientConfig(ZKClientConfig config) {
        this.clientConfig = Objects.requireNonNull(config, "clientConfig");
        return self();
    }

    /**
     * Sets the label of this client in the owner data of its requests. All clients that may read the lock's path
     * can see it. The default is empty.
     *
     * @param text at most 256 characters, all printable: no control or format characters
     * @return this builder
     * @throws IllegalArgumentException if it is longer or has other characters
     */
    public B ownerLabel(String text) {
        PrintableText.checkLabel("ownerLabel", text);
        this.label = text;
        return self();
    }

    /**
     * Sets how long it may take until the leader hears from this client's server: half a tick and some slack. With
     * a larger margin holders give up earlier; a smaller one relies on faster servers. The default is a quarter of
     * the session timeout, and up to a third if the timeout may be the shortest that the servers grant. At most a
     * third is used.
     *
     * @param margin more than zero
     * @return this builder
     * @throws IllegalArgumentException if it is not
     */
    public B validityMargin(Duration margin) {
        this.validityMargin = Optional.of(positive(margin, "validityMargin"));
        return self();
    }

    /**
     * Sets the executor for users' code that depends on futures of this client. It should run tasks promptly, since
     * notices of loss go through it, too. The client's futures are completed there. So stages that block all its
     * threads, for example by waiting for another lease, delay all other futures, not only their own stages. The
     * default is four daemon threads of the client.
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
    public B callbackExecutor(Executor executor) {
        this.callbacks = Objects.requireNonNull(executor, "callbackExecutor");
        return self();
    }

    /**
     * Lets waiters of this client for the same lock take several turns with one place in the server's queue. This
     * is for processes whose threads compete for one lock: from one turn to the next nothing is sent. Readers share
     * a place, a writer's place serves the client's writers and readers in their order, and permits are passed on
     * to the next waiter for as many. The default is off.
     *
     * <p>Within a client the order stays first come, first served. Each time that this client's place is served,
     * other clients wait for {@code most} turns, or for {@code longest} and the turn that began before its end.
     * Places are served in order, and none is left out. A holder that is {@linkplain
     * io.latchkey.lock.Lease#releaseRequested asked to release} passes nothing on.
     *
     * <p>Turns with one place have one {@linkplain io.latchkey.lock.Lease#token token}. A store that checks tokens
     * sees them as one holder, so within this process only the lock keeps them apart. {@code queue()} has one entry
     * for them, with the label of the request for which the place was taken, and an eviction ends all of their
     * leases. Members of a multi-lock, calls that try without waiting, and semaphores of {@link Layout#CURATOR}
     * have their own places.
     *
     * <p>Only a clean release passes a place on. After a loss, a limit of {@link
     * io.latchkey.lock.Acquirable#heldAtMost}, a guarded write without an answer, or a downgrade, the next waiter
     * gets a place of its own. So does one that waits for permits after {@code resize}.
     *
     * @param most the maximum number of turns of one place, two or more
     * @param longest no turn begins later than this after the first; more than zero
     * @return this builder
     * @throws IllegalArgumentException if {@code most} is below two, or {@code longest} is not more than zero
     */
    public B localTurns(int most, Duration longest) {
        if (most < 2) {
            throw new IllegalArgumentException("localTurns: a place must have two turns or more, not " + most);
        }
        this.turnBounds = Optional.of(new TurnBounds(most, positive(longest, "localTurns")));
        return self();
    }

    /**
     * Sets the layout of the znodes that this client's locks consist of. Any other than {@link Layout#LATCHKEY}
     * shares live paths with the recipes of Curator or kazoo, and supports less.
     *
     * @param layout the layout, which must be the same for every client at one path
     * @return this builder
     */
    public B layout(Layout layout) {
        this.layout = Objects.requireNonNull(layout, "layout");
        return self();
    }

    /**
     * Sets an observer of requests and of the session. It is called on a daemon thread of its own, which ends after
     * ten idle seconds. The default is none, at no cost.
     *
     * @param observer an observer, which cannot harm the locks, whatever it does; see {@link LockObserver}
     * @return this builder
     */
    public B observer(LockObserver observer) {
        this.observer = Optional.of(Objects.requireNonNull(observer, "observer"));
        return self();
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
        return span.compareTo(LONGEST_SPAN) > 0 ? LONGEST_SPAN : span;
    }
}
