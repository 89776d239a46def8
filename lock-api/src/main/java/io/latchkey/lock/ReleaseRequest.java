// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/**
 * Somebody's wish that a holder let go, as {@link Lease#releaseRequested} tells it. It is what the asking client told of
 * itself; nothing checks it.
 *
 * @param label what the asking client is called; empty if it has no label
 * @param host the name of its machine
 * @param processId its process on that machine
 */
public record ReleaseRequest(String label, String host, long processId) {}
