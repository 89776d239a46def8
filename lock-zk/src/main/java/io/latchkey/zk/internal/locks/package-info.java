/** The locks that users call: each turns a call into a request of the engine, and its outcome into a lease or error. */
@NullMarked
package io.latchkey.zk.internal.locks;

import org.jspecify.annotations.NullMarked;
