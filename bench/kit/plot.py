"""The plot of a measurement: four panels of horizontal bars, as an SVG that reads on light and dark pages."""

import statistics
from xml.sax.saxutils import escape

PANEL_WIDTH, PANEL_HEIGHT, GAP, MARGIN = 430, 185, 30, 20
LABEL_WIDTH, VALUE_WIDTH, ROW_HEIGHT, BAR_HEIGHT = 92, 78, 30, 18
COLORS = {"hookgate": "#0b6e4f", "fastify": "#5b7db1", "express": "#8a6fb0", "pgbench": "#8c8c8c"}
SECOND_COLOR = "#d98e04"
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600; font-size: 14px }
  .note { font-size: 11px; fill: #59636e }
  .page { fill: #ffffff }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .note { fill: #9198a1 } .page { fill: #0d1117 }
  }
"""


def median_of(results, figure, target, read):
    values = [read(run) for run in results.of(figure, target)]
    return statistics.median(values) if values else None


def best_floor(results):
    rates = [results.in_round("floor", "pgbench", number) for number in results.rounds]
    rates = [rate for rate in rates if rate]
    return statistics.median(rates) if rates else None


def text(x, y, content, kind="", anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(content)}</text>'


def bar(x, y, width, color):
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 1):.1f}" height="{BAR_HEIGHT}" rx="2" fill="{color}"/>'


def panel(x, y, title, note, rows):
    """`rows`: (name, parts, shown value); the parts of a bar stand one after the other."""
    parts = [text(x, y + 14, title, "title"), text(x, y + 31, note, "note")]
    room = PANEL_WIDTH - LABEL_WIDTH - VALUE_WIDTH
    largest = max((sum(values) for _, values, _ in rows), default=1) or 1
    for index, (name, values, shown) in enumerate(rows):
        top = y + 44 + index * ROW_HEIGHT
        parts.append(text(x + LABEL_WIDTH - 8, top + 14, name, anchor="end"))
        start = x + LABEL_WIDTH
        for value, color in zip(values, (COLORS[name], SECOND_COLOR)):
            width = value / largest * room
            parts.append(bar(start, top, width, color))
            start += max(width, 1)
        parts.append(text(start + 6, top + 14, shown))
    return parts


def rows_of(results, figure, read, form):
    rows = []
    for target in ("hookgate", "fastify", "express"):
        value = median_of(results, figure, target, read)
        if value is not None:
            rows.append((target, [value], form.format(value)))
    return rows


def cpu_rows(results):
    rows = []
    for target in ("hookgate", "fastify", "express"):
        values = [median_of(results, "closed", target, lambda run, key=key: run[key])
                  for key in ("gateway_cpu_s_per_10k", "postgres_cpu_s_per_10k")]
        if None not in values:
            rows.append((target, values, f"{values[0]:.2f} + {values[1]:.2f}"))
    return rows


def svg(results):
    rates = rows_of(results, "closed", lambda run: run["events_per_second"], "{:,.0f}")
    floor = best_floor(results)
    if floor is not None:
        rates.append(("pgbench", [floor], f"{floor:,.0f}"))
    def p99(run):
        return run["load"]["latency_ms"]["p99"]
    panels = [
        ("Durable, deduplicated events per second", "64 connections; pgbench: best one-row insert; more is better", rates),
        ("CPU seconds per 10,000 events", "server, then PostgreSQL; 64 connections; less is better", cpu_rows(results)),
        ("p99 latency at full rate, ms", "64 connections, closed loop; less is better",
         rows_of(results, "closed", p99, "{:,.1f}")),
        ("p99 latency at 1,500 requests/s, ms", "open loop, from the intended moment; less is better",
         rows_of(results, "open", p99, "{:,.1f}")),
    ]
    width = 2 * PANEL_WIDTH + GAP + 2 * MARGIN
    height = 2 * PANEL_HEIGHT + MARGIN
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
             f'role="img" aria-label="hookgate beside its peers">', f"<style>{STYLE}</style>",
             f'<rect class="page" width="{width}" height="{height}"/>']
    for index, (title, note, rows) in enumerate(panels):
        x = MARGIN + index % 2 * (PANEL_WIDTH + GAP)
        y = MARGIN + index // 2 * PANEL_HEIGHT
        parts += panel(x, y, title, note, rows)
    return "\n".join(parts + ["</svg>"]) + "\n"
