// Converts HTML tables to GFM tables: spans are filled with empty cells, missing headers are added, block content is put on one
// line. Layout tables are dissolved instead.

import { closest, elementsOf, PageElement, PageText } from "../dom/node.ts";
import { Omissions } from "../dom/omissions.ts";
import { gatherStrays } from "./malformed-tables.ts";

/** A grid of cells. Positions that a span covers are undefined. */
type Grid = (PageElement | undefined)[][];

/** Larger tables are cut, since the conversion must take limited time. The result says how much was left out. */
const ROWS_MAX = 20_000;
const COLUMNS_MAX = 100;

/** Dissolves layout tables. Inner tables come last, so that nested layout tables are recognised. */
export function dissolveLayoutTables(root: PageElement): void {
  for (const table of root.getElementsByTagName("table")) {
    if (table.parentNode === null) continue;
    gatherStrays(table);
    if (holdsSmallTables(table)) {
      for (const inner of table.getElementsByTagName("table")) asLines(inner);
      continue;
    }
    if (!isLayout(table)) continue;
    for (const row of rowsOf(table)) {
      for (const cell of cellsOf(row)) asDivision(cell);
      asDivision(row);
    }
    for (const part of table.children) if (/^(?:tbody|thead|tfoot|caption|colgroup)$/.test(part.tag)) asDivision(part);
    asDivision(table);
  }
  for (const stray of [
    ...root.getElementsByTagName("td"),
    ...root.getElementsByTagName("th"),
    ...root.getElementsByTagName("tr"),
  ])
    if (closest(stray, (element) => element.tag === "table") === undefined) asDivision(stray);
}

function isLayout(table: PageElement): boolean {
  const role = table.attributes["role"];
  if (role === "presentation" || role === "none") return true;
  if (table.getElementsByTagName("table").length > 0) return true;
  const rows = rowsOf(table);
  const widest = Math.max(0, ...rows.map((row) => cellsOf(row).length));
  if (widest < 2) return true;
  const cells = rows.flatMap(cellsOf);
  const chars = table.textContent.replace(/\s+/g, " ").length;
  // One cell contains nearly everything, in paragraphs, so the table only frames a page.
  if (
    chars > 400 &&
    cells.some((cell) => cell.textContent.replace(/\s+/g, " ").length > chars * 0.7 && hasBlocks(cell))
  )
    return true;
  if (table.getElementsByTagName("th").length > 0) return false;
  const blocks = /^(?:p|ul|ol|h[1-6]|pre|blockquote|div|form|figure)$/;
  const heavy = cells.filter((cell) => {
    const inner = cell.children.filter((child) => blocks.test(child.tag)).length;
    return inner > 2 || (inner > 0 && cell.textContent.length > 400);
  });
  return heavy.length > cells.length / 4;
}

/** A nested table with a longer text is not a single value. */
const INNER_CHARS_MAX = 200;

/** Whether a table has a header of its own, and cells that contain a few values as a nested table. */
function holdsSmallTables(table: PageElement): boolean {
  const inner = table.getElementsByTagName("table");
  const [header] = rowsOf(table);
  return (
    inner.length > 0 &&
    header !== undefined &&
    cellsOf(header).length > 1 &&
    cellsOf(header).every(({ tag }) => tag === "th") &&
    inner.every(
      (one) => one.getElementsByTagName("table").length === 0 && one.textContent.trim().length <= INNER_CHARS_MAX,
    )
  );
}

/** Writes the rows of a nested table of values as lines. */
function asLines(table: PageElement): void {
  gatherStrays(table);
  for (const row of rowsOf(table)) {
    cellsOf(row).forEach((cell, at) => {
      if (at > 0) row.insertBefore(new PageText(", "), cell);
      cell.unwrap();
    });
    asDivision(row);
  }
  asDivision(table);
}

