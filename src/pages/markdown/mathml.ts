// Converts presentation MathML to TeX, for formulas without their TeX source.

import { PageElement, PageText } from "../dom/node.ts";
import { commandOf, FUNCTIONS, LARGE_OPERATORS, OVER, UNDER } from "./tex-symbols.ts";

/** The TeX of a formula; "" if it is empty. */
export function texOfMathml(math: PageElement): string {
  return row(math).trim();
}

type Writer = (element: PageElement, parts: readonly PageElement[]) => string;

const WRITERS: Readonly<Record<string, Writer>> = {
  mi: identifier,
  mn: (element) => escaped(element.textContent.trim()),
  mo: (element) => symbols(element.textContent.trim()),
  mtext: text,
  ms: text,
  mfrac: fraction,
  msqrt: (element) => `\\sqrt{${row(element)}}`,
  mroot: (_, [base, index]) => `\\sqrt[${write(index)}]{${write(base)}}`,
  msup: (_, [base, up]) => `${baseOf(base)}${raised(up)}`,
  msub: (_, [base, down]) => `${baseOf(base)}_{${write(down)}}`,
  msubsup: (_, [base, down, up]) => `${baseOf(base)}_{${write(down)}}${raised(up)}`,
  mover: (_, [base, over]) => overAndUnder(base, undefined, over),
  munder: (_, [base, under]) => overAndUnder(base, under, undefined),
  munderover: (_, [base, under, over]) => overAndUnder(base, under, over),
  mmultiscripts: scriptsAround,
  mfenced: fenced,
  mspace: space,
  mtable: table,
  mphantom: () => "",
  maction: (_, [shown]) => write(shown),
  semantics: (_, [shown]) => write(shown),
  annotation: () => "",
  "annotation-xml": () => "",
  none: () => "",
  mprescripts: () => "",
};
const WRITER_OF: ReadonlyMap<string, Writer> = new Map(Object.entries(WRITERS));
/** Brackets that grow with the size of their content. */
const OPENING = new Set(["(", "[", "{", "|", "‖", "⟨", "⌈", "⌊"]);
const CLOSING = new Set([")", "]", "}", "|", "‖", "⟩", "⌉", "⌋"]);

function write(element: PageElement | undefined): string {
  if (element === undefined) return "";
  const writer = WRITER_OF.get(element.tag);
  return writer === undefined ? row(element) : writer(element, element.children);
}

/** The TeX of adjacent parts. */
function row(element: PageElement): string {
  const parts = element.childNodes;
  const pieces: string[] = [];
  let openFences = 0;
  parts.forEach((part, at) => {
    if (part instanceof PageText) pieces.push(escaped(part.data.trim()));
    if (!(part instanceof PageElement)) return;
    const sign = part.tag === "mo" ? part.textContent.trim() : "";
    if (OPENING.has(sign) && nextOf(parts, at)?.tag === "mtable") {
      openFences++;
      pieces.push(`\\left${symbols(sign)}`);
    } else if (openFences > 0 && CLOSING.has(sign)) {
      openFences--;
      pieces.push(`\\right${symbols(sign)}`);
    } else {
      pieces.push(write(part));
      // A distinction of cases has a brace on one side only.
      if (openFences > 0 && part.tag === "mtable" && !CLOSING.has(nextOf(parts, at)?.textContent.trim() ?? "")) {
        openFences--;
        pieces.push("\\right.");
      }
    }
  });
  return joined(pieces);
}

function nextOf(parts: readonly unknown[], at: number): PageElement | undefined {
  const next = parts[at + 1];
  if (next instanceof PageElement) return next;
  const afterBlank = parts[at + 2];
  return next instanceof PageText && next.data.trim() === "" && afterBlank instanceof PageElement
    ? afterBlank
    : undefined;
}

/** Joins adjacent pieces. A command needs a space before a letter, and two adjacent numbers must stay separate. */
function joined(pieces: readonly string[]): string {
  let tex = "";
  for (const piece of pieces) {
    if (piece === "") continue;
    const needsBlank =
      (/\\[a-zA-Z]+$/.test(tex.slice(-40)) && /^[a-zA-Z\d]/.test(piece)) || (/\d$/.test(tex) && /^\d/.test(piece));
    tex += needsBlank ? ` ${piece}` : piece;
  }
  return tex;
}

function identifier(element: PageElement): string {
  const name = element.textContent.trim();
  const variant = VARIANTS.get(element.attributes["mathvariant"] ?? "");
  if (FUNCTIONS.has(name)) return `\\${name}`;
  const shown = symbols(name);
  // A symbol such as nabla is upright of itself.
  const isUpright = variant === "\\mathrm" && !/^\p{L}/u.test(name);
  if (variant !== undefined && !isUpright) return `${variant}{${shown}}`;
  return [...name].length > 1 && /^[\p{L}\p{N} .-]+$/u.test(name) ? `\\mathrm{${shown}}` : shown;
}

