// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

import io.latchkey.zk.queue.NodeName;
import io.latchkey.zk.recipe.Recipe;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The server takes one question of a session: what it answers, and what watches may see. */
final class Service {
    private final Scope scope;
    private final int session;
    private final Shell shell;
    private final List<Change> changes = new ArrayList<>();
    private Server server;

    Service(Scope scope, Server server, int session, Shell shell) {
        this.scope = scope;
        this.server = server;
        this.session = session;
        this.shell = shell;
    }

    Server server() {
        return server;
    }

    /** All that was changed, in order. */
    List<Change> changes() {
        return changes;
    }

    /** All of the server that the answer depends on, when the server does not change by it. */
    static Optional<Object> sight(Server server, Ask ask) {
        if (ask instanceof Ask.Read read) {
            return Optional.of(server.trees().get(read.path()).data());
        } else if (ask instanceof Ask.ListQueue list) {
            Server.Tree tree = server.trees().get(list.path());
            return Optional.of(List.of(tree.data().version(), tree.names()));
        } else if (ask instanceof Ask.Watch watch) {
            Target target = watch.target();
            Server.Tree tree = server.trees().get(target.path());
            return Optional.of(target.node()
                    .<Object>map(node -> tree.nodes().stream()
                            .filter(there -> there.name().equals(node))
                            .map(there -> List.of(there.word(), there.since()))
                            .toList())
                    .orElseGet(() -> watch.kind() == Ask.Kind.DATA ? tree.data() : tree.names()));
        } else if (ask instanceof Ask.Unwatch) {
            return Optional.of(List.of());
        }
        return Optional.empty();
    }

    void takeNext() {
        Ask ask = shell.taken();
        if (ask instanceof Ask.Create create) {
            create(create);
        } else if (ask instanceof Ask.Read read) {
            shell.tell(new Tell.DataRead(
                    read.path(), server.trees().get(read.path()).data(), read.heldBack()));
        } else if (ask instanceof Ask.ListQueue list) {
            Server.Tree tree = server.trees().get(list.path());
            shell.tell(new Tell.Listing(list.path(), tree.data().version(), tree.names(), list.served()));
        } else if (ask instanceof Ask.Watch watch) {
            watch(watch);
        } else if (ask instanceof Ask.Unwatch unwatch) {
            shell.disarm(unwatch.target());
        } else if (ask instanceof Ask.Word word) {
            if (isThere(word.node())) {
                server = server.word(word.node().path(), word.node().node().orElseThrow());
                changes.add(new Change.Word(word.node()));
            }
        } else if (ask instanceof Ask.Delete delete) {
            delete(delete);
        }
    }

    private void create(Ask.Create create) {
        List<NodeName> names = new ArrayList<>();
        for (Scope.Wish wish : scope.request(session, create.request()).wishes()) {
            int sequence = server.trees().get(wish.path()).created();
            NodeName name = name(wish.recipe(), create.id(), sequence);
            names.add(name);
            moved(wish.path());
            int since = server.trees().get(wish.path()).data().version();
            server = server.with(wish.path(), new Server.Node(name, session, create.request(), 0, since, false));
        }
        shell.tell(new Tell.Created(create.request(), List.copyOf(names)));
    }

    private void delete(Ask.Delete delete) {
        boolean whole = delete.nodes().stream().allMatch(this::isThere);
        for (Target node : delete.nodes()) {
            if (isThere(node)) {
                server = server.without(node.path(), node.node().orElseThrow());
                changed(new Change.Gone(node, whole ? delete.manner() : Ask.Manner.PLAIN));
                moved(node.path());
            }
        }
        shell.tell(new Tell.Deleted(delete.nodes()));
    }

    private void moved(int path) {
        changed(new Change.Moved(path));
    }

    private void changed(Change change) {
        shell.fire(change);
        changes.add(change);
    }

    private void watch(Ask.Watch watch) {
        Target target = watch.target();
        Server.Tree tree = server.trees().get(target.path());
        if (target.node().isEmpty()) {
            shell.arm(target, watch.kind());
            shell.tell(
                    watch.kind() == Ask.Kind.DATA
                            ? new Tell.Watched(target.path(), tree.data(), watch.generation())
                            : new Tell.Children(target.path(), tree.names(), watch.generation()));
        } else if (isThere(target)) {
            shell.arm(target, watch.kind());
            Server.Node seen = server.node(target.path(), target.node().get());
            if (seen.word() || scope.budget().resizes() > 0) {
                shell.tell(new Tell.Seen(target, watch.generation(), seen.since(), seen.word()));
            }
        } else {
            shell.tell(new Tell.NotThere(target, watch.generation()));
        }
    }

    private boolean isThere(Target node) {
        return server.trees().get(node.path()).has(node.node().orElseThrow());
    }

    private static NodeName name(Recipe recipe, String id, int sequence) {
        return NodeName.parse(NodeName.prefix(recipe.tag(), id, recipe.permits()) + String.format("%010d", sequence))
                .orElseThrow();
    }
}
