// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.apache.zookeeper.client.ConnectStringParser;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a connect string can be that no one means, and all forms that a client may mean. */
class ConnectStringCheckTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "a",
                "a:1",
                "a:2181,b:2182,c:65535",
                "a, b ,c:1",
                " a:1",
                "a:1,\n  b:1",
                "A.example.com:1,b.example.com.:1",
                "zk_1-a:2181",
                "10.0.0.1:2181,10.0.0.2,255.255.255.255",
                "127.1:2181",
                "[::1]:2181,[fe80::1%eth0],[::ffff:10.0.0.1]:1",
                "a:1/",
                "a:1/app",
                "a/app",
                "a:1,b:1/app/locks",
                "a:1/with space/tenant:42/x@y/b;c|d/ünïcode",
                "a:1/tenant:42000",
                "a:1,a:2",
                "a:1/why?",
                "a:02181",
                "xn--bcher-kva.example:1"
            })
    void meantOneIsTaken(String connectString) {
        ConnectStringCheck.check(connectString);
    }

    static List<String> mistakes() {
        return List.of(
                "",
                " ",
                "\n",
                // the chroot behind each server, or behind the first
                "a:1/app,b:1/app",
                "a:1/app,b:1",
                "a/app,b/app",
                "a:1/app, b:1/app",
                "a:1/app;b:1/app",
                "a:1/app|b:1",
                "a:1/app b:1/app",
                "a:1/app\nb:1/app",
                "a:1,b:1/app,",
                "a/app:2181",
                // empty entries
                ",",
                "a:1,",
                ",a:1",
                "a:1,,b:1",
                "a:1, ,b:1",
                "a:1,/app",
                // hosts
                ":2181",
                "/app",
                "a:1,:1",
                "[]:2181",
                "2181",
                "256.0.0.1:2181",
                "1.2.3.4.5:2181",
                "a..b:1",
                ".a:1",
                "a b:1",
                "a\tb:1",
                "a\u00a0:1",
                "\ufeffa:1",
                "a\u200b:1",
                "zk\u0430:1",
                "bücher.example:1",
                "\"a:1\"",
                "'a:1'",
                "${ZOOKEEPER}",
                "{{ zk }}:2181",
                "<host>:2181",
                "a:1;b:1",
                "a:1|b:1",
                "a:1 b:1",
                "a;b",
                "[a:1,b:1]",
                "a:1\\app",
                "a=1",
                // ports
                "a:",
                "a:0",
                "a:65536",
                "a:-1",
                "a:+1",
                "a:99999999999",
                "a:port",
                "a:1:2",
                "a:1.5",
                "a: 1",
                "a:1app",
                "a:２１８１",
                "a：1",
                "a:1，b:1",
                // IPv6
                "::1",
                "::1:2181",
                "fe80::1:2181",
                "2001:db8:0:0:0:0:0:1",
                "[::1",
                "::1]:2181",
                "[::1]2181",
                "[::1]:0",
                "[a]:1",
                "[[::1]]:1",
                // schemes, users, settings
                "http://a:1",
                "https://a:1/app",
                "zk://a:1,b:1/app",
                "zookeeper://a:1",
                "//a:1/app",
                "dns-srv://a.example",
                "user:secret@a:1",
                "user@a:1/app",
                "zk://user:secret@a:1/app",
                "a:1?timeout=3",
                "a:1/app?timeout=3",
                // the same server twice
                "a:1,a:1",
                "a:2181,a",
                "a:1,A:1",
                "a:1,b:1,a:1/app",
                "[::1]:1,[::1]:1",
                "a:1,a:01",
                // chroots
                "a:1//",
                "a:1//app",
                "a:1/app/",
                "a:1/app//x",
                "a:1/./app",
                "a:1/app/.",
                "a:1/../app",
                "a:1/app/..",
                "a:1/app ",
                "a:1/app\n",
                "a:1/a\u0000b",
                "a:1/a\u0007b",
                "a:1/a\u200bb",
                "a:1/app\u00a0",
                "a:1/zookeeper",
                "a:1/zookeeper/quota");
    }

    @ParameterizedTest
    @MethodSource("mistakes")
    void mistakeIsRefused(String connectString) {
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> ConnectStringCheck.check(connectString));
        String message = refused.getMessage();
        assertTrue(message.startsWith("The connect string "), message);
        assertTrue(message.codePoints().noneMatch(Character::isISOControl), message);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            textBlock =
                    """
                    zookeeper://a:1;  begins with a scheme. Nothing was sent. Give host:port[,host:port...][/chroot], without zookeeper://
                    dns-srv://a;      asks for servers from a DNS SRV record
                    a:0;              has no port from 1 to 65535 in a:0
                    a:65536;          has no port from 1 to 65535 in a:65536
                    a:;               has no port from 1 to 65535 in a:
                    ::1:2181;         has the IPv6 address ::1:2181 without brackets
                    a.b:1:2;          has no port from 1 to 65535 in a.b:1:2
                    [a]:1;            has no IPv6 address in the brackets of [a]:1
                    'a:1,,b:1';       has an empty entry among its servers
                    /app;             names no server
                    :1;               has no host in :1
                    'a:1,a:01';       names the server a:01 twice
                    """)
    void messageNamesTheMistake(String connectString, String what) {
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> ConnectStringCheck.check(connectString));
        String begins = "The connect string \"" + connectString + "\" " + what;
        assertTrue(refused.getMessage().startsWith(begins), refused.getMessage());
    }

    @Test
    void passwordIsNotShown() {
        for (String secret : List.of("user:secret@a:1", "zk://user:secret@a:1/app", "a:1,user:secret@b:1/app")) {
            IllegalArgumentException refused =
                    assertThrows(IllegalArgumentException.class, () -> ConnectStringCheck.check(secret));
            assertFalse(refused.getMessage().contains("secret"), refused.getMessage());
        }
    }

    /** An operator whose chroot has a comma gives it by basePath, which is the same path. */
    @Test
    void chrootWithACommaIsRefused_andTheMessageHasTheWay() {
        assertEquals("/a,b", new ConnectStringParser("a:1/a,b").getChrootPath(), "ZooKeeper's client takes it");
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> ConnectStringCheck.check("a:1/a,b"));
        assertTrue(refused.getMessage().contains("basePath"), refused.getMessage());
    }
}