function hasBlocks(cell: PageElement): boolean {
  return ["p", "h1", "h2", "h3", "ul", "ol", "div", "pre"].some((tag) => cell.getElementsByTagName(tag).length > 0);
}

function asDivision(element: PageElement): void {
  const division = new PageElement("div");
  while (element.firstChild !== null) division.appendChild(element.firstChild);
  element.parentNode?.insertBefore(division, element);
  element.remove();
}

/** The Markdown of a data table. `inline` converts the content of a cell. */
export function tableMarkdown(
  table: PageElement,
  inline: (cell: PageElement) => string,
  omissions = new Omissions(),
): string {
  const all = rowsOf(table);
  const rows = all.slice(0, ROWS_MAX);
  const cut = [leftOut(omissions, "row", all.length - rows.length), leftOut(omissions, "column", columnsBeyond(rows))];
  const grid = layOut(rows);
  const width = Math.min(COLUMNS_MAX, Math.max(0, ...grid.map((row) => row.length)));
  if (width === 0) return "";
  const texts = grid.map((row) =>
    Array.from({ length: width }, (_, column) => {
      const cell = row[column];
      return cell === undefined ? "" : cellText(inline(cell));
    }),
  );
  const filled = texts.filter((row) => row.some((text) => text !== ""));
  const caption = table.children.find((child) => child.tag === "caption");
  const title = caption === undefined ? "" : cellText(inline(caption));
  if (filled.length === 0) return title;
  const columns = filledColumns(filled, width);
  const [first, second] = filled.slice(0, 2).map((row) => rows[texts.indexOf(row)]);
  const hasHeader = isHeader(first) || (isBold(first) && second !== undefined && !isBold(second));
  const header = hasHeader ? (filled[0] as string[]) : Array<string>(width).fill("");
  const body = hasHeader ? filled.slice(1) : filled;
  const line = (cells: readonly string[]) => `| ${columns.map((column) => cells[column]).join(" | ")} |`;
  const lines = [line(header), line(alignments(grid, width)), ...body.map(line)];
  const notes = cut.filter((note) => note !== "").flatMap((note) => ["", note]);
  return [...(title === "" ? [] : [title, ""]), ...lines, ...notes].join("\n");
}

/** The line below a table that is cut; "" if nothing was left out. */
function leftOut(omissions: Omissions, noun: "row" | "column", count: number): string {
  omissions.add(`${noun}s`, count);
  return count === 0 ? "" : `(${count} more ${noun}${count === 1 ? "" : "s"} left out)`;
}

/** By how many columns the widest row exceeds the limit. */
function columnsBeyond(rows: readonly PageElement[]): number {
  let widest = 0;
  for (const row of rows) widest = Math.max(widest, cellsOf(row).length);
  return Math.max(0, widest - COLUMNS_MAX);
}

function isHeader(row: PageElement | undefined): boolean {
  if (row === undefined) return false;
  if (row.parentNode?.tag === "thead") return true;
  const cells = cellsOf(row);
  return (
    cells.length > 0 &&
    cells.every((cell) => cell.tag === "th" || cell.textContent.trim() === "") &&
    cells.some((cell) => cell.tag === "th")
  );
}

/** A cell with more elements is not a header cell. */
const HEADER_CELL_ELEMENTS_MAX = 8;

/** Whether a row is a header although it is not marked up as one: every cell is bold. */
function isBold(row: PageElement | undefined): boolean {
  const cells = row === undefined ? [] : cellsOf(row).filter((cell) => cell.textContent.trim() !== "");
  return (
    cells.length > 1 &&
    cells.every((cell) => {
      const inner = elementsOf(cell);
      if (inner.length > HEADER_CELL_ELEMENTS_MAX) return false;
      const bold = inner.filter(({ tag }) => tag === "b" || tag === "strong");
      const chars = cell.textContent.trim().length;
      return bold.some((element) => element.textContent.trim().length === chars);
    })
  );
}

