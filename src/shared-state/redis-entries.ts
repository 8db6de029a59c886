// What a node has on Redis of its requests with a budget: an entry for each request in progress, and one for all that ended and
// whose cost is not in the database yet. Each is renewed, and expires soon after its node has crashed.

import { KEY_PREFIX, type SharedRedis } from "./redis.ts";
import { type RedisScript, redisScript } from "./redis-script.ts";
import type { Reservation, Unwritten } from "./reservations.ts";

/** The entries of a node that has crashed expire after this time. */
const EXPIRY_MS = 30_000;
const RENEW_MS = 10_000;
/** Stands before the amount in the name of a node's entry for cost that is not written yet. */
const UNWRITTEN = ":unwritten:";

/** Begins a script. */
const COMMON = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function put(key, entry)
  redis.call('ZADD', key, now + ${EXPIRY_MS}, entry)
  redis.call('PEXPIRE', key, ${2 * EXPIRY_MS})
end
`;

/**
 * KEYS: one set of entries for each budget. ARGV: the new entry, micro-dollars, the entry that does not count, this node's name,
 * then what is left of each budget as far as this node knows. An entry ends in its amount. Gives 1 if the entry was added, for
 * which all must have room, else 0; then for each budget what requests in progress hold, how many they are, and what ended
 * requests of other nodes cost that is not in the database yet.
 */
export const RESERVE = redisScript(`${COMMON}
local micros = tonumber(ARGV[2])
local own = ARGV[4] .. '${UNWRITTEN}'
local reply = {1}
for at, key in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  local held, requests, unwritten = 0, 0, 0
  for _, entry in ipairs(redis.call('ZRANGE', key, 0, -1)) do
    local amount = tonumber(string.match(entry, '%d+$'))
    if string.find(entry, '${UNWRITTEN}', 1, true) then
      if string.sub(entry, 1, #own) ~= own then unwritten = unwritten + amount end
    elseif entry ~= ARGV[3] then
      held = held + amount
      requests = requests + 1
    end
  end
  local left = tonumber(ARGV[4 + at]) - unwritten
  if left <= 0 or (micros > 0 and requests > 0 and held + micros > left) then reply[1] = 0 end
  for _, one in ipairs({held, requests, unwritten}) do table.insert(reply, one) end
end
if reply[1] == 1 then
  for _, key in ipairs(KEYS) do put(key, ARGV[1]) end
end
table.insert(reply, KEYS[1])
return reply
`);

/** KEYS: sets of entries. ARGV: an entry. Extends its expiry; if it was lost it is added again. */
const RENEW = redisScript(`${COMMON}
for _, key in ipairs(KEYS) do put(key, ARGV[1]) end
return 0
`);

/**
 * KEYS: sets of entries. ARGV: an entry that has ended, or "", this node's name, then for each budget the cost that this node has
 * not written yet. In one step, so that no other node sees neither the entry nor its cost.
 */
const SETTLE = redisScript(`${COMMON}
local own = ARGV[2] .. '${UNWRITTEN}'
for at, key in ipairs(KEYS) do
  if ARGV[1] ~= '' then redis.call('ZREM', key, ARGV[1]) end
  for _, entry in ipairs(redis.call('ZRANGE', key, 0, -1)) do
    if string.sub(entry, 1, #own) == own then redis.call('ZREM', key, entry) end
  end
  if tonumber(ARGV[2 + at]) > 0 then put(key, own .. ARGV[2 + at]) end
end
return 0
`);

/** The entries that one request has on Redis. */
export interface BudgetEntry {
  readonly name: string;
  /** The ids of its budgets. */
  readonly budgets: readonly string[];
}

/** What the entries of a node need. */
export interface OwnEntriesOptions {
  readonly redis: Pick<SharedRedis, "run" | "whenUp">;
  readonly node: string;
  readonly unwritten: Unwritten;
}

/** The sets of entries of budgets. */
export function keysOf(budgets: readonly string[]): string[] {
  return budgets.map((id) => `${KEY_PREFIX}reserved:${id}`);
}

/** The entries of this node. */
export class OwnEntries {
  readonly #options: OwnEntriesOptions;
  readonly #open = new Set<BudgetEntry>();
  readonly #of = new WeakMap<Reservation, BudgetEntry>();
  /** Budgets of which Redis knows an amount that this node has not written yet. */
  readonly #unwritten = new Set<string>();
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(options: OwnEntriesOptions) {
    this.#options = options;
    // A failed renewal is repeated at the next interval, before the entry expires.
    this.#timer = setInterval(() => this.#renew(), RENEW_MS);
    this.#timer.unref();
    // Redis may be empty, and does not know what was admitted without it.
    options.redis.whenUp(() => this.#renew());
    options.unwritten.whenWritten((spent) => {
      for (const { id } of spent) if (this.#unwritten.has(id)) void this.#settle({ name: "", budgets: [id] });
    });
  }

  /** The name of the entry behind a reservation; "" if there is none. */
  nameOf(hold: Reservation | undefined): string {
    return (hold === undefined ? undefined : this.#of.get(hold)?.name) ?? "";
  }

  /** The reservation, which from now on ends its entry too when it ends, and then calls `ended`. */
  track(hold: Reservation, entry: BudgetEntry, ended: () => void = () => undefined): Reservation {
    this.#open.add(entry);
    return this.#tracked(hold, entry, ended);
  }

  /** Removes the entry of a request that is not admitted. */
  async drop(entry: BudgetEntry): Promise<void> {
    await this.#settle(entry);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #tracked(hold: Reservation, entry: BudgetEntry, ended: () => void): Reservation {
    const tracked: Reservation = {
      held: (budgetId) => hold.held(budgetId),
      release: () => {
        hold.release();
        if (hold.held() !== undefined || !this.#open.delete(entry)) return;
        void this.#settle(entry);
        ended();
      },
      share: () => this.#tracked(hold.share(), entry, ended),
    };
    this.#of.set(tracked, entry);
    return tracked;
  }

  #settle({ name, budgets }: BudgetEntry): Promise<void> {
    const { node, unwritten } = this.#options;
    const amounts = budgets.map((id) => Math.ceil(unwritten.pendingMicros(id)));
    for (const [at, id] of budgets.entries()) {
      if ((amounts[at] ?? 0) > 0) this.#unwritten.add(id);
      else this.#unwritten.delete(id);
    }
    return this.#tell(SETTLE, budgets, [name, node, ...amounts]);
  }

  #renew(): void {
    for (const { name, budgets } of this.#open) void this.#tell(RENEW, budgets, [name]);
    for (const id of this.#unwritten) void this.#settle({ name: "", budgets: [id] });
  }

  async #tell(script: RedisScript, budgets: readonly string[], args: readonly (string | number)[]): Promise<void> {
    // What is neither renewed nor removed expires.
    await this.#options.redis.run(script, keysOf(budgets), args).catch(() => undefined);
  }
}
