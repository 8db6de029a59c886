// Reads the text of a robots.txt for one robot (RFC 9309): the group that names it, else the one for all; the longest
// rule that fits decides, and of two equals the one that allows. Judging an address takes time in proportion to the file
// and the address, whatever the patterns: both come from strangers.

/** What a site's robots.txt says. */
export interface RobotsRules {
  allows(url: string): boolean;
  readonly crawlDelayMs: number;
  readonly sitemaps: readonly string[];
  /** Set when the site could not be asked, and so nothing is allowed. */
  readonly unread?: { readonly reason: "unreached" | "broken" | "timeout"; readonly message: string };
}

/** A longer crawl-delay would starve a job; the host is still visited only that seldom. */
const CRAWL_DELAY_MAX_MS = 30_000;
const SITEMAPS_MAX = 1000;

/** One rule: the texts between its wildcards. */
interface Rule {
  readonly allow: boolean;
  /** Of the pattern as written; the longest rule decides. */
  readonly length: number;
  readonly pieces: readonly string[];
  /** Ends in `$`. */
  readonly isWhole: boolean;
}

interface Group {
  readonly rules: Rule[];
  crawlDelayMs: number;
}

/** Reads the text, found at `url`, for the robot of this name. */
export function readRobots(url: string, text: string, robot: string): RobotsRules {
  const groups = new Map<string, Group>();
  const sitemaps: string[] = [];
  let current: Group[] = [];
  let namesGroup = false;
  for (const line of text.split(/\r\n|\r|\n/)) {
    const { 1: field = "", 2: value = "" } = /^\s*([\w-]+)\s*:([^#]*)/.exec(line) ?? [];
    const plain = value.trim();
    switch (field.toLowerCase()) {
      case "user-agent":
        if (!namesGroup) current = [];
        namesGroup = true;
        if (plain !== "") current.push(groupOf(groups, plain));
        break;
      case "allow":
      case "disallow": {
        namesGroup = false;
        const rule = plain === "" ? undefined : readRule(plain, field.toLowerCase() === "allow");
        if (rule !== undefined) for (const { rules } of current) rules.push(rule);
        break;
      }
      case "crawl-delay":
        namesGroup = false;
        for (const group of current) group.crawlDelayMs = delayOf(plain);
        break;
      case "sitemap":
        if (plain !== "" && sitemaps.length < SITEMAPS_MAX && URL.canParse(plain, url))
          sitemaps.push(new URL(plain, url).href);
    }
  }
  const { rules, crawlDelayMs } = groups.get(robot.toLowerCase()) ?? groups.get("*") ?? { rules: [], crawlDelayMs: 0 };
  // The first that fits decides.
  rules.sort((a, b) => b.length - a.length || Number(b.allow) - Number(a.allow));
  return {
    allows: (target) => {
      const { pathname, search } = new URL(target);
      const path = plainPath(pathname + search);
      return rules.find((rule) => fits(rule, path))?.allow ?? true;
    },
    crawlDelayMs,
    sitemaps,
  };
}

function groupOf(groups: Map<string, Group>, name: string): Group {
  // Versions and comments behind the name are no part of it.
  const robot = name.startsWith("*") ? "*" : (/^[\w-]+/.exec(name)?.[0].toLowerCase() ?? name);
  const group = groups.get(robot) ?? { rules: [], crawlDelayMs: 0 };
  groups.set(robot, group);
  return group;
}

function readRule(pattern: string, allow: boolean): Rule {
  const isWhole = pattern.endsWith("$");
  const plain = plainPath(isWhole ? pattern.slice(0, -1) : pattern);
  return { allow, length: plain.length + Number(isWhole), pieces: plain.split(/\*+/), isWhole };
}

function fits({ pieces, isWhole }: Rule, path: string): boolean {
  const [first = "", ...others] = pieces;
  if (!path.startsWith(first)) return false;
  let at = first.length;
  // Each piece as early as it comes: what is left is then the longest there can be.
  for (const piece of others) {
    const found = path.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  if (!isWhole) return true;
  const last = others.at(-1);
  return last === undefined ? path === first : path.endsWith(last) && endsLate(pieces, path);
}

/** Whether the last piece may stand at the very end, behind the others. */
function endsLate(pieces: readonly string[], path: string): boolean {
  let at = 0;
  for (const piece of pieces.slice(0, -1)) at = path.indexOf(piece, at) + piece.length;
  return path.length - (pieces.at(-1) ?? "").length >= at;
}

function delayOf(text: string): number {
  const seconds = Number.parseFloat(text);
  return Number.isFinite(seconds) ? Math.min(CRAWL_DELAY_MAX_MS, Math.max(0, seconds * 1000)) : 0;
}

/** One spelling for what may be written with and without percent signs. */
function plainPath(text: string): string {
  return text
    .replace(/[^\x21-\x7e]+/g, (odd) => encodeURI(odd.toWellFormed()))
    .replace(/%[0-9a-f]{2}/gi, (code) => {
      const letter = String.fromCharCode(Number.parseInt(code.slice(1), 16));
      return /[\w.~-]/.test(letter) ? letter : code.toUpperCase();
    });
}
