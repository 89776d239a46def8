// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import io.latchkey.zk.internal.queue.PrintableText;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.zookeeper.client.ConnectStringParser;

/**
 * The check of a connect string for what can only be a mistake.
 *
 * <p>ZooKeeper's client takes most texts for a connect string: all behind the first slash is the chroot, an empty entry
 * is left out, and a host may have any characters. Such a client waits for servers that do not exist. Or it
 * creates odd nodes, and has other locks than the clients whose connect string is right.
 */
final class ConnectStringCheck {
    private static final String FORM = "host:port[,host:port...][/chroot]";
    /** Supported by ZooKeeper's client from version 3.10 on. */
    private static final String DNS_SRV = "dns-srv://";

    private static final int LONGEST_MESSAGE = 1_000;
    private static final int LARGEST_PORT = 65_535;
    private static final int LARGEST_OCTET = 255;
    private static final int OCTETS = 4;

    private static final Pattern HOST = Pattern.compile("[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*\\.?");
    private static final Pattern NUMBERS = Pattern.compile("[0-9]+(\\.[0-9]+)*\\.?");
    private static final Pattern IPV6 = Pattern.compile("[0-9A-Fa-f]*:[0-9A-Fa-f:.]*(%[A-Za-z0-9._-]+)?");
    private static final Pattern BRACKETED = Pattern.compile("\\[([^\\]]*)\\](?::(.*))?");
    private static final Pattern PORT = Pattern.compile("[0-9]{1,5}");
    /** A server behind the chroot. */
    private static final Pattern FURTHER_SERVER = Pattern.compile("[;|\\s]\\s*[A-Za-z0-9_.-]+:[0-9]+(/|$)");

    private static final Pattern PORT_AT_END = Pattern.compile(":[0-9]{4,5}$");
    private static final Pattern SECRET = Pattern.compile("[^/,@]*@");
    private static final Pattern QUERY = Pattern.compile("\\?.*=");

    private final String whole;

    private ConnectStringCheck(String whole) {
        this.whole = whole;
    }

    /**
     * Checks a connect string.
     *
     * @throws IllegalArgumentException if it is malformed, or can only be a mistake
     */
    static void check(String connectString) {
        new ConnectStringCheck(connectString).check();
    }

    private void check() {
        if (whole.startsWith(DNS_SRV)) {
            throw refused(
                    "asks for servers from a DNS SRV record (" + DNS_SRV + "), which is not supported", "Give " + FORM);
        }
        int slash = whole.indexOf('/');
        String servers = slash < 0 ? whole : whole.substring(0, slash);
        if (servers.endsWith(":") && whole.startsWith("//", slash)) {
            throw refused("begins with a scheme", "Give " + FORM + ", without " + whole.substring(0, slash + 2));
        }
        checkServers(servers);
        if (slash >= 0 && slash < whole.length() - 1) {
            checkChroot(whole.substring(slash), servers.contains(":"));
        }
        try {
            new ConnectStringParser(whole);
        } catch (RuntimeException bad) {
            throw new IllegalArgumentException(text("is malformed", "Give " + FORM), bad);
        }
    }

    // ---- servers

    private void checkServers(String servers) {
        Set<String> seen = new HashSet<>();
        List<String> entries = new ArrayList<>(List.of(servers.split(",", -1)));
        if (servers.indexOf('@') >= 0) {
            throw refused("has a user before an @", "Log in by auth(...), or by a configuration of ZooKeeper's client");
        }
        for (String entry : entries) {
            String server = entry.strip();
            if (server.isEmpty()) {
                throw refused(
                        entries.size() == 1 ? "names no server" : "has an empty entry among its servers",
                        "Give " + FORM + ", and look for a variable that is not set");
            }
            if (!seen.add(checkServer(server))) {
                throw refused("names the server " + server + " twice", "Name each server once");
            }
        }
    }

