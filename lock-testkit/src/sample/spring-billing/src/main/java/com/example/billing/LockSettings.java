// SPDX-License-Identifier: Apache-2.0
package com.example.billing;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * The settings of the lock client.
 *
 * @param servers the connect string
 * @param clientConfig ZooKeeper's own settings, such as those of TLS; none by default
 * @param grace how long holders may finish when the service stops
 */
@ConfigurationProperties("locks")
public record LockSettings(
        String servers,
        Duration sessionTimeout,
        Duration connectTimeout,
        Duration grace,
        @Nullable Path clientConfig) {}
