// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tag;
import org.apache.zookeeper.client.ConnectStringParser;

/** Connect strings of any servers and chroots, whole and with one mistake, and texts of any characters. */
@Tag("slow")
class ConnectStringCheckProperties {
    /** A server as it is written, with the host and port that are meant. */
    record Server(String host, int port) {
        @Override
        public String toString() {
            return host + ":" + port;
        }
    }

    @Provide
    Arbitrary<List<Server>> servers() {
        Arbitrary<String> label = Arbitraries.strings()
                .withCharRange('a', 'z')
                .withCharRange('0', '9')
                .withChars('-', '_')
                .ofMinLength(1)
                .ofMaxLength(8);
        Arbitrary<String> host =
                label.list().ofMinSize(1).ofMaxSize(3).map(labels -> "h" + String.join(".", labels) + ".z");
        return Combinators.combine(host, Arbitraries.integers().between(1, 65_535))
                .as(Server::new)
                .list()
                .ofMinSize(1)
                .ofMaxSize(5)
                .uniqueElements();
    }

    @Provide
    Arbitrary<String> chroot() {
        Arbitrary<String> level = Arbitraries.strings()
                .withCharRange('!', '~')
                .withChars('ä', 'ж', '中')
                .excludeChars('/', ',', '?', '.')
                .ofMinLength(1)
                .ofMaxLength(10);
        Arbitrary<String> levels = level.list().ofMinSize(1).ofMaxSize(3).map(names -> "/" + String.join("/", names));
        return Arbitraries.oneOf(Arbitraries.of("", "/"), levels.filter(path -> !path.matches(".*[;|].*:[0-9]+.*")));
    }

    private static String written(List<Server> servers) {
        return servers.stream().map(Server::toString).collect(Collectors.joining(","));
    }

    @Property
    void anyServersAndChroot_areTakenAsTheyAreMeant(
            @ForAll("servers") List<Server> servers, @ForAll("chroot") String chroot) {
        String connectString = written(servers) + chroot;
        ConnectStringCheck.check(connectString);
        List<Server> parsed = new ConnectStringParser(connectString)
                .getServerAddresses().stream()
                        .map((InetSocketAddress each) -> new Server(each.getHostString(), each.getPort()))
                        .toList();
        assertEquals(servers, parsed);
    }

    @Property
    void chrootBehindEachServer_isRefused(
            @ForAll("servers") List<Server> one,
            @ForAll("servers") List<Server> other,
            @ForAll("chroot") String chroot) {
        String behind = chroot.length() > 1 ? chroot : "/app";
        String each = written(one) + behind + "," + written(other);
        assertThrows(IllegalArgumentException.class, () -> ConnectStringCheck.check(each));
        assertThrows(IllegalArgumentException.class, () -> ConnectStringCheck.check(each + behind));
    }

    /** Whatever it is: it is refused by a clear error, or ZooKeeper's client takes it. */
    @Property
    void anyText_isRefusedOrTaken(@ForAll String text) {
        try {
            ConnectStringCheck.check(text);
        } catch (IllegalArgumentException refused) {
            return;
        }
        new ConnectStringParser(text);
    }
}
