// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;
import org.springframework.boot.ssl.SslBundle;

/**
 * Where the servers are. A bean of this type takes the place of {@code latchkey.connect-string}, for example that of a
 * server in a container that a test starts.
 */
public interface LatchkeyConnectionDetails extends ConnectionDetails {
    /**
     * Returns the servers, as {@code host:port[,host:port...][/chroot]}.
     *
     * @return the connect string
     */
    String connectString();

    /**
     * Returns the SSL bundle for connections by TLS.
     *
     * @return the bundle; {@code null} to use that of {@code latchkey.ssl.bundle}, if it is set
     */
    default @Nullable SslBundle sslBundle() {
        return null;
    }
}
