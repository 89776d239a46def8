// SPDX-License-Identifier: Apache-2.0
package com.example.billing;

import io.latchkey.testkit.server.EmbeddedZooKeeper;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.test.context.DynamicPropertyRegistrar;

/** The test kit's server as a bean of the context that is tested. */
@TestConfiguration(proxyBeanMethods = false)
class TestServer {
    @Bean
    EmbeddedZooKeeper server() {
        return EmbeddedZooKeeper.start();
    }

    @Bean
    DynamicPropertyRegistrar servers(EmbeddedZooKeeper server) {
        return properties -> properties.add("latchkey.connect-string", server::connectString);
    }
}
