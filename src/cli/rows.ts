// Rows of data for a person: a table that fits into the terminal, or one block for each row.

/** One row, by column. */
export type TableRow = Readonly<Record<string, unknown>>;

/**
 * The rows as text, without columns in which nothing stands. A table that is wider than the terminal would wrap and could not be read,
 * so each row becomes a block of lines. `columns`: the width; undefined if the output is not a terminal.
 */
export function rowsText(rows: readonly TableRow[], columns: number | undefined): string {
  const names = Object.keys(rows[0] ?? {}).filter((name) => rows.some((row) => !isNothing(row[name])));
  const cells = rows.map((row) => names.map((name) => cell(row[name])));
  const heads = names.map((name) => name.replaceAll("_", " "));
  const widths = heads.map((head, at) => Math.max(head.length, ...cells.map((line) => line[at]?.length ?? 0)));
  const width = widths.reduce((sum, one) => sum + one + GAP.length, -GAP.length);
  if (columns !== undefined && width > columns) return cells.map((line) => block(heads, line)).join("\n");
  return [heads, ...cells].map((line) => `${joined(line, widths)}\n`).join("");
}

const GAP = "  ";

function joined(line: readonly string[], widths: readonly number[]): string {
  return line
    .map((text, at) => text.padEnd(widths[at] ?? 0))
    .join(GAP)
    .trimEnd();
}

function block(heads: readonly string[], line: readonly string[]): string {
  const width = Math.max(...heads.map(({ length }) => length));
  const fields = heads.map((head, at) => [head, line[at] ?? ""] as const).filter(([, text]) => text !== NOTHING);
  return fields.map(([head, text]) => `${head.padEnd(width)}${GAP}${text}\n`).join("");
}

const NOTHING = "-";

/** What most rows are not, such as an admin, is left out too. */
function isNothing(value: unknown): boolean {
  return value === null || value === undefined || value === "" || value === false;
}

/** A value for a person: times are cut to minutes. */
function cell(value: unknown): string {
  if (isNothing(value)) return NOTHING;
  if (value === true) return "yes";
  const text = String(value);
  return /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(text) ? `${text.slice(0, 10)} ${text.slice(11, 16)}Z` : text;
}
