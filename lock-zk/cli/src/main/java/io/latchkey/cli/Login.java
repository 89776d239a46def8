// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import java.nio.charset.StandardCharsets;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Credentials for the servers, as {@code digest:user:password}. */
record Login(String scheme, String credentials) {
    byte[] bytes() {
        return credentials.getBytes(StandardCharsets.UTF_8);
    }

    /** The error does not repeat the text, which may be a password. */
    static final class Converter implements ITypeConverter<Login> {
        @Override
        public Login convert(String text) {
            int colon = text.indexOf(':');
            if (colon < 1) {
                throw new TypeConversionException("a login is SCHEME:CREDENTIALS, such as digest:user:password");
            }
            return new Login(text.substring(0, colon), text.substring(colon + 1));
        }
    }
}
