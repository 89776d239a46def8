// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ConfigException;

/** Settings of ZooKeeper's client, read from a file as ZooKeeper's own shell reads it. */
final class ClientConfigFile {
    private ClientConfigFile() {}

    static ZKClientConfig read(Path file) {
        if (!Files.isReadable(file) || Files.isDirectory(file)) {
            throw new IllegalArgumentException("--client-config: cannot read the file " + file + ". Nothing was sent.");
        }
        try {
            return new ZKClientConfig(file);
        } catch (ConfigException malformed) {
            // Not its message: the file may contain passwords.
            throw new IllegalArgumentException("--client-config: " + file
                    + " is not a properties file with settings of ZooKeeper's client. Nothing was sent.");
        }
    }
}
