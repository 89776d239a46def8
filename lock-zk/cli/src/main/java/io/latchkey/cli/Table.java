// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A table of text for people, without characters that could control the terminal. */
final class Table {
    private static final String GAP = "  ";
    /** The maximum width of a column. A longer cell overflows, so that one long path does not widen other lines. */
    private static final int WIDEST = 100;

    private final List<List<String>> lines = new ArrayList<>();

    Table(String... heads) {
        lines.add(List.of(heads));
    }

    void line(Object... cells) {
        lines.add(IntStream.range(0, cells.length)
                .mapToObj(i -> cell(cells[i].toString()))
                .toList());
    }

    private static String cell(String text) {
        return text.isEmpty() ? "-" : Terminal.plain(text);
    }

    @Override
    public String toString() {
        int[] widths = IntStream.range(0, lines.get(0).size()).map(this::width).toArray();
        return lines.stream().map(line -> padded(line, widths)).collect(Collectors.joining(System.lineSeparator()));
    }

    private static String padded(List<String> line, int[] widths) {
        return IntStream.range(0, line.size())
                .mapToObj(i -> line.get(i) + " ".repeat(Math.max(0, widths[i] - Columns.of(line.get(i)))))
                .collect(Collectors.joining(GAP))
                .stripTrailing();
    }

    private int width(int column) {
        return lines.stream()
                .mapToInt(line -> Columns.of(line.get(column)))
                .filter(length -> length <= WIDEST)
                .max()
                .orElseThrow();
    }
}
