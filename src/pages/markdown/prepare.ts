// Rewrites what Markdown has its own way for before conversion: math, footnotes, code listings with line numbers,
// captions and definition lists become elements the rules know.

import { elementsOf, PageElement, PageText, walk } from "../dom/node.ts";
import { languageAround } from "./language.ts";
import { mendSeams } from "./seams.ts";

/** Rewrites in place. */
export function prepare(root: PageElement): void {
  for (const element of elementsOf(root)) {
    if (element.parentNode === null) continue;
    if (element.tag === "math") rewriteMath(element);
    else if (/(?:^|\s)katex(?:\s|$)/.test(element.className)) rewriteKatex(element);
    else if (element.tag === "table" && isListing(element)) rewriteListing(element);
    else if (element.tag === "pre") cleanPre(element);
    else if (element.tag === "sup") rewriteFootnoteMark(element);
    else if (/^h[1-6]$/.test(element.tag)) plainHeading(element);
  }
  rewriteFootnoteList(root);
  mendSeams(root);
}

/** Replaces an element by one that carries TeX as its text. */
function replaceByTex(element: PageElement, tex: string, isDisplay: boolean): void {
  const math = new PageElement("tex", { display: isDisplay ? "block" : "inline" });
  math.appendChild(new PageText(tex.trim()));
  element.parentNode?.insertBefore(math, element);
  element.remove();
}

function texOf(element: PageElement): string | undefined {
  const annotation = element
    .getElementsByTagName("annotation")
    .find((inner) => /tex/i.test(inner.attributes["encoding"] ?? ""));
  const tex = annotation?.textContent ?? element.attributes["alttext"];
  return tex === undefined || tex.trim() === "" ? undefined : tex;
}

function rewriteMath(math: PageElement): void {
  const tex = texOf(math);
  if (tex !== undefined) replaceByTex(math, tex, math.attributes["display"] === "block");
}

/** KaTeX sets a formula twice, for the eye and as MathML with its source. */
function rewriteKatex(element: PageElement): void {
  const math = element.getElementsByTagName("math")[0];
  const tex = math === undefined ? element.getElementsByTagName("tex")[0]?.textContent : texOf(math);
  if (tex === undefined) return;
  const display = /katex-display/.test(element.parentNode?.className ?? "") || math?.attributes["display"] === "block";
  replaceByTex(element, tex, display);
}

/** A heading that is bold all through is not more of a heading for it, and one without a word is only its picture. */
function plainHeading(heading: PageElement): void {
  const bold = elementsOf(heading).filter((element) => element.tag === "b" || element.tag === "strong");
  const text = heading.textContent.trim();
  if (
    text === "" ||
    bold
      .map((element) => element.textContent)
      .join("")
      .trim() === text
  )
    for (const element of text === "" ? [heading] : bold) element.unwrap();
}

/** Code set as a table of line numbers and lines. */
function isListing(table: PageElement): boolean {
  const cells = table.getElementsByTagName("td");
  return (
    cells.some((cell) =>
      /(?:^|[\s-])(?:gutter|lineno|line-?numbers?|blob-num|rouge-gutter|hljs-ln-numbers)/i.test(cell.className),
    ) && cells.length <= 20_000
  );
}

function rewriteListing(table: PageElement): void {
  const lines: string[] = [];
  for (const cell of table.getElementsByTagName("td")) {
    if (/gutter|lineno|line-?numbers?|blob-num|hljs-ln-numbers/i.test(cell.className)) continue;
    lines.push(codeText(cell).replace(/\n$/, ""));
  }
  const pre = new PageElement("pre", { class: `${table.className} ${languageAround(table)}`.trim() });
  pre.appendChild(new PageText(lines.join("\n")));
  table.parentNode?.insertBefore(pre, table);
  table.remove();
}

function cleanPre(pre: PageElement): void {
  for (const element of elementsOf(pre))
    if (
      /(?:^|\s)(?:gutter|lineno|line-?numbers?(?:-rows)?|linenos|copy|toolbar)(?:\s|$)/i.test(element.className) ||
      element.tag === "button"
    )
      element.remove();
}

/** Text of code: line breaks and block lines kept. */
export function codeText(element: PageElement): string {
  let text = "";
  for (const node of walk(element)) {
    if (node instanceof PageText) text += node.data;
    else if ((node as PageElement).tag === "br") text += "\n";
    else if (isLine(node as PageElement) && text !== "" && !text.endsWith("\n")) text += "\n";
    else if (/^t[dh]$/.test((node as PageElement).tag) && text !== "" && !text.endsWith("\n")) text += "\t";
  }
  return text.replace(/\u00a0/g, " ").replace(/\r\n?/g, "\n");
}

function isLine(element: PageElement): boolean {
  return element.tag === "div" || element.tag === "p" || element.tag === "li" || element.tag === "tr";
}

/** `<sup><a href="#fn1">1</a></sup>` → `[^1]`, when the target looks like a note. */
function rewriteFootnoteMark(sup: PageElement): void {
  const link = sup.getElementsByTagName("a")[0];
  const label = /#(?:fn|footnote|cite_note|note|ftn)[-_:]?([\w.-]*)$/i.exec(link?.attributes["href"] ?? "");
  const shown = sup.textContent.replace(/[[\]\s]/g, "");
  if (link === undefined || label === null || !/^[\w*†‡]{1,8}$/.test(shown)) return;
  const mark = new PageElement("footnote-mark", {
    label: shown,
    target: (link.attributes["href"] ?? "").replace(/^.*#/, ""),
  });
  // Without text the converter would take it for blank.
  mark.appendChild(new PageText(shown));
  sup.parentNode?.insertBefore(mark, sup);
  sup.remove();
}

/** The arrow from a note to its mark. */
function isWayBack(link: PageElement): boolean {
  const href = link.attributes["href"] ?? "";
  if (/#(?:fnref|footnote-ref|cite_ref|ftnref|ref)/i.test(href)) return true;
  return href.includes("#") && /^[\s[\]↩↑⏎^]+$/.test(link.textContent.replace(/[\ufe0e\ufe0f]/g, ""));
}

/** List items that footnote marks point to become `[^1]: text`. */
function rewriteFootnoteList(root: PageElement): void {
  const labels = new Map(
    root
      .getElementsByTagName("footnote-mark")
      .map((mark) => [mark.attributes["target"] ?? "", mark.attributes["label"] ?? ""]),
  );
  if (labels.size === 0) return;
  const found = new Set<string>();
  for (const element of elementsOf(root)) {
    const label = labels.get(element.id);
    if (label === undefined || element.tag !== "li" || found.has(label)) continue;
    found.add(label);
    for (const link of element.getElementsByTagName("a")) if (isWayBack(link)) link.remove();
    const note = new PageElement("footnote-text", { label });
    while (element.firstChild !== null) note.appendChild(element.firstChild);
    const list = element.parentNode;
    list?.parentNode?.insertBefore(note, list);
    element.remove();
    if (list !== null && list.textContent.trim() === "") list.remove();
  }
  // A mark without its note would be a broken reference.
  for (const mark of root.getElementsByTagName("footnote-mark"))
    if (!found.has(mark.attributes["label"] ?? "")) {
      const sup = new PageElement("sup");
      sup.appendChild(new PageText(mark.attributes["label"] ?? ""));
      mark.parentNode?.insertBefore(sup, mark);
      mark.remove();
    }
}
