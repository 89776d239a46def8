// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import io.latchkey.lock.LockClient;
import io.latchkey.testkit.FaultyClient.Connector;
import io.latchkey.testkit.proxy.Fault.HeldFrames;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.server.ZooKeeperFixture;
import io.latchkey.testkit.time.Slowness;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZKUtil;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * A ZooKeeper server in this process, and clients of an implementation behind a proxy each. Has every feature, unless a
 * subclass declares one as {@linkplain #lacking lacking}. The sessions of its clients are 12 s long, those of brief
 * ones 0.8 s; {@link Slowness} stretches both.
 *
 * <p>{@link #deleteRequest} takes every ephemeral node below a lock's path for a request, in the order of their
 * creation. An implementation whose requests look otherwise overrides it.
 */
public class ServerFixture implements LockFixture {
    private static final Duration SESSION = Slowness.stretched(Duration.ofSeconds(12));
    private static final Duration BRIEF_SESSION = Slowness.stretched(Duration.ofMillis(800));

    private final Connector connector;
    private final ZooKeeperFixture servers;
    private final Map<LockClient, FaultProxy> proxies = new ConcurrentHashMap<>();

    /**
     * Starts a server.
     *
     * @param connector makes the clients
     */
    public ServerFixture(Connector connector) {
        this(connector, EmbeddedZooKeeper.start());
    }

    /**
     * Clients of servers that run. The contracts need them empty, with sessions as short as 0.8 s: a tick of at most
     * 400 ms.
     *
     * @param connector makes the clients
     * @param servers closed together with this fixture
     */
    public ServerFixture(Connector connector, ZooKeeperFixture servers) {
        this.connector = Objects.requireNonNull(connector, "connector");
        this.servers = Objects.requireNonNull(servers, "servers");
    }

    @Override
    public final LockClient newClient() {
        return client(SESSION);
    }

    @Override
    public final LockClient newBriefClient() {
        return client(BRIEF_SESSION);
    }

    private LockClient client(Duration session) {
        FaultProxy proxy = FaultProxy.to(servers);
        try {
            LockClient client = connector.connect(proxy.connectString(), session);
            proxies.put(client, proxy);
            return client;
        } catch (InterruptedException e) {
            proxy.close();
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while connecting a client", e);
        } catch (RuntimeException | Error e) {
            proxy.close();
            throw e;
        }
    }

    private FaultProxy proxy(LockClient client) {
        return Objects.requireNonNull(proxies.get(client), "a client of another fixture");
    }

    @Override
    public final void expire(LockClient client) throws InterruptedException {
        try {
            proxy(client).expireSession().get(Slowness.stretched(patience()).toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException failed) {
            throw new AssertionError("the server has not ended the session", failed);
        }
    }

    @Override
    public void cutOff(LockClient client) {
        proxy(client).blackHole();
    }

    @Override
    public void disconnect(LockClient client) {
        proxy(client).refuse();
        proxy(client).cut();
    }

    @Override
    public void heal(LockClient client) {
        proxy(client).endFaults();
    }

    @Override
    public CompletableFuture<?> loseNextCreate(LockClient client) {
        return proxy(client).cutBefore(RequestMatch.create(), 1).struck();
    }

    @Override
    public CompletableFuture<?> loseAnswerOfNextCreate(LockClient client) {
        return proxy(client).cutAfter(RequestMatch.create(), 1).struck();
    }

    @Override
    public CompletableFuture<?> loseAnswerOfNextDelete(LockClient client) {
        return proxy(client).cutAfter(RequestMatch.delete(), 1).struck();
    }

    record HeldMessages(HeldFrames hold) implements MessageHold {
        @Override
        public CompletableFuture<?> caught() {
            return hold.firstCaught();
        }

        @Override
        public void close() {
            hold.close();
        }
    }

    @Override
    public MessageHold holdAnswersOfCreates(LockClient client) {
        return new HeldMessages(proxy(client).holdAnswers(RequestMatch.create()));
    }

    @Override
    public MessageHold holdEvents(LockClient client) {
        return new HeldMessages(proxy(client).holdEvents());
    }

    @Override
    public void deleteRequest(String path, int place) {
        try {
            ZooKeeper operator = new ZooKeeper(servers.connectString(), (int) SESSION.toMillis(), event -> {});
            try {
                SortedMap<Long, String> requests = new TreeMap<>();
                for (String node : ZKUtil.listSubTreeBFS(operator, path)) {
                    Stat found = operator.exists(node, false);
                    if (found != null && found.getEphemeralOwner() != 0) {
                        requests.put(found.getCzxid(), node);
                    }
                }
                operator.delete(List.copyOf(requests.values()).get(place), -1);
            } finally {
                operator.close();
            }
        } catch (IOException | KeeperException failed) {
            throw new AssertionError("cannot delete a request", failed);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while deleting a request", interrupted);
        }
    }

    @Override
    public void close() {
        proxies.values().forEach(FaultProxy::close);
        servers.close();
    }
}
