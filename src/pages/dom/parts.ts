// Recognises parts for which HTML has no element, by role or by the class names of page generators: tabs and their panels, titles
// of notes, tables made of div elements, embedded players.

import { declared, hidingOf } from "./hidden.ts";
import { closest, elementsOf, PageElement } from "./node.ts";

/** Class names that documentation generators use for the title of a note. */
const NOTE_TITLE =
  /(?:^|\s)(?:admonition-title|custom-block-title|markdown-alert-title|alert-title|callout-title|admonitionHeading_\w+)(?:\s|$)/;

/** Whether the element is the title of a note. */
export function isNoteTitle({ className }: PageElement): boolean {
  return className !== "" && NOTE_TITLE.test(className);
}

const DECORATION = /(?:^|[;\s])text-decoration(?:-line)?\s*:/i;

/** Whether the element is text that the page strikes out, such as a former price. */
export function isStruck({ tag, attributes }: PageElement): boolean {
  if (tag === "del" || tag === "s" || tag === "strike") return true;
  const style = attributes["style"];
  if (style === undefined || !/^(?:span|font|small|b|i|em|strong|div|p|td)$/.test(tag)) return false;
  return declared(style, DECORATION, /line-through/i) !== null;
}

const TABLE_ROLES = new Set(["table", "grid", "treegrid"]);

/** Whether the element is a table, by name or by role. */
export function isTable({ tag, attributes }: PageElement): boolean {
  return tag === "table" || TABLE_ROLES.has(attributes["role"] ?? "");
}

/** Matches frames that play media. */
const PLAYER =
  /^https?:\/\/(?:[\w-]+\.)*(?:youtube(?:-nocookie)?\.com\/embed|vimeo\.com\/video|dailymotion\.com\/embed|soundcloud\.com\/player|spotify\.com\/embed|codepen\.io\/[^/]+\/embed|ted\.com\/talks)\b/;

/** Matches frames of advertisements, measurements, buttons of social networks and checks for robots. */
const BESIDE =
  /^https?:\/\/(?:[\w-]+\.)*(?:2mdn|adform|adnxs|addthis|amazon-adsystem|cookiebot|criteo|demdex|disqus|doubleclick|facebook|googleadservices|googlesyndication|googletagmanager|googletagservices|hcaptcha|hotjar|linkedin|onetrust|outbrain|pinterest|recaptcha|sharethis|stripe|taboola|twitter|x)\.(?:com|net|org)\/|\/(?:recaptcha|pixel|ads?|widgets?|like|share)\b/i;

/** Whether the element embeds a player. */
export function isPlayerFrame({ tag, attributes }: PageElement): boolean {
  return tag === "iframe" && PLAYER.test(attributes["src"] ?? "");
}

/** Whether the element embeds another page that can belong to the content. */
export function isContentFrame(element: PageElement): boolean {
  const { tag, attributes } = element;
  if (tag !== "iframe") return false;
  if (isPlayerFrame(element)) return true;
  const address = attributes["src"] ?? "";
  const isSmall = [attributes["width"], attributes["height"]].some((size) => /^\d{1,2}(?:px)?$/.test(size ?? ""));
  return /^https?:/.test(address) && !isSmall && !BESIDE.test(address) && hidingOf(element) === undefined;
}

/** The maximum number of tabs, since more are a list of links; also the limit for lists and panels that are examined. */
const TABS_MAX = 200;
const LISTS_MAX = 100;
const PANELS_MAX = 400;
const TAB_LIST = /(?:^|\s)(?:tabbed-labels|tabs|nav-tabs|sphinx-tabs)(?:\s|$)/;
const PANEL = /(?:^|\s)(?:tabbed-block|tab-pane|tabpanel|sphinx-tabs-panel)(?:\s|$)/;
/** How many levels above a tab list are searched for its panels. */
const PANEL_LEVELS = 3;

