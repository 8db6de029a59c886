// Replaces formulas with elements that contain TeX as their text, whichever library rendered the formulas.

import { closest, nodesOf, PageElement, PageText } from "../dom/node.ts";
import { texOfMathml } from "./mathml.ts";

/** A formula in TeX. */
export interface Formula {
  readonly tex: string;
  readonly isDisplay: boolean;
}

/** Replaces an element if it is a formula; returns false if it is not. */
export function rewriteFormula(element: PageElement): boolean {
  const formula = formulaOf(element);
  if (formula === undefined) return false;
  const math = new PageElement("tex", { display: formula.isDisplay ? "block" : "inline" });
  math.appendChild(new PageText(formula.tex.trim()));
  element.parentNode?.insertBefore(math, element);
  element.remove();
  return true;
}

/** The formula that an element shows; undefined if it is not a formula. */
export function formulaOf(element: PageElement): Formula | undefined {
  const { className, tag } = element;
  if (tag === "math") return mathOf(element);
  if (
    tag === "mjx-container" ||
    /(?:^|\s)(?:MathJax|MathJax_Display|MathJax_CHTML|MathJax_SVG)(?:\s|$)/.test(className)
  )
    return mathJaxOf(element);
  if (className === "") return undefined;
  if (/(?:^|\s)mwe-math-element/.test(className)) return mediaWikiOf(element);
  return /(?:^|\s)katex(?:\s|$)/.test(className) ? katexOf(element) : undefined;
}

function sourceOf(element: PageElement): string | undefined {
  const annotation = element
    .getElementsByTagName("annotation")
    .find((inner) => /tex/i.test(inner.attributes["encoding"] ?? ""));
  const tex = annotation?.textContent ?? element.attributes["alttext"];
  return tex === undefined || tex.trim() === "" ? undefined : tex;
}

function mathOf(math: PageElement): Formula | undefined {
  const tex = sourceOf(math) ?? texOfMathml(math);
  return tex === "" ? undefined : { tex, isDisplay: isDisplay(math) };
}

function isDisplay({ attributes }: PageElement): boolean {
  return attributes["display"] === "block" || attributes["mode"] === "display";
}

/** Handles MathJax, which draws a formula visually and adds MathML for screen readers. */
function mathJaxOf(element: PageElement): Formula | undefined {
  const math = element.getElementsByTagName("math")[0];
  const formula = math === undefined ? undefined : mathOf(math);
  if (formula === undefined) return undefined;
  return { ...formula, isDisplay: formula.isDisplay || element.attributes["display"] === "true" };
}

/** Handles MediaWiki, which outputs a formula as MathML with its source, and again as an image. */
function mediaWikiOf(element: PageElement): Formula | undefined {
  const math = element.getElementsByTagName("math")[0];
  const image = element.getElementsByTagName("img")[0];
  const tex = (math === undefined ? undefined : sourceOf(math)) ?? image?.attributes["alt"];
  if (tex === undefined || tex.trim() === "") return undefined;
  return { tex, isDisplay: math?.attributes["display"] === "block" || /display|block/.test(image?.className ?? "") };
}

/** Handles KaTeX, which outputs a formula twice: visually, and as MathML with its source. */
function katexOf(element: PageElement): Formula | undefined {
  const math = element.getElementsByTagName("math")[0];
  const tex =
    math === undefined
      ? element.getElementsByTagName("tex")[0]?.textContent
      : (sourceOf(math) ?? (texOfMathml(math) || undefined));
  if (tex === undefined) return undefined;
  const isBlock = /katex-display/.test(element.parentNode?.className ?? "") || math?.attributes["display"] === "block";
  return { tex, isDisplay: isBlock };
}

const VERBATIM = new Set(["pre", "code", "kbd", "samp", "tt", "tex", "math", "textarea"]);
/** Delimiters around TeX that a script of the page would render. */
const RAW =
  /\\\(([^\n]{1,400}?)\\\)|\\\[([\s\S]{1,2000}?)\\\]|\$\$([^$]{1,2000})\$\$|\$(?=\S)([^$\n]{1,200})(?<=\S)\$(?!\d)/g;
/** Text in brackets is only a formula if it contains one of these. */
const IS_TEX = /\\[a-zA-Z]|[\^_=+<>]|^\s*[a-zA-Z]\s*$/;

/** Turns TeX in the text, which a script of the page would have rendered, into formulas, so that it is not escaped. */
export function readRawTex(root: PageElement): void {
  for (const node of nodesOf(root)) {
    if (!(node instanceof PageText) || !/\\[([]|\$[^$]*\$/.test(node.data)) continue;
    if (closest(node, ({ tag }) => VERBATIM.has(tag)) !== undefined) continue;
    splitFormulas(node);
  }
}

function splitFormulas(node: PageText): void {
  const { data } = node;
  let end = 0;
  for (const match of data.matchAll(RAW)) {
    const [whole, inline, block, dollars, dollar] = match;
    const tex = inline ?? block ?? dollars ?? dollar ?? "";
    // A single dollar sign usually means money.
    if (!(dollar === undefined ? IS_TEX : /\\[a-zA-Z]|^[a-zA-Z]$|^[^\s]*[\^_]\{?\w[^\s]*$/).test(tex)) continue;
    const formula = new PageElement("tex", {
      display: block === undefined && dollars === undefined ? "inline" : "block",
    });
    formula.appendChild(new PageText(tex.trim()));
    node.parentNode?.insertBefore(new PageText(data.slice(end, match.index)), node);
    node.parentNode?.insertBefore(formula, node);
    end = match.index + whole.length;
  }
  node.data = data.slice(end);
}
