// robots.txt: whether a page may be read, how long to wait between two, and which sitemaps there are. A site without one,
// or with something else in its place, forbids nothing; one that cannot be asked forbids everything for a while (RFC 9309).

import type { Clock } from "../base/clock.ts";
import { pause } from "../base/retry.ts";
import { untilAborted } from "../base/until-aborted.ts";
import { FetchError, type Fetched, type FetchFault, type GuardedFetch } from "../net/fetch.ts";
import { isChallenge } from "./challenge.ts";
import { PageError } from "./page-error.ts";
import { retryAfterMs } from "./retry-after.ts";
import { type RobotsRules, readRobots } from "./robots-text.ts";

/** Reads and remembers robots.txt files. */
export interface Robots {
  /** Rejects with the signal's reason when that comes first, never otherwise. */
  rulesFor(url: string, signal?: AbortSignal): Promise<RobotsRules>;
}

/** What it needs. */
export interface RobotsDeps {
  readonly fetch: GuardedFetch;
  readonly clock: Clock;
  readonly userAgent: () => string;
}

/** Of a longer file, what stands further on is not read; RFC 9309 asks for at least 500 KiB. */
const BYTES_READ_MAX = 512 * 1024;
/** What is even longer is no robots.txt. */
const BYTES_MAX = 8 * 1024 * 1024;
const TIMEOUT_MS = 10_000;
const TRIES_MAX = 3;
const KEPT_MS = 3_600_000;
/** A site that did not answer may be back soon; one that nobody could connect to is not even remembered. */
const UNREAD_KEPT_MS = 30_000;
const SITES_MAX = 500;

const NO_RULES: RobotsRules = { allows: () => true, crawlDelayMs: 0, sitemaps: [] };
const UNREACHED: ReadonlySet<FetchFault> = new Set(["dns", "connect", "tls", "reset", "timeout"]);

/** Makes a reader with a cache of its own. */
export function createRobots({ fetch: get, clock, userAgent }: RobotsDeps): Robots {
  const cache = new Map<string, { rules: Promise<RobotsRules>; untilMs: number }>();

  const load = async (origin: string): Promise<RobotsRules> => {
    const url = `${origin}/robots.txt`;
    let answer: Fetched;
    try {
      answer = await ask(url);
    } catch (error) {
      // A refused address, or too many redirects, is a file that is not there.
      if (!(error instanceof FetchError) || !UNREACHED.has(error.fault)) return NO_RULES;
      return error.fault === "timeout" ? unread("timeout", error.message) : unread("unreached", error.message);
    }
    const { status, headers, body } = answer;
    // A guard before the site says nothing about its rules.
    if (status >= 500)
      return isChallenge(status, headers, body) ? NO_RULES : unread("broken", `The server answered ${status}.`);
    if (status >= 400) return NO_RULES;
    const text = new TextDecoder().decode(beginningOf(body));
    // Applications answer every path with their page.
    if (/^\s*</.test(text)) return NO_RULES;
    return readRobots(url, text, productToken(userAgent()));
  };

  /** Server errors are tried again while there is time. */
  const ask = async (url: string): Promise<Fetched> => {
    const endsMs = performance.now() + TIMEOUT_MS;
    const leftMs = () => Math.max(1, endsMs - performance.now());
    for (let attempt = 1; ; attempt++) {
      const answer = await get(url, {
        bytesMax: BYTES_MAX,
        timeoutMs: leftMs(),
        headers: { "user-agent": userAgent() },
      });
      const { status, headers, body } = answer;
      if (status < 500 || attempt >= TRIES_MAX || isChallenge(status, headers, body)) return answer;
      const waitMs = retryAfterMs(headers.get("retry-after"), attempt);
      if (waitMs >= leftMs()) return answer;
      await pause(waitMs, new AbortController().signal);
    }
  };

  const remember = (origin: string): Promise<RobotsRules> => {
    const entry = { rules: load(origin), untilMs: clock.now() + KEPT_MS };
    if (cache.size >= SITES_MAX) cache.delete(cache.keys().next().value as string);
    cache.set(origin, entry);
    return entry.rules.then((rules) => {
      if (rules.unread !== undefined)
        entry.untilMs = clock.now() + (rules.unread.reason === "unreached" ? 0 : UNREAD_KEPT_MS);
      return rules;
    });
  };

  return {
    rulesFor: async (url, signal) => {
      const { origin } = new URL(url);
      const known = cache.get(origin);
      const isFresh = known !== undefined && known.untilMs > clock.now();
      return untilAborted(isFresh ? known.rules : remember(origin), signal);
    },
  };
}

/** Throws `PageError` when the rules keep the page from being read. */
export function obey(rules: RobotsRules, url: string): void {
  if (rules.unread !== undefined)
    throw new PageError(
      rules.unread.reason === "timeout" ? "timeout" : "upstream",
      `The site's robots.txt could not be read: ${rules.unread.message}`,
    );
  if (!rules.allows(url)) throw new PageError("robots", "The site's robots.txt does not allow this page to be read.");
}

function unread(reason: NonNullable<RobotsRules["unread"]>["reason"], message: string): RobotsRules {
  return { allows: () => false, crawlDelayMs: 0, sitemaps: [], unread: { reason, message } };
}

/** As much as is read, in whole lines: half a rule would be another one. */
function beginningOf(body: Uint8Array): Uint8Array {
  if (body.byteLength <= BYTES_READ_MAX) return body;
  const end = Math.max(body.lastIndexOf(10, BYTES_READ_MAX - 1), body.lastIndexOf(13, BYTES_READ_MAX - 1));
  return body.subarray(0, end + 1);
}

/** The name that robots.txt files know: what stands before the version. */
export function productToken(userAgent: string): string {
  return /^[\w-]+/.exec(userAgent)?.[0] ?? "Sallyport";
}