const VARIANTS: ReadonlyMap<string, string> = new Map([
  ["normal", "\\mathrm"],
  ["bold", "\\mathbf"],
  ["bold-italic", "\\boldsymbol"],
  ["double-struck", "\\mathbb"],
  ["script", "\\mathcal"],
  ["fraktur", "\\mathfrak"],
  ["sans-serif", "\\mathsf"],
  ["monospace", "\\mathtt"],
]);

function text(element: PageElement): string {
  const words = element.textContent.replace(/\s+/g, " ");
  if (words === "") return "";
  return words.trim() === "" ? "\\ " : `\\text{${escaped(words)}}`;
}

function fraction(element: PageElement, [over, under]: readonly PageElement[]): string {
  const isBare = /^0(?:\D|$)/.test(element.attributes["linethickness"] ?? "");
  return isBare ? `{${write(over)} \\atop ${write(under)}}` : `\\frac{${write(over)}}{${write(under)}}`;
}

/** The base of a subscript or superscript: a single character as it is, several as a group. */
function baseOf(base: PageElement | undefined): string {
  const tex = write(base);
  return /^(?:[^\\{}]|\\[a-zA-Z]+|\d+|\\[a-z]+\{[^{}]*\})$/u.test(tex) ? tex : `{${tex}}`;
}

function raised(up: PageElement | undefined): string {
  const sign = up?.textContent.trim() ?? "";
  if (/^[′']+$/.test(sign)) return "'".repeat(sign.length);
  return sign === "″" ? "''" : `^{${write(up)}}`;
}

function overAndUnder(
  base: PageElement | undefined,
  under: PageElement | undefined,
  over: PageElement | undefined,
): string {
  const name = base?.textContent.trim() ?? "";
  if (LARGE_OPERATORS.has(name) || FUNCTIONS.has(name))
    return `${write(base)}${under === undefined ? "" : `_{${write(under)}}`}${over === undefined ? "" : `^{${write(over)}}`}`;
  let tex = write(base);
  if (over !== undefined) {
    const accent = OVER.get(over.textContent.trim());
    tex = accent === undefined ? `\\overset{${write(over)}}{${tex}}` : `${accent}{${tex}}`;
  }
  if (under !== undefined) {
    const accent = UNDER.get(under.textContent.trim());
    tex = accent === undefined ? `\\underset{${write(under)}}{${tex}}` : `${accent}{${tex}}`;
  }
  return tex;
}

/** Writes scripts on both sides of a symbol. In MathML, those after the symbol come first, then those before it. */
function scriptsAround(_: PageElement, [base, ...scripts]: readonly PageElement[]): string {
  const middle = scripts.findIndex(({ tag }) => tag === "mprescripts");
  const behind = middle < 0 ? scripts : scripts.slice(0, middle);
  const before = middle < 0 ? [] : scripts.slice(middle + 1);
  const pair = (down: PageElement | undefined, up: PageElement | undefined) =>
    [write(down), write(up)].map((tex, at) => (tex === "" ? "" : `${at === 0 ? "_" : "^"}{${tex}}`)).join("");
  const pairs = (list: readonly PageElement[]) =>
    list.map((_one, at) => (at % 2 === 0 ? pair(list[at], list[at + 1]) : "")).join("{}");
  return `${before.length === 0 ? "" : `{}${pairs(before).replace(/(?<!\{\})(?:\{\})+$/, "")}`}${baseOf(base)}${pairs(behind).replace(/(?<!\{\})(?:\{\})+$/, "")}`;
}

function fenced({ attributes }: PageElement, parts: readonly PageElement[]): string {
  const separators = [...(attributes["separators"] ?? ",").replace(/\s/g, "")];
  const inner = parts.map((part, at) => {
    const separator = separators[Math.min(at - 1, separators.length - 1)] ?? "";
    return `${at === 0 ? "" : escaped(separator)}${write(part)}`;
  });
  const isTall = parts.some(({ tag }) => tag === "mtable" || tag === "mfrac");
  const open = symbols(attributes["open"] ?? "(");
  const close = symbols(attributes["close"] ?? ")");
  if (!isTall) return joined([open, ...inner, close]);
  return `\\left${open === "" ? "." : open}${joined(inner)}\\right${close === "" ? "." : close}`;
}

function space({ attributes }: PageElement): string {
  if (attributes["linebreak"] === "newline") return "\\\\ ";
  const width = Number.parseFloat(attributes["width"] ?? "0");
  if (!(width > 0)) return "";
  return /em$/.test(attributes["width"] ?? "") && width >= 1 ? "\\quad " : "\\,";
}

function table(_: PageElement, rows: readonly PageElement[]): string {
  const lines = rows.map((line) => {
    const cells = line.tag === "mlabeledtr" ? line.children.slice(1) : line.children;
    return cells.map(write).join(" & ");
  });
  return `\\begin{matrix} ${lines.join(" \\\\ ")} \\end{matrix}`;
}

function symbols(signs: string): string {
  return joined([...signs].map((sign) => commandOf(sign) ?? escaped(sign)));
}

function escaped(plain: string): string {
  return plain.replace(/\\/g, "\\backslash ").replace(/[%#&_${}]/g, "\\$&");
}
