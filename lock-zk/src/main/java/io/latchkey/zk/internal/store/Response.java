// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The response to one request.
 *
 * @param code the result
 * @param value the value; present exactly if the code is {@link Status#OK}
 * @param detail the server's own name of the code, for error messages
 */
public record Response<T>(Status code, @Nullable T value, String detail) {
    public static <T> Response<T> of(T value) {
        return new Response<>(Status.OK, value, "OK");
    }

    public static <T> Response<T> failed(Status code, String detail) {
        return new Response<>(code, null, detail);
    }

    public boolean ok() {
        return code == Status.OK;
    }

    public T get() {
        return Objects.requireNonNull(value, detail);
    }
}
