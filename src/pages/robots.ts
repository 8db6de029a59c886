// robots.txt: whether a page may be read, how long to wait between two, and which sitemaps there are. A robots.txt that
// cannot be had, or that is no robots.txt, forbids nothing.

import type { Clock } from "../base/clock.ts";
import type { GuardedFetch } from "../net/fetch.ts";
import { type RobotsRules, readRobots } from "./robots-text.ts";

/** Reads and remembers robots.txt files. */
export interface Robots {
  rulesFor(url: string, signal?: AbortSignal): Promise<RobotsRules>;
}

/** What it needs. */
export interface RobotsDeps {
  readonly fetch: GuardedFetch;
  readonly clock: Clock;
  readonly userAgent: () => string;
}

/** RFC 9309 asks for at least 500 KiB. */
const BYTES_MAX = 512 * 1024;
const TIMEOUT_MS = 10_000;
const KEPT_MS = 3_600_000;
const SITES_MAX = 500;

const NO_RULES: RobotsRules = { allows: () => true, crawlDelayMs: 0, sitemaps: [] };

/** Makes a reader with a cache of its own. */
export function createRobots({ fetch: get, clock, userAgent }: RobotsDeps): Robots {
  const cache = new Map<string, { rules: Promise<RobotsRules>; untilMs: number }>();

  const load = async (origin: string): Promise<RobotsRules> => {
    const url = `${origin}/robots.txt`;
    const answer = await get(url, {
      bytesMax: BYTES_MAX,
      timeoutMs: TIMEOUT_MS,
      headers: { "user-agent": userAgent() },
    }).catch(() => undefined);
    if (answer === undefined || answer.status >= 400) return NO_RULES;
    const text = new TextDecoder().decode(answer.body);
    // Applications answer every path with their page.
    if (/^\s*</.test(text)) return NO_RULES;
    return readRobots(url, text, productToken(userAgent()));
  };

  return {
    rulesFor: (url) => {
      const { origin } = new URL(url);
      const known = cache.get(origin);
      if (known !== undefined && known.untilMs > clock.now()) return known.rules;
      const rules = load(origin);
      if (cache.size >= SITES_MAX) cache.delete(cache.keys().next().value as string);
      cache.set(origin, { rules, untilMs: clock.now() + KEPT_MS });
      return rules;
    },
  };
}

/** The name that robots.txt files know: what stands before the version. */
export function productToken(userAgent: string): string {
  return /^[\w-]+/.exec(userAgent)?.[0] ?? "Sallyport";
}