    /** Checks an entry, and returns the server in the one form that it has. */
    private String checkServer(String server) {
        Matcher bracketed = BRACKETED.matcher(server);
        if (bracketed.matches()) {
            if (!IPV6.matcher(bracketed.group(1)).matches()) {
                throw refused("has no IPv6 address in the brackets of " + server, "Give [address]:port");
            }
            return bracketed.group(1).toLowerCase(Locale.ROOT)
                    + checkPort(server, Optional.ofNullable(bracketed.group(2)));
        }
        int colon = server.indexOf(':');
        if (colon != server.lastIndexOf(':') && IPV6.matcher(server).matches()) {
            throw refused(
                    "has the IPv6 address " + server + " without brackets, where it is not clear what is the port",
                    "Give [address]:port");
        }
        String host = colon < 0 ? server : server.substring(0, colon);
        checkHost(server, host);
        return host.toLowerCase(Locale.ROOT)
                + checkPort(server, colon < 0 ? Optional.empty() : Optional.of(server.substring(colon + 1)));
    }

    private void checkHost(String server, String host) {
        if (host.isEmpty()) {
            throw refused("has no host in " + server, "Give " + FORM);
        }
        if (!HOST.matcher(host).matches()) {
            throw refused(
                    "has a host that no server can have: " + server,
                    "Separate servers by commas, and give names in ASCII letters: " + FORM);
        }
        if (NUMBERS.matcher(host).matches()) {
            String[] octets = host.split("\\.", -1);
            boolean inRange = octets.length > 1;
            for (String octet : octets) {
                inRange &= octet.length() <= Integer.toString(LARGEST_OCTET).length()
                        && (octets.length < OCTETS || Integer.parseInt(octet) <= LARGEST_OCTET);
            }
            if (!inRange || octets.length > OCTETS) {
                throw refused("has a number as host, which is no address: " + server, "Give " + FORM);
            }
        }
    }

    /** Checks a port, and returns it in the one form that it has. */
    private String checkPort(String server, Optional<String> port) {
        if (port.isEmpty()) {
            return ":2181";
        }
        int number = PORT.matcher(port.get()).matches() ? Integer.parseInt(port.get()) : 0;
        if (number < 1 || number > LARGEST_PORT) {
            throw refused("has no port from 1 to " + LARGEST_PORT + " in " + server, "Give " + FORM);
        }
        return ":" + number;
    }

    // ---- chroot

    private void checkChroot(String chroot, boolean withPort) {
        if (chroot.indexOf(',') >= 0 || FURTHER_SERVER.matcher(chroot).find()) {
            throw refused(
                    "has servers behind the chroot: all behind the first / is the chroot, here " + chroot,
                    "Give the chroot once, behind the last server. If its name has a comma, give it by basePath(...)");
        }
        if (QUERY.matcher(chroot).find()) {
            throw refused("has settings behind a question mark", "Give settings to the builder");
        }
        if (!withPort && PORT_AT_END.matcher(chroot).find()) {
            throw refused("has the port behind the chroot", "Give " + FORM);
        }
        if (!chroot.equals(chroot.strip()) || chroot.codePoints().anyMatch(ConnectStringCheck::isInvisible)) {
            throw refused("has a chroot with characters that are not seen", "Give " + FORM);
        }
        if (chroot.equals("/zookeeper") || chroot.startsWith("/zookeeper/")) {
            throw refused("has a chroot in ZooKeeper's own nodes", "Choose another one");
        }
    }

    private static boolean isInvisible(int character) {
        return switch (Character.getType(character)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.UNASSIGNED -> true;
            case Character.SPACE_SEPARATOR -> character != ' ';
            default -> false;
        };
    }

    private IllegalArgumentException refused(String what, String cure) {
        return new IllegalArgumentException(text(what, cure));
    }

    private String text(String what, String cure) {
        // What is before an @ may be a password.
        String shown = SECRET.matcher(whole).replaceAll("...@");
        return PrintableText.printable(
                "The connect string \"" + shown + "\" " + what + ". Nothing was sent. " + cure + ".", LONGEST_MESSAGE);
    }
}
