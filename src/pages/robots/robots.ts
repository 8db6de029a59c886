// Reads robots.txt: whether a page may be read, how long to wait between two requests, and which sitemaps there are. If a site
// has no such file, or something else in its place, everything is allowed. If the file cannot be fetched, everything is forbidden
// for a while (RFC 9309).

import type { Clock } from "../../base/clock.ts";
import { type Flights, ownFlights } from "../../base/flights.ts";
import { pause } from "../../base/retry.ts";
import { untilAborted } from "../../base/until-aborted.ts";
import { FetchError, type Fetched, type FetchFault, type GuardedFetch } from "../../net/fetch.ts";
import { isChallenge } from "../challenge.ts";
import { PageError } from "../page-error.ts";
import { retryAfterMs } from "../retry-after.ts";
import type { JudgedFile, RobotsJudge } from "./judge.ts";

/** The rules of a site's robots.txt. */
export interface RobotsRules {
  /** `account`: the account that asks, if it is known. Throws `PageError` if the page may not be read, `PoolFull`, or the signal's reason. */
  check(url: string, signal: AbortSignal, account?: string): Promise<void>;
  readonly crawlDelayMs: number;
  readonly sitemaps: readonly string[];
}

/** Reads and caches robots.txt files. */
export interface Robots {
  /** Returns the rules for an address, for the account that asks, if it is known. Rejects only with the signal's reason. */
  rulesFor(url: string, signal?: AbortSignal, account?: string): Promise<RobotsRules>;
}

/** What it needs. */
export interface RobotsDeps {
  readonly fetch: GuardedFetch;
  readonly clock: Clock;
  readonly userAgent: () => string;
  readonly judge: Pick<RobotsJudge, "read">;
  /** If several nodes are configured, one of them fetches a file for all. */
  readonly flights?: Flights | undefined;
}

/** Only this much of a longer file is read. RFC 9309 requires at least 500 KiB. */
const BYTES_READ_MAX = 512 * 1024;
/** A body above this size is not a robots.txt. */
const BYTES_MAX = 8 * 1024 * 1024;
/** An HTML page is recognised within this many bytes. */
const MARKUP_WITHIN = 1024;
const TIMEOUT_MS = 10_000;
const TRIES_MAX = 3;
const KEPT_MS = 3_600_000;
/**
 * A failure to fetch the file is remembered for this time, as the site may be back soon. An unreachable site is not remembered.
 */
const UNREAD_KEPT_MS = 30_000;
const SITES_MAX = 500;
/** The approximate limit of the size of all cached files. */
const KEPT_BYTES_MAX = 32 * 1024 * 1024;

/** The rules of a site, and how long they are cached. */
interface Found {
  readonly rules: RobotsRules;
  readonly keptMs: number;
  readonly bytes: number;
}

/** The content of a site's file, or the reason why there is none, in a form that nodes can share. */
type SiteFile =
  | { readonly kind: "none" }
  | { readonly kind: "rules"; readonly base64: string }
  | { readonly kind: "unread"; readonly fault: "upstream" | "timeout"; readonly why: string; readonly keptMs: number };

const NONE: SiteFile = { kind: "none" };
const NO_RULES: RobotsRules = { check: async () => undefined, crawlDelayMs: 0, sitemaps: [] };
const UNREACHED: ReadonlySet<FetchFault> = new Set(["dns", "connect", "tls", "reset", "timeout"]);

/** Creates a reader with its own cache. */
export function createRobots(deps: RobotsDeps): Robots {
  const { clock, userAgent, judge, flights = ownFlights } = deps;
  /** Sites in the order of their last use. */
  const cache = new Map<string, { rules: Promise<RobotsRules>; untilMs: number; bytes: number }>();

  const load = async (origin: string, account: string): Promise<Found> => {
    const key = `robots ${userAgent()} ${origin}`;
    const { value: file, leftMs } = await flights.share(key, () => fileOf(origin, deps), {
      keptMs: keptMsOf,
      waitMs: TIMEOUT_MS,
    });
    if (file.kind === "none") return { rules: NO_RULES, keptMs: leftMs, bytes: 0 };
    if (file.kind === "unread") return unread(file, leftMs);
    try {
      const body = new Uint8Array(Buffer.from(file.base64, "base64"));
      const from = { url: `${origin}/robots.txt`, robot: productToken(userAgent()), account };
      return asFound(await judge.read(body, from), leftMs);
    } catch (error) {
      return refusing(error, error instanceof PageError ? UNREAD_KEPT_MS : 0);
    }
  };

  const remember = (origin: string, account: string): Promise<RobotsRules> => {
    const found = load(origin, account);
    const entry = { rules: found.then(({ rules }) => rules), untilMs: clock.now() + KEPT_MS, bytes: 0 };
    cache.delete(origin);
    cache.set(origin, entry);
    return found.then(({ rules, keptMs, bytes }) => {
      entry.untilMs = clock.now() + keptMs;
      entry.bytes = bytes;
      forgetOldest();
      return rules;
    });
  };

  const forgetOldest = (): void => {
    let bytes = 0;
    for (const entry of cache.values()) bytes += entry.bytes;
    for (const [origin, entry] of cache) {
      if (cache.size <= SITES_MAX && bytes <= KEPT_BYTES_MAX) return;
      cache.delete(origin);
      bytes -= entry.bytes;
    }
  };

  return {
    rulesFor: async (url, signal, account = "") => {
      const { origin } = new URL(url);
      const known = cache.get(origin);
      const isFresh = known !== undefined && known.untilMs > clock.now();
      return untilAborted(isFresh ? known.rules : remember(origin, account), signal);
    },
  };
}

