// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;

/**
 * Three ZooKeeper servers in JVMs of their own, so that one can stand still as a whole, or die in the middle of
 * anything. Ready within 2 to 5 s. Where that is not needed, {@link EmbeddedEnsemble} is faster and can do more. The
 * tick is 500 ms; followers that are silent for ten ticks are dropped, sessions are two ticks to 60 s long.
 *
 * <p>A server without a quorum serves read-only handles, where the ensemble has local sessions
 * ({@code localSessionsEnabled=true}): a server of 3.6 or later refuses every other session then.
 *
 * <p>Servers are counted from 0; another number than 0 to 2 is an {@link IndexOutOfBoundsException}. All methods may be
 * called from any thread. Pausing needs the signals STOP and CONT, so it is not for Windows.
 */
public final class ProcessEnsemble extends AskedServers {
    private static final int TICK_MILLIS = 500;
    private static final Duration READY_WITHIN = Duration.ofSeconds(60);

    private final TempFolder folder;
    private final List<ServerProcess> servers;

    /**
     * The number of servers and their ids.
     *
     * @param voters the number of servers that vote, one at least
     * @param observers the number of servers that take no part in votes: the last ones
     * @param firstId the id of the first server, from 1 on; the others have the next ones. From 128 on the ids of
     *     sessions are negative
     */
    public record Shape(int voters, int observers, int firstId) {
        /** Three servers that vote. */
        public static final Shape USUAL = new Shape(3, 0, 1);

        /**
         * Checks the arguments.
         *
         * @param voters the number of servers that vote, one at least
         * @param observers the number of servers that take no part in votes: the last ones
         * @param firstId the id of the first server, from 1 on
         * @throws IllegalArgumentException if these are no ensemble
         */
        public Shape {
            if (voters < 1 || observers < 0 || firstId < 1 || firstId + voters + observers > 256) {
                throw new IllegalArgumentException(
                        "no ensemble: " + voters + " voters, " + observers + " observers from id " + firstId);
            }
        }

        int size() {
            return voters + observers;
        }

        private boolean isObserver(int id) {
            return id >= firstId + voters;
        }
    }

    private ProcessEnsemble(
            TempFolder folder,
            Shape shape,
            List<EnsembleServer.Place> places,
            List<String> settings,
            String classPath) {
        super(places.stream().map(place -> Localhost.port(place.clientPort())).toList());
        this.folder = folder;
        this.servers = places.stream()
                .map(place -> new ServerProcess(
                        place.folder(),
                        place.id(),
                        config(place, shape, places, settings),
                        classPath,
                        List.of(
                                "-Dreadonlymode.enabled=true",
                                "-D" + Elections.LONGEST_SILENCE + "=" + Elections.LONGEST_SILENCE_MILLIS)))
                .toList();
    }

    private static List<String> config(
            EnsembleServer.Place place, Shape shape, List<EnsembleServer.Place> all, List<String> settings) {
        List<String> lines = new ArrayList<>(List.of(
                "tickTime=" + TICK_MILLIS,
                "initLimit=50",
                "syncLimit=10",
                "clientPort=" + place.clientPort(),
                "clientPortAddress=127.0.0.1"));
        // With the port for clients, as members that may change by `reconfig` have to be written.
        all.forEach(each -> lines.add("server." + each.id() + "=127.0.0.1:" + each.quorumPort() + ":"
                + each.electionPort() + (shape.isObserver(each.id()) ? ":observer" : ":participant") + ";127.0.0.1:"
                + each.clientPort()));
        if (shape.isObserver(place.id())) {
            lines.add("peerType=observer");
        }
        lines.addAll(settings);
        return lines;
    }

    /**
     * Starts three servers and returns when all of them serve.
     *
     * @param settings lines of {@code zoo.cfg} for all of them, such as {@code localSessionsEnabled=true}
     * @return the ensemble, which serves; close it
     * @throws AssertionError if they do not serve within 60 s
     * @throws IllegalStateException if interrupted while waiting; the interrupt status stays set
     */
    public static ProcessEnsemble start(String... settings) {
        return start(Shape.USUAL, settings);
    }

    /**
     * Starts servers and returns when all of them serve.
     *
     * @param shape their number and ids
     * @param settings lines of {@code zoo.cfg} for all of them
     * @return the ensemble, which serves; close it
     * @throws AssertionError if they do not serve within 60 s
     * @throws IllegalStateException if interrupted while waiting; the interrupt status stays set
     */
    public static ProcessEnsemble start(Shape shape, String... settings) {
        return startOn(System.getProperty("java.class.path"), shape, settings);
    }

    /**
     * Starts servers of another version, and returns when all of them serve.
     *
     * @param classPath the class path of the servers, as {@code java -cp} takes it
     * @param shape their number and ids
     * @param settings lines of {@code zoo.cfg} for all of them
     * @return the ensemble, which serves; close it
     * @throws AssertionError if they do not serve within 60 s
     * @throws IllegalStateException if interrupted while waiting; the interrupt status stays set
     */
    public static ProcessEnsemble startOn(String classPath, Shape shape, String... settings) {
        TempFolder folder = new TempFolder("latchkey-processes-");
        List<EnsembleServer.Place> places = EnsembleServer.Place.all(shape.firstId(), shape.size(), folder.path());
        ProcessEnsemble made = new ProcessEnsemble(folder, shape, places, List.of(settings), classPath);
        return Elections.serving(
                made,
                () -> made.servers.forEach(ServerProcess::start),
                made::close,
                READY_WITHIN,
                () -> IntStream.range(0, shape.size()).allMatch(made::isServing));
    }

    private ServerProcess at(int server) {
        return servers.get(Objects.checkIndex(server, size()));
    }

    /**
     * {@return whether the server says that it has no quorum and serves read-only handles alone} A paused one says
     * nothing, which takes a second to find out.
     *
     * @param server its number
     */
    public boolean isReadOnly(int server) {
        return ask(server, "srvr").contains("Mode: read-only");
    }

    /**
     * Stops one server in its tracks (SIGSTOP): its connections stay open and silent, its clocks go on without it. If
     * it leads, nothing is committed and no session ends until it {@linkplain #resume goes on}; it goes on as leader if
     * that is within ten ticks, and ends at once every session that has been silent for its timeout by the clock, which
     * its servers' pings may be too late to prevent. After ten ticks the others elect another leader, and sessions get
     * their whole timeout again from that.
     *
     * @param server its number
     * @throws IllegalStateException if it does not run
     */
    public void pause(int server) {
        at(server).pause();
    }

    /**
     * Lets a paused server go on (SIGCONT).
     *
     * @param server its number
     * @throws IllegalStateException if it does not run
     */
    public void resume(int server) {
        at(server).resume();
    }

    /**
     * Ends one server's process (SIGKILL), paused or not, in the middle of whatever it does. Does nothing if it does
     * not run.
     *
     * @param server its number
     */
    public void kill(int server) {
        at(server).kill();
    }

    /** {@inheritDoc} As {@link #kill}: a process has no gentler end. */
    @Override
    public void stop(int server) {
        kill(server);
    }

    /** {@inheritDoc} First kills it if it runs. */
    @Override
    public void restart(int server) {
        at(server).kill();
        at(server).start();
    }

    /**
     * Restarts one server on another class path, as an upgrade does. First kills it if it runs.
     *
     * @param server its number
     * @param classPath the class path of this server from now on
     */
    public void restartOn(int server, String classPath) {
        at(server).useFromNowOn(classPath);
        restart(server);
    }

    @Override
    public void close() {
        servers.forEach(ServerProcess::kill);
        folder.close();
    }
}
