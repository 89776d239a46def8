// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ConfigException;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Settings of ZooKeeper's client, read from a file as ZooKeeper's own shell reads it. */
final class ClientConfigFile implements ITypeConverter<ZKClientConfig> {
    @Override
    public ZKClientConfig convert(String file) throws Exception {
        Path path = Path.of(file);
        if (!Files.isReadable(path) || Files.isDirectory(path)) {
            throw new TypeConversionException("cannot read the file " + file);
        }
        try {
            return new ZKClientConfig(path);
        } catch (ConfigException malformed) {
            // Not its message: the file may contain passwords.
            throw new TypeConversionException(file + " is not a properties file with settings of ZooKeeper's client");
        }
    }
}
