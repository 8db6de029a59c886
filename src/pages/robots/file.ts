// Reads a robots.txt. The package robots-parser judges addresses; this file adds which groups apply to this robot, what is
// allowed between groups, how an address may be spelled, and what judging an address can cost.

import robotsParser from "robots-parser";

/** The parts of a file that concern one robot. */
export interface RobotsFile {
  /** The groups for this robot and for all robots, as input of `openRules`. The text is ASCII. */
  readonly rules: string;
  /** The parser's cost of judging an address is at most this number times the address's length. */
  readonly stepsPerChar: number;
  readonly sitemaps: readonly string[];
}

/** Rules that are ready to judge addresses. */
export interface OpenRules {
  /** Takes a path in the form of `ruledPathOf`. */
  allows(path: string): boolean;
  readonly crawlDelayMs: number;
}

/** Longer crawl delays are reduced to this: they would stop a job, and one request in this time does not burden a host. */
const CRAWL_DELAY_MAX_MS = 30_000;
const SITEMAPS_MAX = 1000;
/** Also begins behind the separators of Unicode, which is why the blanks before a name hold none. */
const LINE = /^[^\S\r\n\u2028\u2029]*([\w-]+)[^\S\r\n\u2028\u2029]*:([^#\r\n]*)/gm;
/** The names under which robots appear in the rewritten rules. */
const [OURS, ALL] = ["ours", "*"];
/** A host for the rules. Any name will do, since each file applies only to its own site. */
const SITE = "https://site.invalid";

/** Reads the text that was found at `url`, for the robot with this name. Takes time in proportion to the text. */
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
      // By RFC 9309, such a line belongs to no group and ends none, but the parser would end the group.
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
  // A group without rules allows everything, but the parser would ignore it.
  if (isKnown) lines.push(`User-agent: ${OURS}`, "disallow:");
  return { rules: lines.join("\n"), stepsPerChar, sitemaps };
}

/** Prepares the rules that `readRobots` returned. */
export function openRules(rules: string): OpenRules {
  const parsed = robotsParser(`${SITE}/robots.txt`, rules);
  const delayMs = (parsed.getCrawlDelay(OURS) ?? 0) * 1000;
  return {
    allows: (path) => parsed.isAllowed(SITE + path, OURS) !== false,
    crawlDelayMs: Math.min(CRAWL_DELAY_MAX_MS, Math.max(0, delayMs)),
  };
}

/** The part of an address to which rules apply. */
export function ruledPathOf(url: string): string {
  const { pathname, search } = new URL(url);
  // By RFC 9309, rules mean these characters literally when they are escaped, but they are operators when unescaped.
  return spelled(pathname + search)
    .replaceAll("*", "%2A")
    .replaceAll("$", "%24");
}

/** The robot that a user-agent line names. A version or comment after the name is not part of it. */
function nameOf(text: string, robot: string): string | undefined {
  if (text.startsWith("*")) return ALL;
  return /^[\w-]+/.exec(text)?.[0].toLowerCase() === robot.toLowerCase() ? OURS : undefined;
}

function patternOf(text: string): string {
  // A dollar sign is an operator at the end of a rule, and a letter elsewhere.
  return spelled(text).replace(/\$(?!$)/g, "%24");
}

/**
 * The cost of a rule per letter of an address: for each letter after a wildcard, the parser tries every position, and it prepares
 * each position in any case.
 */
function stepsOf(rule: string): number {
  const wildcard = rule.indexOf("*");
  return 1 + (wildcard < 0 ? 0 : rule.length - wildcard);
}

/** Rewrites text that may be percent-encoded or not to one form, since the parser compares it letter by letter. */
function spelled(text: string): string {
  return encodeURI(text.toWellFormed())
    .replaceAll("%25", "%")
    .replaceAll("'", "%27")
    .replace(/%[0-9a-f]{2}/gi, (code) => {
      const letter = String.fromCharCode(Number.parseInt(code.slice(1), 16));
      return /[\w.~-]/.test(letter) ? letter : code.toUpperCase();
    });
}
