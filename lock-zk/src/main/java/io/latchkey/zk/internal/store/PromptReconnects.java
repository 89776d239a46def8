// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.client.HostProvider;
import org.apache.zookeeper.client.StaticHostProvider;

/**
 * The servers, in the order in which ZooKeeper's client tries them, without a pause between the rounds at first.
 *
 * <p>ZooKeeper's client sleeps for up to a second, at random, before each attempt but the first. When all servers were
 * tried it waits one more second, even if the last connection worked. That second is left out for the first rounds
 * after a connection was lost: then clients come back sooner after a short outage, and still at random times. In a long
 * outage the pause protects the servers as usual. A client whose session ends in that time opens further handles, so
 * all handles of a client count their attempts together.
 */
final class PromptReconnects implements HostProvider {
    /** With the random sleeps about half a minute. */
    static final int PROMPT_ROUNDS = 50;

    private final HostProvider servers;
    private final ConnectAttempts attempts;
    private final AtomicInteger sinceConnected;

    /**
     * @param sinceConnected the attempts since the client was last connected, over all its handles
     */
    PromptReconnects(Collection<InetSocketAddress> addresses, ConnectAttempts attempts, AtomicInteger sinceConnected) {
        this.servers = new StaticHostProvider(addresses);
        this.attempts = attempts;
        this.sinceConnected = sinceConnected;
    }

    @Override
    public int size() {
        return servers.size();
    }

    @Override
    public InetSocketAddress next(long pauseMillis) {
        boolean prompt = sinceConnected.getAndIncrement() < PROMPT_ROUNDS * servers.size();
        InetSocketAddress next = servers.next(prompt ? 0 : pauseMillis);
        attempts.began(next);
        return next;
    }

    @Override
    public void onConnected() {
        sinceConnected.set(0);
        attempts.succeeded();
        servers.onConnected();
    }

    @Override
    public boolean updateServerList(Collection<InetSocketAddress> addresses, InetSocketAddress current) {
        return servers.updateServerList(addresses, current);
    }
}
