package io.latchkey.zk.session;

import io.latchkey.lock.LockException;
import io.latchkey.lock.LockUnavailableException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.zk.acquire.Acquisition;
import io.latchkey.zk.acquire.Command;
import io.latchkey.zk.acquire.Event;
import io.latchkey.zk.acquire.State;
import io.latchkey.zk.queue.NodeName;
import io.latchkey.zk.recipe.Recipe;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The shell of one request: feeds its state machine with what the session brings, carries out the machine's commands,
 * and answers the caller. Confined to the engine's serial executor, but for {@link #outcome()}.
 */
final class Request implements Watches.Listener {
    private final Engine engine;
    private final Recipe recipe;
    private final String path;
    private final Patience patience;
    private final Acquisition machine;
    private final CompletableFuture<Optional<ZkLease>> outcome = new CompletableFuture<>();
    private final Time.@Nullable Timer timer;

    private @Nullable Lane lane;
    private @Nullable ZkLease lease;
    private @Nullable Runnable stopWatchingAhead;
    private @Nullable Runnable stopWatchingOwn;
    /** What the caller is to be told once the node's deletion is answered. */
    private @Nullable Runnable onceLeft;

    private LossCause lossCause = LossCause.NODE_DELETED;

    private Consumer<ReleaseOutcome> onceReleased = ignored -> {};

    Request(Engine engine, Recipe recipe, String path, Patience patience) {
        this.engine = engine;
        this.recipe = recipe;
        this.path = path;
        this.patience = patience;
        this.machine = new Acquisition(recipe.rule(), engine::newId);
        Optional<Duration> limit = patience.limit(engine.sessionTimeout());
        this.timer = limit.map(span -> engine.time().after(span, () -> engine.serially(this::timeUp)))
                .orElse(null);
    }

    /** A lease, nothing when time ran out, or the error; completed on whatever thread brings it. */
    CompletableFuture<Optional<ZkLease>> outcome() {
        return outcome;
    }

    Recipe recipe() {
        return recipe;
    }

    String path() {
        return path;
    }

    State state() {
        return machine.state();
    }

    String id() {
        return machine.id();
    }

    Optional<NodeName> node() {
        return machine.name();
    }

    Lane lane() {
        return Objects.requireNonNull(lane, "the request has no session");
    }

    /** Whether it can learn later where it stands: the caller waits, and no two of its kind hold at once. */
    boolean canBePutOff() {
        return !(patience instanceof Patience.Never) && recipe.sharing() == Recipe.Sharing.EXCLUSIVE;
    }

    /** Whether its node is there and it is not granted yet. */
    boolean isWaiting() {
        State state = machine.state();
        return state == State.LISTING || state == State.WAITING || state == State.CONFIRMING;
    }

    void begin(Lane in) {
        if (machine.state() == State.NEW) {
            lane = in;
            on(new Event.Begin());
        } else if (machine.state() == State.ENQUEUEING && lane == null) {
            lane = in;
            in.enqueue(this);
        }
    }

    void on(Event event) {
        Optional<NodeName> had = machine.name();
        boolean left = false;
        for (Command command : machine.on(event)) {
            left |= command instanceof Command.Leave || command instanceof Command.LeaveAsHolder;
            carryOut(command);
        }
        if (had.isPresent() && !left && lane != null && !machine.name().equals(had)) {
            stopWatchingOwn = null;
            lane.ended(this);
            lane.nodeGone(had.get());
        }
        if (lane != null) {
            lane.reader().reconsider();
        }
        if (machine.state() == State.ENDED) {
            engine.forget(this);
            if (lane != null) {
                lane.session().holdsNoMore(this);
            }
        }
    }

    private void carryOut(Command command) {
        if (command instanceof Command.Enqueue) {
            if (lane != null) {
                lane.enqueue(this);
            }
        } else if (command instanceof Command.ListQueue) {
            lane().reader().list(this);
        } else if (command instanceof Command.Watch watch) {
            watch(watch);
        } else if (command instanceof Command.StopWatching) {
            stopWatchingAhead();
        } else if (command instanceof Command.Confirm) {
            lane().session().confirm(this);
        } else if (command instanceof Command.Grant grant) {
            granted(grant);
        } else if (command instanceof Command.LeaveAsHolder leave) {
            lane().ended(this);
            forgetOwn();
            lane().release(leave.name(), onceReleased);
        } else if (command instanceof Command.Leave leave) {
            lane().ended(this);
            forgetOwn();
            lane().withdraw(leave.name(), this::left);
        } else if (command instanceof Command.Disown disown) {
            lane().reader().disown(disown.id());
        } else if (command instanceof Command.Recover) {
            lane().session().whenConnected(() -> {
                if (lane != null) {
                    lane.reader().listForLostCreate(this);
                }
            });
        } else if (command instanceof Command.LookUp lookUp) {
            lane().lookUp(this, lookUp.name());
        } else if (command instanceof Command.Drain) {
            lane().drain(this);
        } else if (command instanceof Command.Lose) {
            Objects.requireNonNull(lease).lose(lossCause);
        }
    }

    private void watch(Command.Watch watch) {
        if (patience instanceof Patience.Never) {
            giveUpThen(() -> outcome.complete(Optional.empty()));
            return;
        }
        lane().watch(this, watch.on().get(0));
    }

    void watchesAhead(Runnable stop) {
        stopWatchingAhead = stop;
    }

    void watchesOwn(Runnable stop) {
        stopWatchingOwn = stop;
    }

    boolean watchesOwn() {
        return stopWatchingOwn != null;
    }

