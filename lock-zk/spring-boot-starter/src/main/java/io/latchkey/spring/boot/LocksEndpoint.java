// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import io.latchkey.lock.BadPathException;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.lock.SessionStatus;
import io.latchkey.lock.admin.Contender;
import io.latchkey.lock.admin.LockListing;
import io.latchkey.lock.admin.LockSummary;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;

/**
 * The actuator endpoint {@code locks}: the session, and the locks below a path with their holders and waiters. An answer
 * has a bounded number of locks and of requests. With {@code management.endpoint.locks.access=unrestricted} a holder can
 * be asked to release, and a request be evicted; by default the endpoint is read-only.
 */
@Endpoint(id = "locks", defaultAccess = Access.READ_ONLY)
public final class LocksEndpoint {
    private final LockClient client;
    private final LatchkeyClientProperties.Endpoint settings;

    /**
     * The answer to a read.
     *
     * @param session the session of this client
     * @param root the path below which locks are listed
     * @param locks the locks, at most as many as asked for: first those with requests, then idle ones, each in the
     *     order of their paths
     * @param omittedLocks how many more were found
     * @param idleLocks how many of all that were found have no request
     * @param unreadable paths that could not be read, with the reason
     * @param problem why there is no list, if there is none
     */
    public record Locks(
            Session session,
            String root,
            List<Lock> locks,
            int omittedLocks,
            int idleLocks,
            Map<String, String> unreadable,
            @Nullable String problem) {}

    /**
     * The session of this client.
     *
     * @param state its state
     * @param id its id, as the servers' logs show it
     * @param since when the client found this state
     * @param timeoutMillis the session timeout
     */
    public record Session(String state, String id, Instant since, long timeoutMillis) {}

    /**
     * A lock.
     *
     * @param path its path
     * @param kind its kind
     * @param capacity the number of permits of a semaphore
     * @param holders the number of requests that hold
     * @param waiters the number of requests that wait
     * @param queue the first requests in the order of the queue
     */
    public record Lock(
            String path, String kind, @Nullable Integer capacity, int holders, int waiters, List<Request> queue) {}

    /**
     * A request in the queue of a lock.
     *
     * @param state whether it holds or waits
     * @param access the access that it asks for
     * @param permits the number of permits
     * @param label the label of its owner
     * @param host the host of its owner
     * @param process the process id of its owner
     * @param session the id of its owner's session
     * @param own whether it is a request of this client
     * @param since when it was made
     * @param token its token, which names it in a write
     */
    public record Request(
            String state,
            String access,
            int permits,
            String label,
            String host,
            long process,
            String session,
            boolean own,
            Instant since,
            long token) {}

    /**
     * The answer to a write.
     *
     * @param path the lock
     * @param token the request
     * @param result {@code EVICTED}, {@code STORED}, {@code NOT_LISTENING} or {@code GONE}
     */
    public record Result(String path, long token, String result) {}

    LocksEndpoint(LockClient client, LatchkeyClientProperties.Endpoint settings) {
        if (settings.maxLocks() < 1 || settings.maxRequests() < 1) {
            throw new ClientStartException(
                    "latchkey.endpoint.max-locks and max-requests must be one or more, not " + settings.maxLocks()
                            + " and " + settings.maxRequests() + '.',
                    "Correct them, or leave them out.",
                    null);
        }
        this.client = client;
        this.settings = settings;
    }

