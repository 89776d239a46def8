// SPDX-License-Identifier: Apache-2.0
/**
 * A history as text and as a page.
 *
 * <p>{@link io.latchkey.testkit.report.HtmlReport} is a page that a browser shows,
 * {@link io.latchkey.testkit.report.Timeline} a few attempts as text. An
 * {@link io.latchkey.testkit.report.Timeline.Evidence} marks the findings of a page. Verdicts that fail a test write
 * their page by themselves.
 */
@NullMarked
package io.latchkey.testkit.report;

import org.jspecify.annotations.NullMarked;
