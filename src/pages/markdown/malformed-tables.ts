// Repairs malformed tables, such as those with forms around cells or text between rows. Browsers move such content out of the
// table; here, nothing of a table is lost, and all text keeps its order.

import { PageElement, PageText } from "../dom/node.ts";

const PARTS = new Set(["tr", "td", "th", "caption", "colgroup", "col", "thead", "tbody", "tfoot"]);
const CELLS = new Set(["td", "th"]);

/** Moves content of a table that is outside of its cells into cells, or before the table. */
export function gatherStrays(table: PageElement): void {
  unwrapAround(table);
  settleRows(table, { table, hasRow: false });
}

/** Removes elements that are not allowed in a table; their rows and cells stay. */
function unwrapAround(container: PageElement): void {
  for (let child = container.firstChild; child !== null; ) {
    const next = child.nextSibling;
    if (!(child instanceof PageElement) || CELLS.has(child.tag)) {
      child = next;
      continue;
    }
    // The same is done with sections in sections, and with rows in rows.
    const isNested =
      container.tag !== "table" && PARTS.has(child.tag) && !(child.tag === "tr" && container.tag !== "tr");
    if (PARTS.has(child.tag) && !isNested) unwrapAround(child);
    else if (isNested || holdsParts(child)) {
      const first = child.firstChild;
      child.unwrap();
      child = first;
      continue;
    }
    child = next;
  }
}

/** Whether an element contains rows or cells of this table. Those of a nested table do not count. */
function holdsParts(element: PageElement): boolean {
  if (element.tag === "table") return false;
  for (let child = element.firstChild; child !== null; child = child.nextSibling)
    if (child instanceof PageElement && (PARTS.has(child.tag) || holdsParts(child))) return true;
  return false;
}

/** Adds a row around cells without one. Text between rows becomes a row; text before the first row moves before the table. */
function settleRows(container: PageElement, at: { readonly table: PageElement; hasRow: boolean }): void {
  let cell: PageElement | undefined;
  let loose: PageElement | undefined;
  for (const child of container.childNodes) {
    if (child instanceof PageElement && CELLS.has(child.tag)) {
      loose ??= container.insertBefore(new PageElement("tr"), child);
      loose.appendChild(child);
      at.hasRow = true;
      cell = undefined;
    } else if (child instanceof PageElement && PARTS.has(child.tag)) {
      if (child.tag === "tr") settleCells(child);
      else if (/^t(?:head|body|foot)$/.test(child.tag)) settleRows(child, at);
      at.hasRow ||= child.tag === "tr";
      cell = undefined;
      loose = undefined;
    } else if (says(child)) {
      loose = undefined;
      if (!at.hasRow) at.table.parentNode?.insertBefore(child, at.table);
      else {
        cell ??= rowBefore(child, container);
        cell.appendChild(child);
      }
    }
  }
}

function rowBefore(child: PageText | PageElement, container: PageElement): PageElement {
  const row = new PageElement("tr");
  container.insertBefore(row, child);
  return row.appendChild(new PageElement("td"));
}

/** Moves text between cells into the preceding cell, or into the following one if there is none. */
function settleCells(row: PageElement): void {
  let cell: PageElement | undefined;
  const early: (PageText | PageElement)[] = [];
  for (const child of row.childNodes) {
    if (child instanceof PageElement && CELLS.has(child.tag)) {
      cell = child;
      const first = child.firstChild;
      for (const stray of early.splice(0)) {
        child.insertBefore(stray, first);
        child.insertBefore(new PageText(" "), first);
      }
    } else if (says(child)) {
      if (cell === undefined) early.push(child);
      else {
        cell.appendChild(new PageText(" "));
        cell.appendChild(child);
      }
    }
  }
  if (early.length > 0) {
    const only = row.appendChild(new PageElement("td"));
    for (const stray of early) only.appendChild(stray);
  }
}

function says(node: unknown): node is PageText | PageElement {
  if (node instanceof PageText) return node.data.trim() !== "";
  if (!(node instanceof PageElement)) return false;
  return node.tag === "img" || node.getElementsByTagName("img").length > 0 || node.textContent.trim() !== "";
}
