// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.session;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The answer to one request.
 *
 * @param code how it went
 * @param value what it brought; there exactly when the code is {@link Code#OK}
 * @param detail the server's own word for the code, for error messages
 */
public record Answer<T>(Code code, @Nullable T value, String detail) {
    public static <T> Answer<T> of(T value) {
        return new Answer<>(Code.OK, value, "OK");
    }

    public static <T> Answer<T> failed(Code code, String detail) {
        return new Answer<>(code, null, detail);
    }

    public boolean ok() {
        return code == Code.OK;
    }

    public T get() {
        return Objects.requireNonNull(value, detail);
    }
}
