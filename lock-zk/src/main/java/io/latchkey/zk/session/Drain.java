package io.latchkey.zk.session;

import io.latchkey.lock.LockException;
import io.latchkey.zk.acquire.Event;
import io.latchkey.zk.acquire.State;
import io.latchkey.zk.queue.Queue;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Makes room where a path's counter is near its end: waits until nobody is in the queue, deletes the path, and lets the
 * requests that stepped back make it anew. A path is deleted only when it is empty, and then nobody holds.
 */
final class Drain implements Watches.Listener {
    private final Session session;
    private final String path;
    private final List<Request> steppedBack = new ArrayList<>();

    Drain(Session session, String path) {
        this.session = session;
        this.path = path;
    }

    boolean idle() {
        return steppedBack.isEmpty();
    }

    void await(Request request) {
        steppedBack.add(request);
        if (steppedBack.size() == 1) {
            look();
        }
    }

    private void look() {
        steppedBack.removeIf(request -> request.state() != State.DRAINING);
        if (steppedBack.isEmpty()) {
            return;
        }
        Runnable stop = session.watches().watchForRelease(path, this);
        session.<ZooPort.Listing>ask(then -> session.port().list(path, then), answer -> {
            if (answer.code() == Code.NO_NODE) {
                stop.run();
                drained();
            } else if (answer.ok() && answer.get().children().isEmpty()) {
                stop.run();
                deletePath();
            } else if (answer.ok()
                    && Queue.of(answer.get().children()).requests().isEmpty()) {
                stop.run();
                failAll("foreign children are under it");
            } else if (answer.code() == Code.CONNECTION_LOSS || answer.code() == Code.READ_ONLY) {
                session.whenConnected(this::look);
            } else if (!answer.ok()) {
                stop.run();
                failAll(answer.detail());
            }
        });
    }

    private void deletePath() {
        session.write(List.of(new ZooPort.Write.Delete(path)), answer -> {
            switch (Session.codeOf(answer)) {
                case OK, NO_NODE -> drained();
                case NOT_EMPTY -> look();
                case CONNECTION_LOSS, READ_ONLY -> session.whenConnected(this::look);
                default -> failAll(Session.plain(answer).detail());
            }
        });
    }

    private void drained() {
        forAll(request -> request.on(new Event.Drained()));
    }

    private void failAll(String why) {
        LockException error = Errors.cannotRenew(session.engine().shown(path), why);
        forAll(request -> request.fail(error));
    }

    private void forAll(Consumer<Request> action) {
        List<Request> all = List.copyOf(steppedBack);
        steppedBack.clear();
        for (Request request : all) {
            if (request.state() == State.DRAINING) {
                action.accept(request);
            }
        }
    }

    @Override
    public void released() {
        look();
    }

    @Override
    public void gone() {
        look();
    }

    @Override
    public void childrenChanged() {
        look();
    }

    @Override
    public void blind(Answer<?> why) {
        session.whenConnected(this::look);
    }
}
