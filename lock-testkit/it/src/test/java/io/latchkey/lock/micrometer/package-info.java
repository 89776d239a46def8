/** Tests of the meters and observations. */
package io.latchkey.lock.micrometer;
