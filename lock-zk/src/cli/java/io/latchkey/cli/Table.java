// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Lines of columns for people. What others wrote into the queue cannot steer the terminal. */
final class Table {
    private static final String GAP = "  ";

    private final List<List<String>> lines = new ArrayList<>();

    Table(String... heads) {
        lines.add(List.of(heads));
    }

    void line(Object... cells) {
        lines.add(IntStream.range(0, cells.length)
                .mapToObj(i -> plain(cells[i].toString()))
                .toList());
    }

    static String plain(String text) {
        return text.isEmpty() ? "-" : text.replaceAll("\\p{C}", "?");
    }

    @Override
    public String toString() {
        return lines.stream().map(this::padded).collect(Collectors.joining(System.lineSeparator()));
    }

    private String padded(List<String> line) {
        return IntStream.range(0, line.size())
                .mapToObj(i -> line.get(i) + " ".repeat(width(i) - line.get(i).length()))
                .collect(Collectors.joining(GAP))
                .stripTrailing();
    }

    private int width(int column) {
        return lines.stream().mapToInt(line -> line.get(column).length()).max().orElseThrow();
    }
}