    /**
     * Lists locks with their queues. Locks with a holder or a waiter come before idle ones, so that a limit leaves out
     * idle ones first.
     *
     * @param root the path below which it lists; that of {@code latchkey.endpoint.root} if missing
     * @param limit the number of locks at most; never more than {@code latchkey.endpoint.max-locks}
     * @return the locks
     */
    @ReadOperation
    public Locks locks(@Nullable String root, @Nullable Integer limit) {
        String from = root == null ? settings.root() : root;
        int most = limit == null ? settings.maxLocks() : Math.max(0, Math.min(limit, settings.maxLocks()));
        SessionStatus session = client.session();
        if (!session.isConnected()) {
            return none(session, from, "The client has no connection to a server.");
        }
        try {
            LockListing listing = client.listLocks(from);
            Map<Boolean, List<LockSummary>> byIdle = listing.locks().stream()
                    .collect(Collectors.partitioningBy(lock -> lock.queue().isEmpty()));
            List<LockSummary> busy = byIdle.getOrDefault(false, List.of());
            List<LockSummary> idle = byIdle.getOrDefault(true, List.of());
            List<Lock> shown = Stream.concat(busy.stream(), idle.stream())
                    .limit(most)
                    .map(this::shown)
                    .toList();
            Map<String, String> unreadable = new LinkedHashMap<>();
            listing.unreadable().forEach((path, why) -> {
                if (unreadable.size() < settings.maxLocks()) {
                    unreadable.put(path, String.valueOf(why.getMessage()));
                }
            });
            int omitted = listing.locks().size() - shown.size();
            return new Locks(shown(session), from, shown, omitted, idle.size(), unreadable, null);
        } catch (BadPathException bad) {
            throw new InvalidEndpointRequestException("bad root: " + bad.getMessage(), "bad root", bad);
        } catch (LockException failed) {
            return none(client.session(), from, String.valueOf(failed.getMessage()));
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            return none(client.session(), from, "The request was interrupted.");
        }
    }

    private static Locks none(SessionStatus session, String root, String problem) {
        return new Locks(shown(session), root, List.of(), 0, 0, Map.of(), problem);
    }

    private static Session shown(SessionStatus session) {
        return new Session(
                session.state().name(),
                hex(session.id()),
                session.since(),
                session.timeout().toMillis());
    }

    private Lock shown(LockSummary lock) {
        OptionalInt capacity = lock.capacity();
        return new Lock(
                lock.path(),
                lock.kind().name(),
                capacity.isPresent() ? capacity.getAsInt() : null,
                lock.holders(),
                lock.waiters(),
                lock.queue().stream()
                        .limit(settings.maxRequests())
                        .map(LocksEndpoint::shown)
                        .toList());
    }

    private static Request shown(Contender request) {
        return new Request(
                request.state().name(),
                request.access().name(),
                request.permits(),
                request.owner().label(),
                request.owner().host(),
                request.owner().processId(),
                hex(request.session()),
                request.isOwn(),
                request.requestedAt(),
                request.token());
    }

    private static String hex(long id) {
        return "0x" + Long.toHexString(id);
    }

    /**
     * Asks a holder to release, or evicts a request.
     *
     * @param action {@code request-release} or {@code evict}
     * @param path the path of the lock
     * @param token the token of the request, as a read shows it; not 0, which it shows for each request that this client
     *     may not read
     * @return the result
     * @throws LockException if no request with this token was found, and not all could be read; or if several have it
     */
    @WriteOperation
    public Result act(String action, String path, long token) {
        boolean evict = action.equals("evict");
        if (!evict && !action.equals("request-release")) {
            throw new InvalidEndpointRequestException(
                    "action is \"" + action + "\"; it must be request-release or evict", "bad action");
        }
        if (token < 1) {
            throw new InvalidEndpointRequestException(
                    "token is " + token + "; it must be that of one request, which is 1 or more", "bad token");
        }
        try {
            LockListing listing = client.listLocksAt(path);
            List<Contender> requests = listing.locks().stream()
                    .flatMap(lock -> lock.queue().stream())
                    .filter(request -> request.token() == token)
                    .toList();
            if (requests.isEmpty()) {
                checkComplete(listing, path, token);
                return new Result(path, token, Contender.Eviction.GONE.name());
            }
            if (requests.size() > 1) {
                throw new LockException(requests.size() + " requests at " + path + " have the token " + token
                        + ": a reader can claim the token of another request. Nothing was changed. Find the"
                        + " right one in the lock's queue() by its session, and evict it there.");
            }
            Contender request = requests.get(0);
            String result =
                    evict ? request.evict().name() : request.requestRelease().name();
            return new Result(path, token, result);
        } catch (BadPathException bad) {
            throw new InvalidEndpointRequestException("bad path: " + bad.getMessage(), "bad path", bad);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new LockException("interrupted while waiting for a server; it is unknown whether anything changed");
        }
    }

    private static void checkComplete(LockListing listing, String path, long token) {
        listing.unreadable().forEach((missing, why) -> {
            throw new LockException(
                    "no request with token " + token + " was found at " + path + ", and " + missing
                            + " could not be read: " + why.getMessage(),
                    why);
        });
    }
}
