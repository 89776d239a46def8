// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.testkit.server.StandaloneServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.AppConfigurationEntry.LoginModuleControlFlag;
import javax.security.auth.login.Configuration;

/** Servers that require a login by SASL, and the logins of clients in this process. */
public final class SaslServer {
    private SaslServer() {}

    /** Starts one that knows billing and shipping by DIGEST-MD5, with its JAAS file in a folder. */
    public static StandaloneServer start(Path folder) throws Exception {
        return start(
                folder,
                """
                org.apache.zookeeper.server.auth.DigestLoginModule required
                    user_billing="one"
                    user_shipping="two";
                """,
                Map.of());
    }

    /**
     * Starts one.
     *
     * @param login how the server itself logs in, as a JAAS file has it
     * @param systemProperties what it needs besides
     */
    static StandaloneServer start(Path folder, String login, Map<String, String> systemProperties) throws Exception {
        Path jaas = Files.writeString(folder.resolve("server.jaas"), "Server {\n" + login + "};\n");
        Map<String, String> all = new HashMap<>(systemProperties);
        all.put("java.security.auth.login.config", jaas.toString());
        all.put("zookeeper.authProvider.sasl", "org.apache.zookeeper.server.auth.SASLAuthenticationProvider");
        all.put("zookeeper.sessionRequireClientSASLAuth", "true");
        return StandaloneServer.start("clientPort", all);
    }

    /**
     * Sets the logins of this process, as the file that java.security.auth.login.config names: a section for each,
     * with the options of the login module. {@code Configuration.setConfiguration(null)} takes them back.
     */
    static void setLogins(String module, Map<String, Map<String, String>> sections) {
        Configuration.setConfiguration(new Configuration() {
            @Override
            public AppConfigurationEntry[] getAppConfigurationEntry(String section) {
                Map<String, String> options = sections.get(section);
                return options == null
                        ? null
                        : new AppConfigurationEntry[] {
                            new AppConfigurationEntry(module, LoginModuleControlFlag.REQUIRED, options)
                        };
            }
        });
    }
}