/** The indexes of columns with content. Columns that only add space are left out. */
function filledColumns(rows: readonly (readonly string[])[], width: number): number[] {
  const filled = new Array<boolean>(width).fill(false);
  for (const row of rows)
    row.forEach((text, column) => {
      if (text !== "") filled[column] = true;
    });
  return [...filled.keys()].filter((column) => filled[column] === true);
}

/** Places the cells on a grid according to colspan and rowspan. */
function layOut(rows: readonly PageElement[]): Grid {
  const grid: Grid = rows.map(() => []);
  const taken = rows.map(() => new Set<number>());
  rows.forEach((row, y) => {
    let x = 0;
    for (const cell of cellsOf(row)) {
      while (taken[y]?.has(x)) x++;
      const across = span(cell, "colspan", COLUMNS_MAX);
      const down = Math.min(span(cell, "rowspan", ROWS_MAX), rows.length - y);
      for (let dy = 0; dy < down; dy++)
        for (let dx = 0; dx < across && x + dx < COLUMNS_MAX; dx++) {
          taken[y + dy]?.add(x + dx);
          const line = grid[y + dy];
          if (line !== undefined) line[x + dx] = dx === 0 && dy === 0 ? cell : undefined;
        }
      x += across;
      if (x >= COLUMNS_MAX) break;
    }
  });
  return grid;
}

function span(cell: PageElement, name: "colspan" | "rowspan", max: number): number {
  const value = Number.parseInt(cell.attributes[name] ?? "1", 10);
  return value >= 1 ? Math.min(value, max) : 1;
}

function alignments(grid: Grid, width: number): string[] {
  return Array.from({ length: width }, (_, column) => {
    const cell = grid.find((row) => row[column] !== undefined)?.[column];
    const align =
      cell?.attributes["align"] ?? /text-align\s*:\s*(\w+)/i.exec(cell?.attributes["style"] ?? "")?.[1] ?? "";
    return align === "center" ? ":---:" : align === "right" ? "---:" : "---";
  });
}

function cellText(markdown: string): string {
  if (markdown.includes("```")) markdown = linesOfCode(markdown);
  return joinLines(markdown.replace(/\\?\|/g, "\\|"), "<br>").replace(/(?<!<br>)(?:<br>)+$/, "");
}

/** Writes a listing in a cell, which must be on one line, as inline code for each line, with its indentation. */
function linesOfCode(markdown: string): string {
  let fence: string | undefined;
  return markdown
    .split("\n")
    .map((line) => {
      const mark = /^\s*(`{3,})/.exec(line)?.[1];
      if (mark !== undefined && (fence === undefined || fence === mark)) {
        fence = fence === undefined ? mark : undefined;
        return "";
      }
      if (fence === undefined || line.trim() === "") return line;
      return line.includes("`") ? `\`\` ${line} \`\`` : `\`${line}\``;
    })
    .join("\n");
}

/**
 * Joins the lines that are not empty. A pattern is not used: one that begins with blanks takes quadratic time on a run of them.
 */
export function joinLines(text: string, joint: string): string {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(joint);
}

/** The rows in order. A section inside another one, as on malformed pages, is included. */
function rowsOf(container: PageElement): PageElement[] {
  const rows: PageElement[] = [];
  for (const child of container.children) {
    if (child.tag === "tr") rows.push(child);
    else if (/^(?:tbody|thead|tfoot)$/.test(child.tag)) for (const row of rowsOf(child)) rows.push(row);
  }
  return rows;
}

function cellsOf(row: PageElement): PageElement[] {
  return row.children.filter((child) => child.tag === "td" || child.tag === "th");
}

/** Whether a table has no content. */
export function isEmptyTable(table: PageElement): boolean {
  return table.textContent.trim() === "" && table.getElementsByTagName("img").length === 0;
}

/** Creates an element that contains a text. */
export function textElement(tag: string, text: string): PageElement {
  const element = new PageElement(tag);
  element.appendChild(new PageText(text));
  return element;
}
