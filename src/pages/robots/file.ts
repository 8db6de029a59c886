// A robots.txt as far as it concerns us. robots-parser judges it; this adds what that leaves open: which groups apply to us,
// what lies between groups, how an address may be spelled, and what judging one can cost.

import robotsParser from "robots-parser";

/** The parts of a file that concern one robot. */
export interface RobotsFile {
  /** The groups for it and for all robots, as input of `openRules`. ASCII. */
  readonly rules: string;
  /** The parser's cost to judge an address is at most this times the address's length. */
  readonly stepsPerChar: number;
  readonly sitemaps: readonly string[];
}

/** Rules to judge addresses by. */
export interface OpenRules {
  /** Takes an address in the form of `pathOf`. */
  allows(path: string): boolean;
  readonly crawlDelayMs: number;
}

/** A longer crawl-delay would starve a job; the host is still visited only this rarely. */
const CRAWL_DELAY_MAX_MS = 30_000;
const SITEMAPS_MAX = 1000;
const LINE = /^[^\S\r\n]*([\w-]+)[^\S\r\n]*:([^#\r\n]*)/gm;
/** Names that stand for robots here. */
const [OURS, ALL] = ["ours", "*"];
/** The host of the rules: any will do, as each file applies to its own site only. */
const SITE = "https://site.invalid";

/** Reads the text, found at `url`, for the robot of this name. Takes time in proportion to the text. */
export function readRobots(url: string, text: string, robot: string): RobotsFile {
  const lines: string[] = [];
  const sitemaps: string[] = [];
  let names = new Set<string>();
  let isNaming = false;
  let isKnown = false;
  let stepsPerChar = 0;
  for (const [, field = "", value = ""] of text.matchAll(LINE)) {
    const kind = field.toLowerCase();
    const plain = value.trim();
    if (kind === "user-agent") {
      if (!isNaming) names = new Set();
      isNaming = true;
      const name = nameOf(plain, robot);
      if (name !== undefined) names.add(name);
      isKnown ||= name === OURS;
    } else if (kind === "sitemap") {
      // RFC 9309: such a line belongs to no group and ends none; the parser would end one.
      if (plain !== "" && sitemaps.length < SITEMAPS_MAX && URL.canParse(plain, url))
        sitemaps.push(new URL(plain, url).href);
    } else if (kind === "allow" || kind === "disallow" || kind === "crawl-delay") {
      if (isNaming) for (const name of names) lines.push(`User-agent: ${name}`);
      isNaming = false;
      if (names.size === 0) continue;
      const rule = kind === "crawl-delay" ? String(Number.parseFloat(plain) || 0) : patternOf(plain);
      lines.push(`${kind}: ${rule}`);
      stepsPerChar += stepsOf(rule);
    }
  }
  // A group without rules allows everything; the parser would ignore it.
  if (isKnown) lines.push(`User-agent: ${OURS}`, "disallow:");
  return { rules: lines.join("\n"), stepsPerChar, sitemaps };
}

/** Opens what `readRobots` returned. */
export function openRules(rules: string): OpenRules {
  const parsed = robotsParser(`${SITE}/robots.txt`, rules);
  const delayMs = (parsed.getCrawlDelay(OURS) ?? 0) * 1000;
  return {
    allows: (path) => parsed.isAllowed(SITE + path, OURS) !== false,
    crawlDelayMs: Math.min(CRAWL_DELAY_MAX_MS, Math.max(0, delayMs)),
  };
}

/** The part of an address that rules apply to. */
export function ruledPathOf(url: string): string {
  const { pathname, search } = new URL(url);
  // RFC 9309: rules mean these characters when they are escaped; unescaped they have another meaning there.
  return spelled(pathname + search)
    .replaceAll("*", "%2A")
    .replaceAll("$", "%24");
}

/** Versions and comments after a robot's name are not part of it. */
function nameOf(text: string, robot: string): string | undefined {
  if (text.startsWith("*")) return ALL;
  return /^[\w-]+/.exec(text)?.[0].toLowerCase() === robot.toLowerCase() ? OURS : undefined;
}

function patternOf(text: string): string {
  // At the end it is an operator, elsewhere a letter.
  return spelled(text).replace(/\$(?!$)/g, "%24");
}

/** For each letter that follows, the parser tries every position after a wildcard, and prepares for each position in any case. */
function stepsOf(rule: string): number {
  const wildcard = rule.indexOf("*");
  return 1 + (wildcard < 0 ? 0 : rule.length - wildcard);
}

/** One spelling for what may be written with and without percent encoding: the parser compares letter by letter. */
function spelled(text: string): string {
  return encodeURI(text.toWellFormed())
    .replaceAll("%25", "%")
    .replaceAll("'", "%27")
    .replace(/%[0-9a-f]{2}/gi, (code) => {
      const letter = String.fromCharCode(Number.parseInt(code.slice(1), 16));
      return /[\w.~-]/.test(letter) ? letter : code.toUpperCase();
    });
}
