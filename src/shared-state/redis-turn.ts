// Calls of scripts that are made within one turn of the event loop, sent to Redis as one. They run in the order in which they were
// made, and each has its own answer or error, as if it had been sent alone.

import { type RedisScript, redisScript } from "./redis-script.ts";

/** Runs a script, on its own connection and with its own keys and arguments. */
export type RunScript = (
  script: RedisScript,
  keys: readonly string[],
  args: readonly (string | number)[],
) => Promise<unknown>;

/** Calls that are sent together: nothing else runs on Redis meanwhile. */
const CALLS_MAX = 100;
/** Characters of their arguments: all of them wait for the longest. */
const CHARS_MAX = 64 * 1024;

interface Call {
  readonly script: RedisScript;
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
  resolve(reply: unknown): void;
  reject(error: unknown): void;
}

/** An error with which Redis answered one of several calls. Its name is that of an error that answers a single one. */
class GatheredReplyError extends Error {
  override name = "ReplyError";
}

/** Gathers calls; `flush` sends what was gathered at once. */
export function gatherCalls(run: RunScript): { readonly run: RunScript; flush(): void } {
  let waiting: Call[] = [];
  const together = createTogether();

  const send = async (calls: readonly Call[]): Promise<void> => {
    const [first] = calls;
    if (first === undefined) return;
    try {
      if (calls.length === 1) return first.resolve(await run(first.script, first.keys, first.args));
      const { script, args } = together(calls);
      const replies = await run(
        script,
        calls.flatMap(({ keys }) => keys),
        args,
      );
      if (!Array.isArray(replies) || replies.length !== calls.length)
        throw new Error("Redis answered another number of questions.");
      for (const [at, { resolve, reject }] of calls.entries()) {
        const [isDone, reply] = replies[at] as [number, unknown];
        // A script without a reply ends the list.
        if (isDone === 1) resolve(reply ?? null);
        else reject(new GatheredReplyError(String(reply)));
      }
    } catch (error) {
      for (const { reject } of calls) reject(error);
    }
  };

  const flush = (): void => {
    const calls = waiting;
    waiting = [];
    for (let at = 0; at < calls.length; ) {
      const end = endOfNext(calls, at);
      void send(calls.slice(at, end));
      at = end;
    }
  };

  return {
    run: (script, keys, args) =>
      script.isWhole
        ? run(script, keys, args)
        : new Promise((resolve, reject) => {
            if (waiting.push({ script, keys, args, resolve, reject }) === 1) setImmediate(flush);
          }),
    flush,
  };
}

/** Where the calls end that are sent together with the one at a place: at least that one. */
function endOfNext(calls: readonly Call[], from: number): number {
  let chars = 0;
  let end = from;
  for (; end < calls.length && end - from < CALLS_MAX; end++) {
    for (const arg of (calls[end] as Call).args) chars += typeof arg === "string" ? arg.length : 0;
    if (chars > CHARS_MAX && end > from) break;
  }
  return end;
}

/** Makes one script of all scripts that were gathered so far, and the arguments for calls of them. */
function createTogether() {
  const numbers = new Map<string, number>();
  const sources: string[] = [];
  let script: RedisScript | undefined;
  return (calls: readonly Call[]): { script: RedisScript; args: (string | number)[] } => {
    const args: (string | number)[] = [];
    for (const { script: one, keys, args: own } of calls) {
      let number = numbers.get(one.sha1);
      if (number === undefined) {
        number = sources.push(one.source);
        numbers.set(one.sha1, number);
        script = undefined;
      }
      args.push(number, keys.length, own.length, ...own);
    }
    script ??= redisScript(sourceOf(sources));
    return { script, args };
  };
}

/** ARGV: for each call the number of its script, how many keys and arguments it has, and the arguments. */
function sourceOf(sources: readonly string[]): string {
  const functions = sources.map((source, at) => `scripts[${at + 1}] = function(KEYS, ARGV)\n${source}\nend`);
  return `
local scripts = {}
${functions.join("\n")}
local replies, key, at = {}, 1, 1
while at <= #ARGV do
  local script, keys, args = scripts[tonumber(ARGV[at])], {}, {}
  for _ = 1, tonumber(ARGV[at + 1]) do
    keys[#keys + 1] = KEYS[key]
    key = key + 1
  end
  local count = tonumber(ARGV[at + 2])
  for place = at + 3, at + 2 + count do args[#args + 1] = ARGV[place] end
  at = at + 3 + count
  local isDone, reply = pcall(script, keys, args)
  if isDone then
    replies[#replies + 1] = {1, reply}
  else
    local problem = type(reply) == 'table' and reply.err or tostring(reply)
    -- Nothing was written, and the connection sends all again to the new primary.
    if string.sub(problem, 1, 8) == 'READONLY' then return {err = problem} end
    replies[#replies + 1] = {0, problem}
  end
end
return replies
`;
}
