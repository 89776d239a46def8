// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.testkit.server.StandaloneServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** A server that requires a login by SASL's DIGEST-MD5, and knows billing and shipping. */
public final class SaslServer {
    private SaslServer() {}

    /** Starts it, with its JAAS file in a folder. */
    public static StandaloneServer start(Path folder) throws Exception {
        Path jaas = Files.writeString(
                folder.resolve("server.jaas"),
                """
                Server {
                    org.apache.zookeeper.server.auth.DigestLoginModule required
                    user_billing="one"
                    user_shipping="two";
                };
                """);
        return StandaloneServer.start(
                "clientPort",
                Map.of(
                        "java.security.auth.login.config",
                        jaas.toString(),
                        "zookeeper.authProvider.sasl",
                        "org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
                        "zookeeper.sessionRequireClientSASLAuth",
                        "true"));
    }
}
