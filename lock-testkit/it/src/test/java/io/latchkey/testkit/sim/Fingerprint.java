// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.Collection;
import java.util.List;
import java.util.function.BiConsumer;

/** A 128-bit hash that identifies the state of a world: different states collide once in 10^38. */
final class Fingerprint {
    private static final long ONE = 0x9E3779B97F4A7C15L;
    private static final long TWO = 0xC2B2AE3D27D4EB4FL;

    private long high = ONE;
    private long low = TWO;

    /** Whether zxids are part of the fingerprint if they matter only to clients that reconnect. */
    enum Zxids {
        COUNT,
        DO_NOT_COUNT
    }

    long high() {
        return high;
    }

    long low() {
        return low;
    }

    void add(long value) {
        high = mixed(high ^ (value * TWO)) + ONE;
        low = mixed((low + value) * ONE) ^ TWO;
    }

    private static long mixed(long value) {
        long mixed = (value ^ (value >>> 32)) * 0xD6E8FEB86659FD93L;
        mixed = (mixed ^ (mixed >>> 29)) * 0xBF58476D1CE4E5B9L;
        return mixed ^ (mixed >>> 32);
    }

    void add(String text) {
        add(text.length());
        long four = 0;
        for (int i = 0; i < text.length(); i++) {
            four = (four << 16) | text.charAt(i);
            if ((i & 3) == 3) {
                add(four);
                four = 0;
            }
        }
        add(four);
    }

    void add(byte[] data) {
        add(data.length);
        long eight = 0;
        for (int i = 0; i < data.length; i++) {
            eight = (eight << 8) | (data[i] & 0xff);
            if ((i & 7) == 7) {
                add(eight);
                eight = 0;
            }
        }
        add(eight);
    }

    /** Adds elements regardless of their order. */
    <T> void addAll(Collection<T> all, BiConsumer<T, Fingerprint> each) {
        long highs = 0;
        long lows = 0;
        for (T one : all) {
            Fingerprint print = new Fingerprint();
            each.accept(one, print);
            highs += print.high;
            lows += print.low;
        }
        add(highs);
        add(lows);
        add(all.size());
    }

    /** Adds the content of a message to a client: a response, an event or a word. */
    void addContent(Object content) {
        if (content instanceof Response<?> answer) {
            add(answer.code().name());
            if (answer.ok()) {
                addContent(answer.get());
            }
        } else if (content instanceof ZnodeStore.TransactionResult written) {
            for (ZnodeStore.CreatedNode created : written.created()) {
                add(created.name());
                add(created.czxid());
            }
            written.failedAt().ifPresent(refusal -> {
                add(refusal.index());
                add(refusal.code().name());
            });
            add(written.created().size());
        } else if (content instanceof ZnodeStore.Listing listing) {
            for (String child : listing.children()) {
                add(child);
            }
            add(listing.mzxid());
        } else if (content instanceof ZnodeStore.NodeData node) {
            add(node.data());
            add(node.czxid());
            add(node.mzxid());
            add(node.version());
            add(node.ctimeMillis());
        } else if (content instanceof SimulatedStore.FiredWatch fired) {
            add(fired.path());
            add(fired.change().name());
            add(fired.zxid());
        } else if (content instanceof List<?> several) {
            several.forEach(this::addContent);
        } else if (content instanceof String word) {
            add(word);
        } else {
            throw new IllegalArgumentException("nothing known of " + content);
        }
    }

    /** Adds the effects of a transaction. */
    void add(Tree.Txn txn) {
        add(txn.ended());
        for (Tree.Effect change : txn.changes()) {
            add(change.path());
            if (change instanceof Tree.Effect.Created created) {
                add(created.data());
                add(created.owner());
            } else if (change instanceof Tree.Effect.DataSet set) {
                add(set.data());
            } else {
                add(-1);
            }
        }
    }

    /** Adds all that reads can tell of a tree. */
    void add(Tree tree, Zxids zxids) {
        add(tree.zxid());
        addAll(tree.nodes.entrySet(), (entry, each) -> {
            Tree.Node node = entry.getValue();
            each.add(entry.getKey());
            each.add(node.data);
            each.add(node.czxid);
            each.add(node.mzxid);
            each.add(zxids == Zxids.COUNT ? node.pzxid : 0);
            each.add(node.owner);
            each.add(node.version);
            each.add(node.creates);
            for (String child : node.children()) {
                each.add(child);
            }
        });
    }

    /**
     * Adds the state that determines the future of a store, apart from the client's own: the positions of its requests,
     * the responses in transit, and the watches at the server.
     *
     * @param zxids whether to include the zxids that the client remembers for its next connection
     */
    void add(SimulatedStore store, Zxids zxids) {
        add(store.session());
        add(store.state.name());
        add((store.silent ? 2 : 0) | (store.losing ? 1 : 0));
        for (SimulatedStore.SentRequest sent : store.outgoing) {
            add(store.requests - sent.number);
        }
        add(-1);
        for (SimulatedStore.SentRequest sent : store.taken) {
            add(store.requests - sent.number);
            add(sent.after);
            if (sent instanceof SimulatedStore.SentWrite writing) {
                addContent(writing.answer);
            }
        }
        add(-2);
        add(store.ghosts.size());
        add(-3);
        for (SimulatedStore.Message message : store.incoming) {
            addContent(message.content());
            add(zxids == Zxids.COUNT ? message.zxid() : 0);
        }
        add(zxids == Zxids.COUNT ? store.lastZxid : 0);
        addAll(store.watches(), (watch, each) -> {
            each.add(watch.path());
            each.add(watch.what().name());
        });
    }

    /** Adds the writes that this server executes when the client reconnects to it. */
    void addStuck(SimulatedStore store, Server at) {
        for (SimulatedStore.SentRequest sent : store.stuck.getOrDefault(at, List.of())) {
            add(store.requests - sent.number);
        }
        add(-4);
    }
}
