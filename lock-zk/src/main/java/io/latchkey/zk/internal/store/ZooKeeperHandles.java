// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import com.google.common.base.Utf8;
import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.LockUnavailableException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.client.HostProvider;
import org.apache.zookeeper.client.StaticHostProvider;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.PathUtils;
import org.apache.zookeeper.data.ACL;

/**
 * Opens ZooKeeper handles of one description.
 *
 * @param connectString servers, and maybe a chroot
 * @param sessionTimeout the time-out asked for
 * @param auth the logins to present on every connection
 * @param config TLS, SASL and the like
 */
public record ZooKeeperHandles(String connectString, Duration sessionTimeout, List<Auth> auth, ZKClientConfig config) {
    private static final int PROBE_MILLIS = 1000;
    /** Of ZooKeeper 3.10 on. */
    private static final String DNS_SRV = "dns-srv://";
    /** The rights of an entry, and two lengths. */
    private static final int ACL_BYTES = 3 * Integer.BYTES;

    /**
     * The servers, as ZooKeeper's client takes them in turn. It waits for a second before it tries all of them again, also
     * where there is one that has served until now; that is a third of the shortest sessions. Here the first try after a
     * connection that served comes without that pause.
     */
    private static final class Servers implements HostProvider {
        private final HostProvider all;
        private boolean served;

        Servers(Collection<InetSocketAddress> addresses) {
            this.all = new StaticHostProvider(addresses);
        }

        @Override
        public int size() {
            return all.size();
        }

        @Override
        public InetSocketAddress next(long pauseMillis) {
            boolean atOnce = served;
            served = false;
            return all.next(atOnce ? 0 : pauseMillis);
        }

        @Override
        public void onConnected() {
            served = true;
            all.onConnected();
        }

        @Override
        public boolean updateServerList(Collection<InetSocketAddress> addresses, InetSocketAddress current) {
            return all.updateServerList(addresses, current);
        }
    }

    /** The ACL of who names none and does not log in. */
    public static final List<ACL> EVERYBODY_EVERYTHING = List.copyOf(ZooDefs.Ids.OPEN_ACL_UNSAFE);

    /** The ACL of who names none and logs in. */
    public static final List<ACL> CREATOR_EVERYTHING = List.copyOf(ZooDefs.Ids.CREATOR_ALL_ACL);

    /** A login. */
    @SuppressWarnings("ArrayRecordComponent") // Handed on as ZooKeeper takes it; nobody compares logins.
    public record Auth(String scheme, byte[] credentials) {}

    /** Checks what can be checked before anything is sent. */
    public ZooKeeperHandles {
        if (connectString.isBlank()) {
            throw new IllegalArgumentException("The connect string is empty; give host:port[,host:port...][/chroot].");
        }
        if (connectString.startsWith(DNS_SRV)) {
            throw new IllegalArgumentException(
                    "The connect string \"" + connectString + "\" asks for servers from a DNS SRV"
                            + " record (" + DNS_SRV + "), which is not supported. Nothing was sent. Give"
                            + " host:port[,host:port...][/chroot].");
        }
        try {
            new ConnectStringParser(connectString);
        } catch (RuntimeException bad) {
            throw new IllegalArgumentException(
                    "The connect string \"" + connectString
                            + "\" is malformed; give host:port[,host:port...][/chroot], without http:// before it.",
                    bad);
        }
        checkWatchReset(config);
        auth = List.copyOf(auth);
    }

    /** A handle that forgets its watches on reconnecting would leave waiters asleep. */
    public static void checkWatchReset(ZKClientConfig config) {
        if (config.getBoolean(ZKClientConfig.DISABLE_AUTO_WATCH_RESET)) {
            throw new IllegalArgumentException("ZooKeeper's client is configured with "
                    + ZKClientConfig.DISABLE_AUTO_WATCH_RESET
                    + "=true: watches would be lost at every reconnect, and waiters with them. Switch it off.");
        }
    }

    /**
     * Checks that at least one server has an address.
     *
     * @throws LockUnavailableException if none has
     */
    public void checkHosts() {
        List<InetSocketAddress> servers = new ConnectStringParser(connectString).getServerAddresses();
        for (InetSocketAddress server : servers) {
            try {
                InetAddress unused = InetAddress.getByName(server.getHostString());
                return;
            } catch (UnknownHostException unknown) {
                // The next one may be known; if none is, the error below names them all.
            }
        }
        throw new LockUnavailableException("No host of the connect string \"" + connectString
                + "\" has a known address. Nothing was sent. Check the names.");
    }

    /** Whether every server's machine says that nobody listens there; any other failure may pass. */
    public boolean allRefuse() {
        for (InetSocketAddress server : new ConnectStringParser(connectString).getServerAddresses()) {
            try (Socket probe = new Socket()) {
                probe.connect(new InetSocketAddress(server.getHostString(), server.getPort()), PROBE_MILLIS);
                return false;
            } catch (ConnectException refused) {
                // So does this one; the next may not.
            } catch (IOException unclear) {
                return false;
            }
        }
        return true;
    }

    public ZooKeeper open(Watcher watcher) throws IOException {
        return open(connectString, watcher);
    }

    private ZooKeeper open(String to, Watcher watcher) throws IOException {
        HostProvider servers = new Servers(new ConnectStringParser(to).getServerAddresses());
        ZooKeeper handle = new ZooKeeper(to, (int) sessionTimeout.toMillis(), watcher, false, servers, config);
        for (Auth login : auth) {
            handle.addAuthInfo(login.scheme(), login.credentials());
        }
        return handle;
    }

    public boolean hasChroot() {
        return !chroot().isEmpty();
    }

    /** The path below which the handle sees all paths; empty if it sees the root. */
    public String chroot() {
        String chroot = new ConnectStringParser(connectString).getChrootPath();
        return chroot == null ? "" : chroot;
    }

    /** What an ACL takes of a request. */
    public static int bytesOf(List<ACL> acls) {
        return acls.stream()
                .mapToInt(acl -> ACL_BYTES
                        + Utf8.encodedLength(acl.getId().getScheme())
                        + Utf8.encodedLength(acl.getId().getId()))
                .sum();
    }

    /** Creates the chroot, which is missing, and the levels above it that are, through a handle of its own. */
    public void createChroot(List<ACL> acl) throws IOException, InterruptedException, KeeperException {
        String chroot = chroot();
        String servers = connectString.substring(0, connectString.indexOf('/'));
        ZooKeeper root = open(servers, event -> {});
        try {
            PathUtils.validatePath(chroot);
            createLevel(root, chroot, new ArrayList<>(acl));
        } catch (KeeperException.NoAuthException refused) {
            throw new AccessDeniedException("The chroot of " + connectString
                    + " does not exist, and this client may not create it. Create it, or give the right to.");
        } finally {
            root.close();
        }
    }

    /** From the bottom up, so that no right is asked for at a level that is there. */
    private static void createLevel(ZooKeeper root, String level, List<ACL> acl)
            throws InterruptedException, KeeperException {
        try {
            String unused = root.create(level, new byte[0], acl, CreateMode.PERSISTENT);
        } catch (KeeperException.NodeExistsException fine) {
            // Another client was faster.
        } catch (KeeperException.NoNodeException missing) {
            createLevel(root, level.substring(0, level.lastIndexOf('/')), acl);
            createLevel(root, level, acl);
        }
    }
}