    private void stopWatchingAhead() {
        if (stopWatchingAhead != null) {
            stopWatchingAhead.run();
            stopWatchingAhead = null;
        }
    }

    private void forgetOwn() {
        if (stopWatchingOwn != null) {
            stopWatchingOwn.run();
            stopWatchingOwn = null;
        }
    }

    private void granted(Command.Grant grant) {
        stopTimer();
        lane().granted(this);
        lane().session().holds(this);
        lease = new ZkLease(engine, this, grant.name(), grant.token(), lane().session());
        outcome.complete(Optional.of(lease));
    }

    /** The one ahead was granted and let go: seen as the pair of one transaction, or in this client. */
    @Override
    public void released() {
        stopWatchingAhead = null;
        on(new Event.HandedOver());
    }

    @Override
    public void gone() {
        stopWatchingAhead = null;
        lookAgain();
    }

    @Override
    public void blind(Answer<?> why) {
        stopWatchingAhead = null;
        if (why.code() == Code.NO_AUTH) {
            fail(Errors.denied(engine.shown(path), "watch the request ahead", why));
        } else if (why.code() == Code.OTHER) {
            lane().session().afterBeat(this::lookAgain);
        } else {
            lane().session().whenConnected(this::lookAgain);
        }
    }

    private void lookAgain() {
        if (machine.state() == State.WAITING) {
            on(new Event.LookAgain());
        }
    }

    /** Listens to the own node. */
    Watches.Listener ownListener() {
        return new Watches.Listener() {
            @Override
            public void released() {
                gone();
            }

            @Override
            public void gone() {
                ownNodeGone(LossCause.NODE_DELETED);
            }

            @Override
            public void blind(Answer<?> why) {
                stopWatchingOwn = null;
                lane().session().whenConnected(Request.this::lookAgain);
            }
        };
    }

    /** Somebody deleted the node; what it was worth goes with it. */
    void ownNodeGone(LossCause cause) {
        if (machine.name().isPresent()) {
            lossCause = cause;
            on(new Event.OwnNodeGone());
        }
    }

    /** The validity deadline has passed. */
    void lapsed() {
        if (machine.state() == State.HELD) {
            lossCause = LossCause.DEADLINE_PASSED;
            on(new Event.Lapsed());
        }
    }

    /** The session is over; a waiting request goes on with the next one. */
    void sessionOver() {
        lossCause = LossCause.SESSION_EXPIRED;
        stopWatchingAhead = null;
        stopWatchingOwn = null;
        lane = null;
        if (machine.state() != State.ENDED && machine.state() != State.NEW) {
            on(new Event.SessionOver());
        }
        runOnceLeft();
    }

    /** Lets go of what is held, and tells {@code then} what became of it. */
    void release(Consumer<ReleaseOutcome> then) {
        if (machine.state() != State.HELD) {
            then.accept(ReleaseOutcome.LOST);
            return;
        }
        onceReleased = then;
        on(new Event.Release());
    }

    /** The client closes: a held lease is lost to its owner, a waiting caller is told. */
    void close(LockException closed) {
        lossCause = LossCause.CLIENT_CLOSED;
        if (machine.state() == State.HELD) {
            Objects.requireNonNull(lease).lose(lossCause);
            release(ignored -> {});
        } else {
            settle(() -> outcome.completeExceptionally(closed));
        }
    }

    /** Nobody wants the outcome any more: interrupted or cancelled. */
    void abandon() {
        if (machine.state() == State.HELD) {
            Objects.requireNonNull(lease).abandon();
        } else {
            settle(() -> outcome.complete(Optional.empty()));
        }
    }

    private void timeUp() {
        if (onceLeft != null) {
            runOnceLeft();
        } else if (patience instanceof Patience.Never) {
            settle(() -> outcome.completeExceptionally(
                    new LockUnavailableException(Errors.outOfReach(engine.shown(path), engine.sessionTimeout()))));
        } else {
            settle(() -> outcome.complete(Optional.empty()));
        }
    }

    /** Answers the caller at once and cleans up behind. */
    private void settle(Runnable answer) {
        stopTimer();
        if (!outcome.isDone()) {
            answer.run();
            giveUp();
        }
    }

    void fail(LockException error) {
        giveUpThen(() -> outcome.completeExceptionally(error));
    }

    /** The server refused the creation: nothing is there to clean up. */
    void refused(LockException error) {
        stopTimer();
        on(new Event.CreateRefused());
        outcome.completeExceptionally(error);
    }

    /** Cleans up, then answers the caller: what it is told is true for everybody by then. */
    private void giveUpThen(Runnable answer) {
        if (machine.state() == State.ENDED || onceLeft != null) {
            return;
        }
        onceLeft = answer;
        boolean leaves = machine.name().isPresent();
        giveUp();
        if (!leaves) {
            runOnceLeft();
        }
    }

    private void giveUp() {
        if (machine.state() != State.ENDED && machine.state() != State.HELD) {
            on(new Event.GiveUp());
        }
        if (machine.state() == State.ABANDONING && lane == null) {
            // Between two sessions: nothing was sent in the next one.
            on(new Event.CreateRefused());
        }
    }

    private void left(ReleaseOutcome ignored) {
        runOnceLeft();
    }

    private void runOnceLeft() {
        if (onceLeft != null) {
            stopTimer();
            Runnable answer = onceLeft;
            onceLeft = null;
            answer.run();
        }
    }

    private void stopTimer() {
        if (timer != null) {
            timer.cancel();
        }
    }
}
