/** Tests of the meters and observations. */
package io.latchkey.zk.micrometer;
