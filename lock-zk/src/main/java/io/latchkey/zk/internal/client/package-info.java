/** The engine of a client: its sessions, one after another, and the requests that live in them. */
@NullMarked
package io.latchkey.zk.internal.client;

import org.jspecify.annotations.NullMarked;
