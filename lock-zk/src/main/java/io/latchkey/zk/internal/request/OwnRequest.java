// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.request;

import io.latchkey.zk.internal.events.RequestEvents;

/**
 * A snapshot of a request of this client.
 *
 * @param id the id of its current attempt
 */
public record OwnRequest(RequestEvents events, boolean holds, String id) {}
