// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/**
 * A request of a client that a holder release its lease; see {@link Lease#releaseRequested}. The values are
 * claims of the requesting client and are not verified.
 *
 * @param label the label of the requesting client; empty if it has no label
 * @param host the name of its machine
 * @param processId the id of its process on that machine
 */
public record ReleaseRequest(String label, String host, long processId) {}
