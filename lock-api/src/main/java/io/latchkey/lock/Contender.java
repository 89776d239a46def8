package io.latchkey.lock;

import java.time.Instant;

/**
 * A request in the queue of a path, as {@link Acquirable#queue} shows it. It is a picture of one moment, for people and
 * for monitoring. Label, host and process id are what the request's owner told of itself; nothing checks them. Where
 * this client may not read a request's node, it has an empty label and host, process id 0, {@link Instant#EPOCH} and
 * token 0.
 *
 * @param standing whether the request holds or waits
 * @param label what the owner calls its client; empty if it has no label or the label cannot be read
 * @param host the name of the owner's machine; empty if it cannot be read
 * @param processId the owner's process on that machine; 0 if it cannot be read
 * @param since when the request was made, by the clock of the server that created its node; not the time of the grant
 * @param token the fencing token of the lease that the request has, or will have when it is granted
 * @param permits the permits that it asks for; 1 unless the lock is a semaphore
 */
public record Contender(
        Standing standing, String label, String host, long processId, Instant since, long token, int permits) {
    /** Where a request stands in its queue. */
    public enum Standing {
        /** It holds, by the rule of the lock. Its owner may not have heard of that yet. */
        HOLDS,

        /** It waits for requests before it. */
        WAITS
    }
}
