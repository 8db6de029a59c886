// Judges addresses by robots.txt files, which are untrusted. Short and simple files are judged immediately, others in threads
// with a deadline. An address that cannot be judged in time is not allowed. Each file uses at most one thread at a time, so that
// a slow one delays mainly its own site.

import type { Clock } from "../../base/clock.ts";
import { createPool, type RunOptions, TaskTimeout, type WorkerPool } from "../../workers/pool.ts";
import { startThread } from "../../workers/start.ts";
import { PageError } from "../page-error.ts";
import { createSlots } from "../slots.ts";
import { openRules, readRobots, ruledPathOf } from "./file.ts";
import { type ReadAnswer, type RobotsTask, sharedText, shareText } from "./task.ts";

/** A robots.txt file that was read. */
export interface JudgedFile {
  /** Whether the address may be read, for an account. Throws `PageError` if that takes too long, the pool's error, or the signal's reason. */
  allows(url: string, signal: AbortSignal, account: string): Promise<boolean>;
  readonly crawlDelayMs: number;
  readonly sitemaps: readonly string[];
  /** The approximate size of the file in memory. */
  readonly bytes: number;
}

/** Reads files and judges by them. */
export interface RobotsJudge {
  /**
   * Reads a file that was found at `url`, for the robot with this name and the account that asked first. Throws `PageError` if
   * that takes too long, or the pool's error.
   */
  read(
    body: Uint8Array,
    from: { readonly url: string; readonly robot: string; readonly account: string },
  ): Promise<JudgedFile>;
  close(): void;
}

/** Files up to this size are read immediately, which takes a few milliseconds at worst. */
const BYTES_HERE_MAX = 16 * 1024;
/** Addresses up to this cost are judged immediately, which takes one or two milliseconds at worst. */
const STEPS_HERE_MAX = 250_000;
/**
 * The time limits in a thread, including its start. Reading takes linear time, tenths of a second for the largest file; if it
 * takes longer, the machine is busy with other pages. Judging is the task that a malicious file can make slow.
 */
const TIMEOUT_MS: Readonly<Record<RobotsTask["kind"], number>> = { read: 10_000, judge: 4000 };
/** After a judgement was too slow, paths of that length are refused for this time. */
const TOO_SLOW_KEPT_MS = 30_000;
const THREADS = 2;
/** The limit of bytes in files that wait to be read. */
const WAITING_BYTES_MAX = 64 * 1024 * 1024;

/** Creates a judge. Its threads start on first use. */
export function createRobotsJudge(clock: Clock): RobotsJudge {
  const pool: WorkerPool<RobotsTask, ReadAnswer | boolean> = createPool({
    start: () => startThread("./pages/robots/worker.ts", new URL("./worker.ts", import.meta.url)),
    size: THREADS,
    weigh: (task) => (task.kind === "read" ? task.body.byteLength : 0),
    weightMax: WAITING_BYTES_MAX,
  });
  let lastId = 0;

  /** Runs a task in a thread. If it takes too long, it fails with a `PageError`. */
  const run = async (task: RobotsTask, options: Omit<RunOptions, "timeoutMs">): Promise<ReadAnswer | boolean> => {
    try {
      return await pool.run(task, { ...options, timeoutMs: TIMEOUT_MS[task.kind] });
    } catch (error) {
      throw error instanceof TaskTimeout ? tooSlow(error) : error;
    }
  };

  /**
   * Judges in threads. Longer paths take longer, so if one was too slow, paths of its length or more are not tried for a while.
   */
  const distant = (rules: SharedArrayBuffer) => {
    const id = ++lastId;
    const turn = createSlots(1);
    let slow = { length: Number.POSITIVE_INFINITY, untilMs: 0 };
    return (path: string, signal: AbortSignal, account: string): Promise<boolean> =>
      turn.run(account, signal, async () => {
        if (clock.now() < slow.untilMs && path.length >= slow.length) throw tooSlow();
        try {
          return (await run({ kind: "judge", id, rules, path }, { signal, account })) as boolean;
        } catch (error) {
          if (error instanceof PageError) slow = { length: path.length, untilMs: clock.now() + TOO_SLOW_KEPT_MS };
          throw error;
        }
      });
  };

  const read: (...given: Parameters<RobotsJudge["read"]>) => Promise<ReadAnswer> = async (body, from) => {
    const { url, robot, account } = from;
    if (body.byteLength > BYTES_HERE_MAX) {
      // The text may be a small part of a buffer, all of which would be sent to the thread.
      const own = body.slice();
      return (await run({ kind: "read", url, body: own, robot }, { transfer: [own.buffer], account })) as ReadAnswer;
    }
    const { rules, ...file } = readRobots(url, new TextDecoder().decode(body), robot);
    return { ...file, rules: shareText(rules), crawlDelayMs: 0 };
  };

  return {
    read: async (body, from) => {
      const { rules, stepsPerChar, sitemaps, crawlDelayMs } = await read(body, from);
      const isShort = rules.byteLength <= BYTES_HERE_MAX;
      const near = isShort ? openRules(sharedText(rules)) : undefined;
      const far = distant(rules);
      return {
        allows: async (target, signal, account) => {
          const path = ruledPathOf(target);
          if (near !== undefined && stepsPerChar * path.length <= STEPS_HERE_MAX) return near.allows(path);
          return far(path, signal, account);
        },
        crawlDelayMs: near?.crawlDelayMs ?? crawlDelayMs,
        sitemaps,
        bytes: rules.byteLength + sitemaps.reduce((sum, { length }) => sum + length, 0),
      };
    },
    close: () => pool.close(),
  };
}

function tooSlow(cause?: unknown): PageError {
  return new PageError("robots", "The site's robots.txt takes too long to judge, so the page is not read.", { cause });
}