/** Fetches a site's robots.txt. */
async function fileOf(origin: string, deps: Pick<RobotsDeps, "fetch" | "userAgent">): Promise<SiteFile> {
  let answer: Fetched;
  try {
    answer = await ask(`${origin}/robots.txt`, deps);
  } catch (error) {
    // After a refused address or too many redirects, the site counts as one without a robots.txt.
    if (!(error instanceof FetchError) || !UNREACHED.has(error.fault)) return NONE;
    const { message: why } = error;
    return error.fault === "timeout"
      ? { kind: "unread", fault: "timeout", why, keptMs: UNREAD_KEPT_MS }
      : { kind: "unread", fault: "upstream", why, keptMs: 0 };
  }
  const { status, headers, body } = answer;
  // A bot protection answered in place of the site. Nothing is known about the site's rules, so everything is allowed.
  if (status >= 500) {
    if (isChallenge(status, headers, body)) return NONE;
    return { kind: "unread", fault: "upstream", why: `The server answered ${status}.`, keptMs: UNREAD_KEPT_MS };
  }
  // Some applications answer every path with an HTML page.
  if (status >= 400 || isMarkup(body)) return NONE;
  return { kind: "rules", base64: Buffer.from(beginningOf(body)).toString("base64") };
}

/** How long nodes share the file. An unreachable site is not shared, because other nodes may reach it. */
function keptMsOf(file: SiteFile): number | undefined {
  if (file.kind !== "unread") return KEPT_MS;
  return file.keptMs === 0 ? undefined : file.keptMs;
}

/** Fetches the file. Server errors are retried while there is time. */
async function ask(url: string, { fetch: get, userAgent }: Pick<RobotsDeps, "fetch" | "userAgent">): Promise<Fetched> {
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
}

function asFound({ allows, crawlDelayMs, sitemaps, bytes }: JudgedFile, keptMs: number): Found {
  const check = async (url: string, signal: AbortSignal, account = "") => {
    if (!(await allows(url, signal, account)))
      throw new PageError("robots", "The site's robots.txt does not allow this page to be read.");
  };
  return { rules: { check, crawlDelayMs, sitemaps }, keptMs, bytes };
}

/** The rules of a site whose robots.txt cannot be fetched: nothing may be read. */
function unread({ fault, why }: Pick<SiteFile & { kind: "unread" }, "fault" | "why">, keptMs: number): Found {
  return refusing(new PageError(fault, `${why} So the site's robots.txt could not be read.`), keptMs);
}

function refusing(error: unknown, keptMs: number): Found {
  const check = () => Promise.reject(error);
  return { rules: { check, crawlDelayMs: 0, sitemaps: [] }, keptMs, bytes: 0 };
}

function isMarkup(body: Uint8Array): boolean {
  return /^\s*</.test(new TextDecoder().decode(body.subarray(0, MARKUP_WITHIN)));
}

/** The part of the file that is read. It ends with a whole line, since half a rule could be a different rule. */
function beginningOf(body: Uint8Array): Uint8Array {
  if (body.byteLength <= BYTES_READ_MAX) return body;
  const end = Math.max(body.lastIndexOf(10, BYTES_READ_MAX - 1), body.lastIndexOf(13, BYTES_READ_MAX - 1));
  return body.subarray(0, end + 1);
}

/** The name of the robot in robots.txt files, which is the user agent up to the version. */
export function productToken(userAgent: string): string {
  return /^[\w-]+/.exec(userAgent)?.[0] ?? "Sallyport";
}
