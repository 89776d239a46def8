// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/** Paths of locks whose last level is a text from outside, such as a key, which may be any text. */
public final class LockKeys {
    /** The end of a request's name, such as {@code lock-0000000001}, which is refused as a level of a path. */
    private static final Pattern LIKE_A_REQUEST = Pattern.compile("[-_](?=[0-9]{10}$)");

    private LockKeys() {}

    /**
     * Returns the path of the lock of a key: {@code parent/key-KEY}. In KEY, characters that may not be in a level of a
     * path, or would be mistaken there, are encoded as in the form of a web page. Different keys have different paths.
     *
     * @param parent the path above
     * @param key the key
     * @return the path
     * @throws IllegalArgumentException if the key has half of a surrogate pair, which has no encoding
     */
    public static String path(String parent, String key) {
        return path(parent, "key-", key);
    }

    /**
     * Returns the path of the lock of a text, as {@link #path(String, String)} does, with another prefix.
     *
     * @param parent the path above
     * @param prefix the beginning of the last level, letters and a hyphen
     * @param text the text
     * @return the path
     * @throws IllegalArgumentException if the text has half of a surrogate pair
     */
    public static String path(String parent, String prefix, String text) {
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
            throw new IllegalArgumentException("\"" + text + "\" cannot be the key of a lock below " + parent
                    + ": it has half of a surrogate pair, which has no encoding, so other keys would have its path.");
        }
        String encoded = URLEncoder.encode(text, StandardCharsets.UTF_8);
        return parent + "/" + prefix
                + LIKE_A_REQUEST
                        .matcher(encoded)
                        .replaceFirst(mark -> mark.group().equals("-") ? "%2D" : "%5F");
    }
}
