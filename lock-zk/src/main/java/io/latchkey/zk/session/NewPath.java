package io.latchkey.zk.session;

import io.latchkey.zk.queue.Kind;
import io.latchkey.zk.queue.NodeName;
import java.util.List;
import java.util.function.Consumer;

/**
 * Makes a path that is missing: it, its kind and its first request come in one transaction, so that it is never seen
 * without a kind, and never stays without ever having had a child, which the server would not reap. Levels above are
 * made as needed.
 */
final class NewPath {
    private final Session session;
    private final String path;

    /** What became of it. */
    sealed interface Outcome {
        /** The path is there with this request, which therefore is alone. */
        record Made(ZooPort.Created first) implements Outcome {}

        /** Somebody was faster. Nothing was created. */
        record AlreadyThere() implements Outcome {}

        /** Even the topmost level has nothing to stand on. Nothing was created. */
        record NoChroot() implements Outcome {}

        /** Refused, or lost. */
        record Failed(Answer<?> answer) implements Outcome {}
    }

    NewPath(Session session, String path) {
        this.session = session;
        this.path = path;
    }

    void makeWith(ZooPort.Write.CreateRequest first, Kind kind, Consumer<Outcome> then) {
        List<ZooPort.Write> all =
                List.of(new ZooPort.Write.CreatePath(path), new ZooPort.Write.SetData(path, kind.data(), 0), first);
        session.write(all, answer -> {
            switch (session.codeOf(answer)) {
                case OK -> then.accept(new Outcome.Made(request(answer.get())));
                case NODE_EXISTS -> then.accept(new Outcome.AlreadyThere());
                case NO_NODE -> makeLevel(path.indexOf('/', 1), then, () -> makeWith(first, kind, then));
                default -> then.accept(new Outcome.Failed(session.plain(answer)));
            }
        });
    }

    private void makeLevel(int end, Consumer<Outcome> then, Runnable allMade) {
        if (end < 0) {
            allMade.run();
            return;
        }
        int top = path.indexOf('/', 1);
        session.write(List.of(new ZooPort.Write.CreatePath(path.substring(0, end))), answer -> {
            switch (session.codeOf(answer)) {
                case OK, NODE_EXISTS -> makeLevel(path.indexOf('/', end + 1), then, allMade);
                case NO_NODE -> {
                    if (end == top) {
                        then.accept(new Outcome.NoChroot());
                    } else {
                        // The server reaped an empty level meanwhile.
                        makeLevel(top, then, allMade);
                    }
                }
                default -> then.accept(new Outcome.Failed(session.plain(answer)));
            }
        });
    }

    private static ZooPort.Created request(ZooPort.Written written) {
        return written.created().stream()
                .filter(node -> NodeName.parse(node.name()).isPresent())
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no request among " + written));
    }
}