/** Maps each tab to the panel that it opens. Tabs whose panel is not in the page are left out. */
export function tabPanels(root: PageElement): ReadonlyMap<PageElement, PageElement> {
  const pairs = new Map<PageElement, PageElement>();
  const elements = elementsOf(root);
  for (const tab of elements) {
    if (pairs.size >= TABS_MAX || !/(?:^|\s)sd-tab-label(?:\s|$)/.test(tab.className)) continue;
    // The labels of sphinx-design are between the panels.
    const panel = nextElement(tab);
    if (panel !== undefined && /(?:^|\s)sd-tab-content(?:\s|$)/.test(panel.className)) pairs.set(tab, panel);
  }
  const lists = elements.filter(isTabList).slice(0, LISTS_MAX);
  if (lists.length === 0) return pairs;
  const panels = outermost(elements.filter(isPanel).slice(0, PANELS_MAX));
  const byId = new Map<string, PageElement>();
  const labelled = new Map<string, PageElement>();
  for (const element of elements) {
    if (element.id !== "" && !byId.has(element.id)) byId.set(element.id, element);
    const label = element.attributes["aria-labelledby"];
    if (label !== undefined && isPanel(element)) labelled.set(label, element);
  }
  for (const list of lists) {
    const tabs = tabsOf(list);
    if (tabs.length === 0 || tabs.length > TABS_MAX) continue;
    const named = tabs.map((tab) => byId.get(targetOf(tab)) ?? labelled.get(tab.id));
    const ordered = named.every((panel) => panel === undefined) ? panelsBeside(list, panels, tabs.length) : [];
    tabs.forEach((tab, at) => {
      const panel = named[at] ?? ordered[at];
      if (panel !== undefined && !holds(panel, tab) && !holds(tab, panel)) pairs.set(tab, panel);
    });
  }
  return pairs;
}

function nextElement(element: PageElement): PageElement | undefined {
  let next = element.nextSibling;
  while (next !== null && !(next instanceof PageElement)) next = next.nextSibling;
  return next ?? undefined;
}

function isTabList({ attributes, className }: PageElement): boolean {
  return attributes["role"] === "tablist" || (className !== "" && TAB_LIST.test(className));
}

function isPanel({ attributes, className }: PageElement): boolean {
  return attributes["role"] === "tabpanel" || PANEL.test(className);
}

/** The tabs of a list: elements with that role, or otherwise labels or links that switch tabs. */
function tabsOf(list: PageElement): PageElement[] {
  const inner = elementsOf(list);
  const byRole = inner.filter(({ attributes }) => attributes["role"] === "tab");
  if (byRole.length > 0) return byRole;
  const labels = list.children.filter(({ tag }) => tag === "label");
  if (labels.length > 0) return labels;
  return inner.filter(({ tag, attributes }) => tag === "a" && /^(?:tab|pill)$/.test(toggleOf(attributes)));
}

function toggleOf(attributes: Readonly<Record<string, string>>): string {
  return attributes["data-bs-toggle"] ?? attributes["data-toggle"] ?? "";
}

/** The id of the panel that a tab states; "" if it states none. */
function targetOf(tab: PageElement): string {
  const { attributes } = tab;
  const said = attributes["aria-controls"] ?? attributes["data-bs-target"] ?? attributes["data-target"];
  const link = attributes["href"] ?? tab.getElementsByTagName("a")[0]?.attributes["href"] ?? "";
  const fragment = link.includes("#") ? link.replace(/^[^#]*/, "") : "";
  return (said ?? fragment).replace(/^#/, "");
}

/** Panels near the list that no tab names, if there are as many of them as tabs. */
function panelsBeside(list: PageElement, panels: readonly PageElement[], count: number): readonly PageElement[] {
  let around = list.parentNode;
  for (let level = 0; around !== null && level < PANEL_LEVELS; level++, around = around.parentNode) {
    const blocks = around.children.filter(({ className }) => /(?:^|\s)blocks(?:\s|$)/.test(className));
    const frame = around;
    const inside =
      blocks.length === 1 ? (blocks[0] as PageElement).children : panels.filter((panel) => holds(frame, panel));
    if (inside.length > 0) return inside.length === count ? inside : [];
  }
  return [];
}

/** The elements that are not inside another of these elements. */
function outermost(elements: readonly PageElement[]): PageElement[] {
  const all = new Set(elements);
  return elements.filter((element) => closest(element, (above) => all.has(above)) === undefined);
}

function holds(outer: PageElement, inner: PageElement): boolean {
  return outer === inner || closest(inner, (above) => above === outer) !== undefined;
}
