// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import java.io.IOException;

/** System properties that ZooKeeper reads when something is made, and that stay as they are otherwise. */
final class SystemProperties {
    private SystemProperties() {}

    /** The making of something that reads a property. */
    interface Factory<T> {
        T make() throws IOException;
    }

    /** Sets the property while this is made. The class's monitor keeps servers that start at once apart. */
    static synchronized <T> T during(String property, String value, Factory<T> factory) throws IOException {
        String before = System.getProperty(property);
        System.setProperty(property, value);
        try {
            return factory.make();
        } finally {
            if (before == null) {
                System.clearProperty(property);
            } else {
                System.setProperty(property, before);
            }
        }
    }
}
