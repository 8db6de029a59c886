// Applies the simple rules of a page's own style sheets that hide parts, by writing them into the inline styles, where everything
// looks for them. Sheets elsewhere are not fetched, and a rule that might be undone by another one is not applied.

import { isFadedIn } from "../dom/hidden.ts";
import { closest, elementsOf, nodesOf, type PageElement, PageText } from "../dom/node.ts";
import type { PageDocument } from "../dom/parse.ts";

/** The declarations that can hide a part, each with the values that do. */
const HIDING: ReadonlyMap<string, RegExp> = new Map(
  Object.entries({
    display: /^none$/,
    visibility: /^(?:hidden|collapse)$/,
    opacity: /^0?\.?0*%?$/,
    "content-visibility": /^hidden$/,
    transform: /^scale\(\s*(?:(?:0?\.0*|0+)\s*)?(?:,\s*(?:(?:0?\.0*|0+)\s*)?)?\)$/,
    "font-size": /^0?\.?0*(?:px|em|rem|pt|%)?$/,
    "text-indent": /^-\d{3,}/,
    clip: /^rect\(\s*[01](?:px)?[\s,]+[01]/,
    "clip-path": /^(?:inset\(\s*(?:50|100)%|circle\(\s*0)/,
    height: /^0(?:px|em|rem)?$/,
  }),
);
const ANY_HIDING = /none|hidden|collapse|scale|opacity|font-size|text-indent|clip|height|color/i;
/** Parts with more of the page's text, and with more than some sentences, are shown by a script or by another sheet. */
const SHARE_MAX = 0.05;
const CHARS_MIN = 400;
/** Rules of one page that are read. */
const RULES_MAX = 5000;
/** Comparisons of a rule with an element. Hundreds of rules for one name and thousands of elements with it would take seconds. */
const COMPARED_MAX = 1_000_000;
/** Conditions within conditions. */
const LEVELS_MAX = 5;
const SIMPLE = /^(?:[a-z][a-z0-9-]*)?(?:[.#][\w-]+)*$/i;

interface Rule {
  readonly tag: string;
  readonly id: string;
  readonly classes: readonly string[];
  /** The declarations about visibility, in lower case. */
  readonly declared: ReadonlyMap<string, string>;
  /** Whether the rule always holds for the elements that it names. */
  readonly isSure: boolean;
  /** Whether it can hide an element, by itself or with others: few of a page's rules can. */
  readonly mayHide: boolean;
  readonly weight: number;
}

/** The rules that name a tag, an id or a class first. */
interface Named {
  readonly rules: Rule[];
  mayHide: boolean;
}

/** Applies the rules of a page to its elements. */
export function applyStyleRules({ body, styles }: PageDocument): void {
  readStyleRules(styles)(body);
}

/** Reads the rules of style sheets once. The result applies them to the elements below a body. */
export function readStyleRules(styles: readonly string[]): (body: PageElement) => void {
  const rules: Rule[] = [];
  for (const sheet of styles) if (ANY_HIDING.test(sheet)) readRules(withoutComments(sheet), true, rules, 0);
  if (!rules.some((rule) => rule.isSure && hides(rule.declared))) return () => undefined;
  const byName = indexed(rules);
  const budget = { comparisonsLeft: COMPARED_MAX };
  return (body) => applyTo(body, byName, budget);
}

function applyTo(body: PageElement, byName: ReadonlyMap<string, Named>, budget: { comparisonsLeft: number }): void {
  const elements = elementsOf(body);
  const sizes = textSizes(body, elements);
  const charsMax = Math.max(CHARS_MIN, (sizes.get(body) ?? 0) * SHARE_MAX);
  const styled = new Map<PageElement, string>();
  let chars = 0;
  for (const element of elements) {
    const size = sizes.get(element) ?? 0;
    if (size === 0 || size > charsMax) continue;
    const named = namedOf(element, byName);
    for (const one of named) budget.comparisonsLeft -= one.rules.length;
    if (budget.comparisonsLeft < 0) break;
    const style = named.some(({ mayHide }) => mayHide) ? styleOf(element, named) : undefined;
    if (style === undefined) continue;
    if (closest(element, (above) => styled.has(above) || isFrame(above)) === undefined && !isFrame(element))
      chars += size;
    styled.set(element, style);
  }
  if (chars > charsMax) return;
  for (const [element, style] of styled) element.attributes["style"] = style;
}

/** The rules by what they name first. */
function indexed(rules: readonly Rule[]): ReadonlyMap<string, Named> {
  const byName = new Map<string, Named>();
  for (const rule of rules) {
    const name = rule.id !== "" ? `#${rule.id}` : rule.classes.length > 0 ? `.${rule.classes[0]}` : rule.tag;
    const known = byName.get(name);
    if (known === undefined) byName.set(name, { rules: [rule], mayHide: rule.mayHide });
    else {
      known.rules.push(rule);
      known.mayHide ||= rule.mayHide;
    }
  }
  return byName;
}

/** The rules that may be about an element. */
function namedOf(element: PageElement, byName: ReadonlyMap<string, Named>): Named[] {
  const found: Named[] = [];
  const add = (name: string) => {
    const named = byName.get(name);
    if (named !== undefined) found.push(named);
  };
  add(element.tag);
  add(`#${element.id}`);
  for (const one of classesOf(element)) add(`.${one}`);
  return found;
}

/** The inline style that has the effect of the rules about an element; undefined if they do not hide it. */
function styleOf(element: PageElement, named: readonly Named[]): string | undefined {
  const own = classesOf(element);
  const isHidden = named.some(({ rules }) => rules.some((rule) => rule.mayHide && fits(rule, element, own)));
  if (!isHidden) return undefined;
  const rules = named.flatMap((one) => one.rules).filter((rule) => fits(rule, element, own));
  return hidingStyle(element, rules);
}

/** Parts whose menus and notices are hidden on many pages. */
function isFrame({ tag, attributes, className }: PageElement): boolean {
  return (
    /^(?:nav|header|footer|aside|dialog|form)$/.test(tag) || attributes["role"] === "dialog" || FRAME.test(className)
  );
}

const FRAME = /(?:^|[\s_-])(?:nav|menu|modal|popup|cookie|consent|overlay|dialog|sidebar|banner)/i;

/** The number of characters in each element. */
function textSizes(body: PageElement, elements: readonly PageElement[]): ReadonlyMap<PageElement, number> {
  const sizes = new Map<PageElement, number>();
  const add = (element: PageElement | null, chars: number) => {
    if (element !== null && chars > 0) sizes.set(element, (sizes.get(element) ?? 0) + chars);
  };
  for (const node of nodesOf(body)) if (node instanceof PageText) add(node.parentNode, node.data.trim().length);
  for (const element of elements.toReversed()) add(element.parentNode, sizes.get(element) ?? 0);
  return sizes;
}

/** The inline style that has the effect of the rules; undefined if they do not hide the element. */
function hidingStyle(element: PageElement, rules: readonly Rule[]): string | undefined {
  const style = element.attributes["style"] ?? "";
  const set = new Map<string, { value: string; weight: number }>();
  const doubtful = new Set<string>();
  for (const { declared, isSure, weight } of rules)
    for (const [name, value] of declared) {
      if (!isSure) {
        if (!isHiding(name, value)) doubtful.add(name);
        continue;
      }
      const rank = weight + (value.endsWith("!important") ? 1e6 : 0);
      if ((set.get(name)?.weight ?? -1) <= rank) set.set(name, { value, weight: rank });
    }
  const hidden = [...set].filter(
    ([name]) => !doubtful.has(name) && !new RegExp(`(?:^|[;\\s])${name}\\s*:`, "i").test(style),
  );
  const written = new Map(hidden.map(([name, { value }]) => [name, value]));
  if (!hides(written) || (!isGone(written) && isFadedIn(element, written))) return undefined;
  const shown = [...written].map(([name, value]) => `${name}:${value}`).join(";");
  return style === "" ? shown : `${style.replace(/;\s*$/, "")};${shown}`;
}

/** Whether the part takes up no place. */
function isGone(declared: ReadonlyMap<string, string>): boolean {
  return isHiding("display", declared.get("display") ?? "");
}

function hides(declared: ReadonlyMap<string, string>): boolean {
  for (const [name, value] of declared) if (name !== "height" && isHiding(name, value)) return true;
  const isFlat = isHiding("height", declared.get("height") ?? "");
  return isFlat && /hidden|clip/.test(declared.get("overflow") ?? "") && !EXTENDED.some((name) => declared.has(name));
}

const IMPORTANT = /!important$/;

function isHiding(name: string, value: string): boolean {
  return (
    HIDING.get(name)?.test(IMPORTANT.test(value) ? value.slice(0, -"!important".length).trimEnd() : value) === true
  );
}

function fits({ tag, id, classes }: Rule, element: PageElement, own: readonly string[]): boolean {
  if ((tag !== "" && tag !== element.tag) || (id !== "" && id !== element.id)) return false;
  return classes.every((one) => own.includes(one));
}

function classesOf({ className }: PageElement): string[] {
  return className === "" ? [] : className.split(/\s+/).filter((one) => one !== "");
}

function withoutComments(sheet: string): string {
  return sheet.replace(/\/\*[\s\S]*?(?:\*\/|$)/g, " ").replace(/<!--|-->/g, " ");
}

/** Reads the rules of a sheet. Those within conditions only tell that a part may be shown. */
function readRules(sheet: string, isSure: boolean, rules: Rule[], level: number): void {
  for (let at = 0; at < sheet.length && rules.length < RULES_MAX; ) {
    const bodyStart = sheet.indexOf("{", at);
    if (bodyStart < 0) return;
    const end = blockEnd(sheet, bodyStart);
    // Statements such as @import end before the next rule.
    const written = sheet.slice(at, bodyStart);
    const head = written.slice(written.lastIndexOf(";") + 1).trim();
    const inner = sheet.slice(bodyStart + 1, end);
    if (head.startsWith("@")) {
      if (level < LEVELS_MAX && !/^@(?:[\w-]*keyframes|font-face|page)/i.test(head)) {
        const isAlways = /^@(?:media\s+(?:all|screen)\s*$|layer\b)/i.test(head);
        readRules(inner, isSure && isAlways, rules, level + 1);
      }
    } else addRules(head, inner, isSure, rules);
    at = end + 1;
  }
}

function blockEnd(sheet: string, open: number): number {
  let depth = 0;
  const BRACE = /[{}]/g;
  BRACE.lastIndex = open;
  for (let found = BRACE.exec(sheet); found !== null; found = BRACE.exec(sheet)) {
    depth += found[0] === "{" ? 1 : -1;
    if (depth === 0) return found.index;
  }
  return sheet.length;
}

/** Declarations with which a part without height has one nevertheless, or gets one. */
const EXTENDED = ["transition", "padding", "padding-top", "padding-bottom", "min-height"];
const READ = new Set([
  ...EXTENDED,
  ...HIDING.keys(),
  "overflow",
  "animation",
  "position",
  "color",
  "background",
  "background-color",
]);

function addRules(head: string, body: string, isSure: boolean, rules: Rule[]): void {
  const declared = new Map<string, string>();
  for (const declaration of body.split(";")) {
    const colon = declaration.indexOf(":");
    const name = declaration.slice(0, colon).trim().toLowerCase();
    if (colon > 0 && READ.has(name))
      declared.set(
        name,
        declaration
          .slice(colon + 1)
          .trim()
          .toLowerCase()
          .slice(0, 100),
      );
  }
  if (declared.size === 0) return;
  const canHide = [...declared].some(([name, value]) => isHiding(name, value));
  for (const selector of head.split(",")) {
    if (rules.length >= RULES_MAX) return;
    const written = selector.trim();
    const isSimple = SIMPLE.test(written) && written !== "";
    const named = isSimple ? written : lastNamed(written);
    if (!isSimple && (named === "" || !SIMPLE.test(named))) continue;
    const { tag, id, classes } = partsOf(named);
    const kind = (id === "" ? 0 : 10_000) + classes.length * 100 + (tag === "" ? 0 : 1);
    // A later rule outweighs an earlier one of the same kind.
    const weight = kind + rules.length / RULES_MAX;
    const isCertain = isSure && isSimple;
    rules.push({ tag, id, classes, declared, isSure: isCertain, mayHide: isCertain && canHide, weight });
  }
}

/** Of a selector with conditions, the last part: it names the elements that the rule may be about. */
function lastNamed(selector: string): string {
  const last = selector.split(/[\s>+~]+/).at(-1) ?? "";
  const end = last.search(/[:[]/);
  return end < 0 ? last : last.slice(0, end);
}

/** A selector of one class, as most are. */
const ONE_CLASS = /^\.[\w-]+$/;

/** The parts of a simple selector. */
function partsOf(named: string): Pick<Rule, "tag" | "id" | "classes"> {
  if (ONE_CLASS.test(named)) return { tag: "", id: "", classes: [named.slice(1)] };
  return {
    tag: /^[a-z][a-z0-9-]*/i.exec(named)?.[0].toLowerCase() ?? "",
    id: /#([\w-]+)/.exec(named)?.[1] ?? "",
    classes: [...named.matchAll(/\.([\w-]+)/g)].map(([, name = ""]) => name),
  };
}
