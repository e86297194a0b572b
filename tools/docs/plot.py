"""Draws rows of the measured tables of bench/results/summary.md as part of a page: what each row
takes with other allocators, in multiples of what it takes with this library."""

SHAPES = {
    "glibc": ('<circle cx="{x}" cy="{y}" r="4"/>', "#1f77b4"),
    "jemalloc": ('<path d="M{x},{y}m0,-5l4.6,8h-9.2z"/>', "#2ca02c"),
    "mimalloc3": ('<path d="M{x},{y}m-3.6,-3.6h7.2v7.2h-7.2z"/>', "#9467bd"),
}
LEFT, PANEL, ROW, LEAST, MOST = 90, 280, 18, 0.7, 2.0


def table(text, title):
    """Maps each row of the table below a heading to its cells, by the names of columns."""
    lines = [line for line in text.split(f"\n## {title}\n")[1].split("\n## ")[0].split("\n") if line.startswith("|")]
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: dict(zip(head, row)) for row in rows}


def panel(found, rows, left):
    """One measure: a line a row, a mark an allocator; what is beyond the end is at the end, as a number."""
    out = []
    for at in (0.75, 1, 1.25, 1.5, 1.75, 2):
        x = left + (at - LEAST) / (MOST - LEAST) * PANEL
        weight = ' class="one"' if at == 1 else ""
        out.append(f'<path{weight} d="M{x:.1f},24V{28 + ROW * len(rows)}"/><text x="{x:.1f}" y="18" text-anchor="middle">{at:g}</text>')
    for number, row in enumerate(rows):
        for name, (shape, colour) in SHAPES.items():
            value = float(found[row][name])
            place = {"x": f"{left + (min(max(value, LEAST), MOST) - LEAST) / (MOST - LEAST) * PANEL:.1f}", "y": 36 + ROW * number}
            told = f"<title>{row}, {name}: {value}</title>"
            out.append(f'<g fill="{colour}">{told}{shape.format(**place)}</g>')
    return out


def programs(text):
    """The drawing, of the real programs: CPU time at the left, memory at the right, and what each mark is."""
    rows = [line.split(":")[0] for line in text.split("\n## Rows\n")[1].split("\n- ")[1:] if " --scale " not in line]
    right = LEFT + PANEL + 40
    out = [f'<text x="{LEFT - 12}" y="{40 + ROW * number}" text-anchor="end">{row}</text>' for number, row in enumerate(rows)]
    for title, left in (("CPU time", LEFT), ("Peak RSS", right)):
        out += panel(table(text, title), rows, left)
        name = title.replace("RSS", "memory")
        out.append(f'<text x="{left + PANEL / 2}" y="{48 + ROW * len(rows)}" text-anchor="middle">{name}, this library = 1</text>')
    for number, (name, (shape, colour)) in enumerate(SHAPES.items()):
        x, y = LEFT + 110 * number, 70 + ROW * len(rows)
        out.append(f'<g fill="{colour}">{shape.format(x=x, y=y)}</g><text x="{x + 9}" y="{y + 4}">{name}</text>')
    size = f'viewBox="0 0 {right + PANEL + 20} {80 + ROW * len(rows)}"'
    return f'<div class="drawing plot">\n<svg xmlns="http://www.w3.org/2000/svg" {size} font-size="11">\n' + "\n".join(out) + "\n</svg></div>"
