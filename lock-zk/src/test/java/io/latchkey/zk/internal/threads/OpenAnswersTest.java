// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.threads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.LockException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class OpenAnswersTest {
    private final OpenAnswers answers = new OpenAnswers();
    private final LockException failure = new LockException("thrown by a test");
    /** The answers that the end of the engine has reached. */
    private final List<NotedAnswer> told = new ArrayList<>();

    /** An answer that notes the end of the engine, and does not complete by it. */
    private final class NotedAnswer extends OpenAnswers.Answer<String> {
        NotedAnswer() {
            super(answers);
            open();
        }

        @Override
        protected void engineFailed(LockException why) {
            told.add(this);
        }
    }

    static Stream<Predicate<OpenAnswers.Answer<String>>> completions() {
        return Stream.of(
                answer -> answer.complete("done"),
                answer -> answer.completeExceptionally(new LockException("thrown by a test")),
                answer -> answer.cancel(false));
    }

    @ParameterizedTest
    @MethodSource("completions")
    void answerIsOpen_untilItIsCompleted(Predicate<OpenAnswers.Answer<String>> completion) {
        NotedAnswer open = new NotedAnswer();
        NotedAnswer completed = new NotedAnswer();
        assertTrue(completion.test(completed), "it is the first to complete it");
        answers.failAll(() -> failure);
        assertEquals(List.of(open), told);
        assertFalse(completed.complete("later"));
        assertFalse(completed.completeExceptionally(failure));
    }

    @Test
    void answersComplete_whenTheEngineFailsAndBehindThat() {
        OpenAnswers.Answer<String> before = answers.next();
        answers.failAll(() -> failure);
        for (OpenAnswers.Answer<String> each : List.of(before, answers.<String>next())) {
            assertTrue(each.isDone());
            assertSame(
                    failure, assertThrows(CompletionException.class, each::join).getCause());
        }
    }

    @Test
    void answersComplete_whenAnErrorForThemCannotBeMade() {
        List<OpenAnswers.Answer<String>> open = List.of(answers.next(), answers.next());
        answers.failAll(() -> {
            throw new OutOfMemoryError("thrown by a test");
        });
        open.forEach(each -> assertTrue(each.isCompletedExceptionally()));
    }
}
