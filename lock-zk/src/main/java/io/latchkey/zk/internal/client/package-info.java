/** A client at work: its sessions one after the other, and the requests that live in them. */
@NullMarked
package io.latchkey.zk.internal.client;

import org.jspecify.annotations.NullMarked;
