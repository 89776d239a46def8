// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * A bar chart with a group for each case and a bar for each system, on a logarithmic scale because the values of the
 * cases differ widely.
 */
record Plot(String title, ToDoubleFunction<CaseFigures> value) {
    private static final int LABELS = 230;
    private static final int LENGTH = 430;
    private static final int NUMBERS = 90;
    private static final int BAR = 13;
    private static final int GAP = 9;
    private static final int TOP = 62;
    /** An upper bound of the width of a letter in the legend. */
    private static final int LETTER = 7;

    String svg(String where, List<CaseFigures> figures) {
        Map<String, List<CaseFigures>> groups = figures.stream()
                .collect(Collectors.groupingBy(CaseFigures::name, LinkedHashMap::new, Collectors.toList()));
        double least = figures.stream()
                        .mapToDouble(value)
                        .filter(each -> each > 0)
                        .min()
                        .orElse(1)
                / 2;
        double most = figures.stream().mapToDouble(value).max().orElse(1);
        int height = TOP + figures.size() * BAR + groups.size() * GAP + GAP;
        int width = LABELS + LENGTH + NUMBERS;
        List<String> lines = new ArrayList<>();
        lines.add(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%1$d\" height=\"%2$d\" viewBox=\"0 0 %1$d %2$d\" font-family=\"sans-serif\" font-size=\"11\">"
                        .formatted(width, height));
        lines.add("<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>".formatted(width, height));
        lines.add(text(8, 18, "start", "font-size=\"13\" font-weight=\"bold\"", title));
        lines.add(text(8, 34, "start", "", where + "; logarithmic scale"));
        int x = 8;
        for (Contestant contestant :
                figures.stream().map(CaseFigures::system).sorted().distinct().toList()) {
            lines.add(rect(x, 42, 10, 10, contestant));
            lines.add(text(x + 14, 51, "start", "", contestant.label()));
            x += 30 + contestant.label().length() * LETTER;
        }
        int y = TOP;
        for (Map.Entry<String, List<CaseFigures>> group : groups.entrySet()) {
            int middle = y + group.getValue().size() * BAR / 2 + 4;
            lines.add(text(LABELS - 8, middle, "end", "", group.getKey()));
            for (CaseFigures each : group.getValue()) {
                double found = value.applyAsDouble(each);
                int length =
                        found <= 0 ? 0 : (int) Math.round(LENGTH * Math.log(found / least) / Math.log(most / least));
                lines.add(rect(LABELS, y, length, BAR - 2, each.system()));
                lines.add(text(LABELS + length + 5, y + 10, "start", "", Report.number(found)));
                y += BAR;
            }
            y += GAP;
        }
        lines.add("</svg>");
        return String.join("\n", lines) + "\n";
    }

    private static String rect(int x, int y, int width, int height, Contestant of) {
        String colour =
                switch (of) {
                    case RAW -> "#b0b0b0";
                    case BARE -> "#707070";
                    case LATCHKEY -> "#1f77b4";
                    case LATCHKEY_TURNS -> "#6fb1e0";
                    case CURATOR -> "#ff9f40";
                    case REDISSON_FAIR -> "#d62728";
                    case REDISSON_FENCED -> "#f09090";
                    case JETCD -> "#2ca02c";
                };
        return "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>"
                .formatted(x, y, width, height, colour);
    }

    private static String text(int x, int y, String anchor, String style, String text) {
        return "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\" %s>%s</text>".formatted(x, y, anchor, style, text);
    }
}
