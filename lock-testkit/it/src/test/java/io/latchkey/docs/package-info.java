/**
 * What the documentation says is asked of the code: examples, links, names of tests, and what is drawn from the code
 * itself.
 */
package io.latchkey.docs;
