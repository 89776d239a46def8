// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.core.Ordered;

/**
 * The properties of the starter.
 *
 * @param connectString Servers as host:port[,host:port...][/chroot]. Required, unless there is a bean of
 *     LatchkeyConnectionDetails or of LockClient.
 * @param basePath Path that goes before all lock paths of this client, such as /billing.
 * @param sessionTimeout How long the servers keep the session of a silent client: how long a crashed holder blocks
 *     others.
 * @param connectTimeout How long the start of the application waits for the first connection. Host names that do not
 *     resolve yet are looked up again until then. Zero does not wait, and connects in the background.
 * @param grace How long holders may finish when the application stops.
 * @param ownerLabel Name of this client in queues. By default that of the application, spring.application.name.
 * @param creatorOnly Whether only the creator has rights to the nodes that this client makes. Set it with a login by
 *     certificate or SASL. With latchkey.auth it is the default.
 * @param clientConfig File with properties of ZooKeeper's client, such as those of a login by SASL.
 * @param auth Login by name and password.
 * @param ssl Connections by TLS.
 * @param localTurns Turns of the threads of this client with one place in a queue.
 * @param locked Methods with @Locked.
 * @param integration Locks of Spring Integration.
 * @param shedlock Locks of ShedLock.
 * @param leadership Leader election.
 * @param endpoint The actuator endpoint "locks".
 */
@ConfigurationProperties("latchkey")
public record LatchkeyClientProperties(
        @Nullable String connectString,
        @Nullable String basePath,
        @DefaultValue("10s") Duration sessionTimeout,
        @DefaultValue("30s") Duration connectTimeout,
        @DefaultValue("10s") Duration grace,
        @Nullable String ownerLabel,
        @Nullable Boolean creatorOnly,
        @Nullable Path clientConfig,
        @DefaultValue Auth auth,
        @DefaultValue Ssl ssl,
        @DefaultValue LocalTurns localTurns,
        @DefaultValue LockedMethods locked,
        @DefaultValue Integration integration,
        @DefaultValue Shedlock shedlock,
        @DefaultValue LeaderElection leadership,
        @DefaultValue Endpoint endpoint) {

    /** The order of the advice of locked methods: after that of security, before that of transactions and caches. */
    public static final int LOCKED_ORDER = Ordered.LOWEST_PRECEDENCE - 100;

    /**
     * Checks the times.
     *
     * @param connectString as of the record
     * @param basePath as of the record
     * @param sessionTimeout as of the record
     * @param connectTimeout as of the record
     * @param grace as of the record
     * @param ownerLabel as of the record
     * @param creatorOnly as of the record
     * @param clientConfig as of the record
     * @param auth as of the record
     * @param ssl as of the record
     * @param localTurns as of the record
     * @param locked as of the record
     * @param integration as of the record
     * @param shedlock as of the record
     * @param leadership as of the record
     * @param endpoint as of the record
     */
    public LatchkeyClientProperties {
        if (sessionTimeout.isNegative() || sessionTimeout.isZero()) {
            throw bad("session-timeout", sessionTimeout, "Set it to more than zero, such as 10s.");
        }
        notNegative("connect-timeout", connectTimeout);
        notNegative("grace", grace);
        notNegative("locked.timeout", locked.timeout());
    }

    private static void notNegative(String name, Duration time) {
        if (time.isNegative()) {
            throw bad(name, time, "Set it to zero or more, such as 10s.");
        }
    }

    private static ClientStartException bad(String name, Duration time, String action) {
        return new ClientStartException(
                "latchkey." + name + " is " + (time.isNegative() ? "negative: " + time : "zero") + '.', action, null);
    }

    /**
     * Login by name and password.
     *
     * @param scheme Scheme of the login.
     * @param credentials Credentials, such as user:password. The client logs in if they are set.
     */
    public record Auth(@DefaultValue("digest") String scheme, @Nullable String credentials) {
        @Override
        public String toString() {
            return "Auth[" + scheme + "]"; // no password in a log
        }
    }

    /**
     * Connections by TLS.
     *
     * @param bundle Name of the SSL bundle. Connections use TLS if it is set.
     */
    public record Ssl(@Nullable String bundle) {}

    /**
     * Turns of the threads of this client with one place in a queue.
     *
     * @param maxTurns Number of turns that threads of this client take with one place in a queue. Off unless set.
     * @param maxTime How long they do so at most.
     */
    public record LocalTurns(@Nullable Integer maxTurns, @DefaultValue("100ms") Duration maxTime) {}

    /**
     * Methods with {@code @Locked}.
     *
     * @param timeout How long a call waits for its lock, if the annotation has no timeout.
     * @param order Order of the advice: after that of security, before that of transactions and caches.
     */
    public record LockedMethods(@DefaultValue("10s") Duration timeout, @DefaultValue("" + LOCKED_ORDER) int order) {}

    /**
     * Locks of Spring Integration.
     *
     * @param path Path above the locks of the registry.
     */
    public record Integration(@DefaultValue("/integration") String path) {}

    /**
     * Locks of ShedLock.
     *
     * @param path Path above the locks of tasks.
     */
    public record Shedlock(@DefaultValue("/shedlock") String path) {}

    /**
     * Leader election.
     *
     * @param path Path above the mutexes of all roles.
     * @param roles Roles that this instance is a candidate for, besides those of LeaderTask beans. The application
     *     gets events when it leads, and when it does so no longer.
     */
    public record LeaderElection(@DefaultValue("/leaders") String path, @DefaultValue List<String> roles) {}

    /**
     * The actuator endpoint "locks".
     *
     * @param root Path below which the endpoint lists locks, unless a request names another one.
     * @param maxLocks Number of locks in an answer at most.
     * @param maxRequests Number of requests that are shown of one lock at most.
     */
    public record Endpoint(
            @DefaultValue("/") String root, @DefaultValue("100") int maxLocks, @DefaultValue("20") int maxRequests) {}
}
