// Tells by attributes and inline style whether an element is invisible. Rules of style sheets are written into the inline styles
// before (content/style-rules.ts), and a browser marks what it does not show (browser/in-page.ts).

import type { PageElement } from "./node.ts";
import { UNSEEN_ATTRIBUTE } from "./unseen-attribute.ts";

/** Class names of text that is only for screen readers. */
const SCREEN_READER =
  /(?:^|\s)(?:(?:sr|screen-?readers?)-?only|screen-?reader(?:-?text)?|visually-?hidden|visuallyhidden|visually_hidden|[\w]+-visually-hidden|u-hidden-visually|hide-visually|a11y-hidden|a11y-text|assistive-text|element-invisible|a-offscreen|off-?screen(?:-text)?)(?:\s|$)/i;
const NOT_DISPLAYED = /(?:^|[;\s])display\s*:\s*none/i;
const NOT_VISIBLE = /(?:^|[;\s])visibility\s*:\s*(?:hidden|collapse)/i;
const VISIBLE = /(?:^|[;\s])visibility\s*:\s*visible/i;
const NOT_DRAWN = /(?:^|[;\s])content-visibility\s*:\s*hidden/i;
const SCALE = /(?:^|[;\s])(?:transform|scale)\s*:/i;
const NO_SCALE = /(?<![\w.])(?:scale\(\s*(?:(?:0?\.0*|0+)\s*)?[,)]|0?\.?0+\s*$)/i;
const NO_HEIGHT = /(?:^|[;\s])(?:(?:max-)?height|width)\s*:\s*0(?:px|em|rem|%)?\s*(?:!important\s*)?(?:;|$)/i;
/** A box without a height of its own that has one nevertheless, such as the frame of a video. */
const HAS_EXTENT = /(?:^|[;\s])(?:padding|min-(?:height|width))/i;
const CUT_OFF = /(?:^|[;\s])overflow(?:-[xy])?\s*:\s*(?:hidden|clip)/i;
const FONT = /(?:^|[;\s])font(?:-size)?\s*:/i;
const SIZE = /(?<![\w.#])(\d+(?:\.\d+)?|\.\d+)\s*(px|pt|em|rem|%|)(?![\w.])/i;
/** Text of at most this size cannot be read. */
const FONT_PX_MAX = 1;
const FONT_SHARE_MAX = 0.05;
const OUT_OF_SIGHT =
  /(?:^|[;\s])(?:text-indent\s*:\s*-\d{3,}|clip\s*:\s*rect\(\s*[01](?:px)?[\s,]+[01]|clip-path\s*:\s*(?:inset\(\s*(?:50|100)%|circle\(\s*0))/i;
const FAR_AWAY = /(?:^|[;\s])(?:left|right|top)\s*:\s*-\d{3,}/i;
const LIFTED = /(?:^|[;\s])position\s*:\s*(?:absolute|fixed)/i;
const TRANSPARENT = /(?:^|[;\s])opacity\s*:\s*(?:(?:0?\.0*|0+)\s*)?(?:%\s*)?(?:!important\s*)?(?:;|$)/i;
/** Signs of an animation that makes a transparent part visible when it is scrolled to. */
const ANIMATED = /(?:^|[;\s])(?:transform|transition|animation|will-change|translate)\b/i;
const ANIMATED_NAME = /fade|reveal|anim|aos|wow|appear|motion|scroll|slide|lazy|load|carousel|swiper|invisible/i;

/** Signs that a part without height is opened: its height changes slowly. */
const OPENS = /(?:^|[;\s])transition(?:-property)?\s*:/i;

/**
 * How an element is hidden: `unseen` parts cannot be shown; `hidden` ones may be parts that a reader can open; `transparent` ones
 * may become visible when a reader scrolls to them, and `folded` ones, without height, when a script gives them one.
 */
export type Hiding = "unseen" | "hidden" | "transparent" | "folded" | undefined;

/**
 * The value among those of the declarations with such a name, if one has it. A declaration is read from the first such name on,
 * since one expression for both would read it again from each, and a page may have styles of any length.
 */
export function declared(style: string, name: RegExp, value: RegExp): RegExpExecArray | null {
  if (!name.test(style)) return null;
  for (const one of style.split(";")) {
    const named = name.exec(one);
    const found = named === null ? null : value.exec(one.slice(named.index + named[0].length));
    if (found !== null) return found;
  }
  return null;
}

/** Whether the element hides what is in it, apart from the size of its text. */
export function hidingOf(element: PageElement): Hiding {
  const { attributes, className } = element;
  const style = attributes["style"] ?? "";
  if (className !== "" && SCREEN_READER.test(className)) return "unseen";
  if (style !== "" && (OUT_OF_SIGHT.test(style) || (FAR_AWAY.test(style) && LIFTED.test(style)))) return "unseen";
  const { hidden } = attributes;
  if (hidden !== undefined && hidden.toLowerCase() !== "until-found") return "hidden";
  if (attributes[UNSEEN_ATTRIBUTE] === "all") return "hidden";
  if (style === "") return undefined;
  if (
    NOT_DISPLAYED.test(style) ||
    NOT_VISIBLE.test(style) ||
    NOT_DRAWN.test(style) ||
    declared(style, SCALE, NO_SCALE) !== null
  )
    return "hidden";
  if (NO_HEIGHT.test(style) && CUT_OFF.test(style) && !HAS_EXTENT.test(style))
    return OPENS.test(style) ? undefined : "folded";
  return isTransparent(element, style) ? "transparent" : undefined;
}

function isTransparent(element: PageElement, style: string): boolean {
  return TRANSPARENT.test(style) && !ANIMATED.test(style) && !isFadedIn(element);
}

/** Whether a part that keeps its place is shown when a reader scrolls to it, by its names or by its style. */
export function isFadedIn({ className, attributes }: PageElement, declared?: ReadonlyMap<string, string>): boolean {
  if (ANIMATED_NAME.test(className) || declared?.has("transition") === true || declared?.has("animation") === true)
    return true;
  return Object.keys(attributes).some((name) =>
    /^data-(?:aos|animat|framer|ix|motion|reveal|sal|scroll|w-id|wow)/.test(name),
  );
}

/** Whether the text directly in an element is not shown, though parts of it may be. */
export function hasUnseenText({ attributes }: PageElement): boolean {
  if (attributes[UNSEEN_ATTRIBUTE] === "text") return true;
  const style = attributes["style"] ?? "";
  return style !== "" && (isTinyText(style) || isOnItsColour(style));
}

/** Whether a style gives text the colour of its own background. */
function isOnItsColour(style: string): boolean {
  if (!/background/i.test(style)) return false;
  const colour = /(?:^|[;\s])color\s*:\s*([^;!]+)/i.exec(style)?.[1];
  const ground = /(?:^|[;\s])background(?:-color)?\s*:\s*([^;!]+)/i.exec(style)?.[1];
  return colour !== undefined && ground !== undefined && plainColour(colour) === plainColour(ground);
}

function plainColour(written: string): string {
  const colour = written.trim().toLowerCase().replace(/\s+/g, "");
  const short = /^#([\da-f])([\da-f])([\da-f])$/.exec(colour);
  if (short !== null)
    return `#${short
      .slice(1)
      .map((digit) => digit + digit)
      .join("")}`;
  if (colour === "white" || colour === "rgb(255,255,255)") return "#ffffff";
  return colour === "black" || colour === "rgb(0,0,0)" ? "#000000" : colour;
}

/** Whether the visibility of an element can be set again by what is in it, and is. */
export function isShownAgain(element: PageElement): boolean {
  return VISIBLE.test(element.attributes["style"] ?? "");
}

/** Whether an element hides its content in a way that its descendants can undo. */
export function isOnlyInvisible(element: PageElement): boolean {
  return NOT_VISIBLE.test(element.attributes["style"] ?? "");
}

/** Whether the text directly in an element of this style is too small to read. */
function isTinyText(style: string): boolean {
  const [, size, unit] = declared(style, FONT, SIZE) ?? [];
  if (size === undefined) return false;
  const value = Number(size);
  if (value === 0) return true;
  if (unit === "px" || unit === "pt") return value <= FONT_PX_MAX;
  return unit !== "" && value <= FONT_SHARE_MAX * (unit === "%" ? 100 : 1);
}
