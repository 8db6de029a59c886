// One request that is looked up among the kept answers: it is answered with one, waits for an equal request under way, or is asked of
// a provider and its answer kept.

import { stringOf } from "../../../base/long-json.ts";
import { knownCostMicros } from "../../../catalog/prices.ts";
import { type ChatEvent, lastFinish } from "../../../chat/event.ts";
import type { ChatTurn, CompleteAnswer, Hearing, StageAnswer, StageRun } from "../../centre/stage.ts";
import { AnswerCache, type FoundAnswer, type KeptFor, type SharedWait } from "./answer-cache.ts";
import { type CacheWish, cacheWish } from "./cache-control.ts";
import { cacheKey } from "./cache-key.ts";
import type { CacheDeps } from "./deps.ts";
import { Recording } from "./recording.ts";
import { CACHE_HEADER, COST_HEADER, isYoungEnough, REQUEST_CHARS_MAX } from "./rules.ts";

/** What the runs share. */
interface RunDeps extends CacheDeps {
  readonly cache: AnswerCache;
}

/** Creates the function that opens the stage for a request. */
export function createOpener(deps: CacheDeps): (turn: ChatTurn) => StageRun | undefined {
  const shared: RunDeps = { ...deps, cache: new AnswerCache(deps) };
  return (turn) => {
    const wish = cacheWish(turn.asker.header("cache-control"));
    return isLookedUp(turn, wish, deps.settings().mode) ? new CacheRun(shared, wish) : undefined;
  };
}

/** Whether a request may be answered with a kept answer, and its answer kept. */
function isLookedUp(turn: ChatTurn, wish: CacheWish, mode: "off" | "ask" | "on"): boolean {
  const { chat, caller, text, format, body } = turn;
  // What the gateway's tools find changes too, and the rounds before the last one are no part of what is kept.
  if (turn.ownTools !== undefined || turn.awaitsCalls === true) return false;
  if (wish.noStore || caller.noStore || text.length > REQUEST_CHARS_MAX) return false;
  const isMeantEqual = mode === "on" && (chat.temperature === 0 || chat.seed !== undefined);
  if (wish.maxAgeMs === undefined && !isMeantEqual) return false;
  // What may be shortened is masked only when it is sent, so that its key would be made of the values.
  if (turn.isShortenable === true) return false;
  if ((chat.n ?? 1) > 1 || chat.threadId !== undefined || body["thread"] != null) return false;
  // Only the Responses API stores by default.
  if (body["store"] === true && format.storesAnswers !== true) return false;
  if (SERVER_MEMBERS.some((name) => body[name] != null)) return false;
  return !chat.tools.some(({ type }) => type === "server") && !hasLinkedMedia(chat.messages);
}

/** Members with which a provider runs tools of its own: what they find changes. */
const SERVER_MEMBERS = ["web_search_options", "mcp_servers", "plugins", "container", "background"] as const;

/** Whether the conversation names media by URL, behind which something else may be tomorrow. */
function hasLinkedMedia(messages: ChatTurn["chat"]["messages"]): boolean {
  for (const { content } of messages) {
    for (const part of content) {
      if ("source" in part && part.source.kind === "url") return true;
      if (part.type !== "tool-result") continue;
      for (const inner of part.content) if ("source" in inner && inner.source.kind === "url") return true;
    }
  }
  return false;
}

class CacheRun implements StageRun {
  readonly #deps: RunDeps;
  readonly #wish: CacheWish;
  #kept: KeptFor | undefined;
  #flight: SharedWait | undefined;
  #recording: Recording | undefined;

  constructor(deps: RunDeps, wish: CacheWish) {
    this.#deps = deps;
    this.#wish = wish;
  }

  async prepare(turn: ChatTurn): Promise<StageAnswer | undefined> {
    const { caller, exchange, model } = turn;
    const { accountId, keyId } = caller;
    const holder = this.#deps.settings().share === "key" ? keyId : accountId;
    const key = cacheKey({
      holder,
      path: exchange.path,
      model: model.id,
      betas: turn.clientHeaders["anthropic-beta"] ?? "",
      text: stringOf(turn.text),
      content: turn.content,
      messages: turn.chat.messages,
    });
    const kept = { key, accountId, keyId, model: model.id };
    const found = await this.#found(turn, kept);
    if (found !== undefined) return this.#hit(turn, found);
    this.#kept = kept;
    exchange.headers[CACHE_HEADER] = "miss";
    exchange.log["cache"] = "miss";
    this.#deps.looked(model.id, "miss", undefined);
    return undefined;
  }

  /** The kept answer. While an equal request is asked, that one is waited for; if it fails, this one continues alone. */
  async #found(turn: ChatTurn, kept: KeptFor): Promise<FoundAnswer | undefined> {
    const { cache, clock } = this.#deps;
    const { noCache } = this.#wish;
    const underWay = cache.underWay(kept.key);
    if (underWay !== undefined) return noCache ? undefined : underWay;
    // A request of several models or prompts waits for others while its earlier parts are not over: nobody waits for it, as two of
    // them could wait for each other, or one for itself.
    const isPart = turn.routing !== undefined || turn.format.prompts !== undefined;
    const flight = isPart ? undefined : cache.begin(kept.key);
    this.#flight = flight;
    // However the request ends, nobody waits for it any longer.
    if (flight !== undefined) turn.exchange.atEnd(() => flight.end(undefined));
    if (noCache) return undefined;
    const found = await cache.find(kept);
    if (found === undefined || !isYoungEnough(found, this.#wish, clock.now())) return undefined;
    flight?.end(found);
    return found;
  }

  #hit(turn: ChatTurn, { events, source, createdAtMs }: FoundAnswer): StageAnswer {
    const { exchange, model, chat } = turn;
    const ageSeconds = Math.max(0, Math.floor((this.#deps.clock.now() - createdAtMs) / 1000));
    exchange.headers[CACHE_HEADER] = `hit; age=${ageSeconds}`;
    exchange.log["cache"] = "hit";
    if (!chat.stream) exchange.headers[COST_HEADER] = "0";
    const usage = lastFinish(events)?.usage;
    this.#deps.looked(model.id, "hit", usage && knownCostMicros(model.prices, usage));
    const given = chat.includeCost === true ? events.map(costless) : events;
    return { why: "cache", answer: async () => ({ events: given, source }) };
  }

  hears(): Hearing {
    const recording = new Recording();
    this.#recording = recording;
    return {
      hear(event) {
        recording.push(event);
        return [event];
      },
    };
  }

  complete({ target, usage, fault }: CompleteAnswer): undefined {
    const kept = this.#kept;
    if (kept === undefined || target === undefined || fault !== undefined) return;
    const { dialect, minter } = target.provider;
    const events = this.#recording?.answer(usage);
    if (events === undefined) return;
    const answer = { events, source: { protocol: dialect.name, minter } };
    const { cache, clock } = this.#deps;
    // Nobody waits for the write.
    const written = cache.keep(kept, answer);
    this.#flight?.end({ ...answer, createdAtMs: clock.now() }, written);
  }
}

/** A hit costs nothing. */
function costless(event: ChatEvent): ChatEvent {
  return event.type === "finish" && event.usage !== undefined
    ? { ...event, usage: { ...event.usage, costUsd: 0 } }
    : event;
}
