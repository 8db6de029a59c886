// Reading vendors' model lists: `{data:[…]}`, `{models:[…]}` or a bare list of objects with an id. Entries that are not
// such objects are passed over; a body that is no list throws.

import { UpstreamFault } from "../fault.ts";
import type { DiscoveredModel } from "../provider.ts";

/** One entry of a list. */
export type Entry = Readonly<Record<string, unknown>>;

/** What an entry says beside its id; undefined values are left out. */
export type Said = { [K in keyof DiscoveredModel]?: DiscoveredModel[K] | undefined };

/** The models of a list, with what `say` reads from each entry. */
export function readModels(body: unknown, say: (entry: Entry) => Said = plain): DiscoveredModel[] {
  const holder = isEntry(body) ? (body["data"] ?? body["models"]) : body;
  if (!Array.isArray(holder)) throw new UpstreamFault("unavailable", "The provider's model list cannot be read.");
  const models: DiscoveredModel[] = [];
  for (const entry of holder) {
    if (!isEntry(entry)) continue;
    const said = say(entry);
    const id = said.id ?? text(entry["id"]);
    if (id === undefined || id === "") continue;
    const known = Object.entries({ createdSeconds: createdSeconds(entry), ...said }).filter(
      ([, value]) => value !== undefined,
    );
    models.push({ ...Object.fromEntries(known), id } as DiscoveredModel);
  }
  return models;
}

/** OpenAI writes seconds, Anthropic a date; some servers write 0 or the epoch where they do not know. */
function createdSeconds({ created, created_at }: Entry): number | undefined {
  const seconds = typeof created_at === "string" ? Date.parse(created_at) / 1000 : created;
  if (typeof seconds !== "number" || !Number.isFinite(seconds)) return undefined;
  return seconds > EARLIEST_SECONDS && seconds < LATEST_SECONDS ? Math.floor(seconds) : undefined;
}

const EARLIEST_SECONDS = Date.UTC(2000, 0) / 1000;
const LATEST_SECONDS = Date.UTC(2200, 0) / 1000;

/** Lists that say nothing but ids: what the id itself tells. */
export function plain(entry: Entry): Said {
  return chatUnless(text(entry["id"]) ?? "");
}

/** Marks the models that no chat endpoint can use, by the words vendors put in their ids. */
export function chatUnless(id: string): Said {
  return OTHER_KINDS.test(id) ? { chat: false } : {};
}

const OTHER_KINDS =
  /embed|whisper|(?:^|[-/])tts|transcri|dall-e|(?:gpt|chatgpt|grok[-\d]*)-(?:image|imagine)|imagen|(?:^|[-/])(?:veo|sora|lyria)|moderation|realtime|rerank|davinci|babbage|prompt-guard|llama-guard|stable-diffusion|flux|playai|aqa$/i;

export function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A positive whole number. */
export function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : undefined;
}

export function truth(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

export function entry(value: unknown): Entry {
  return isEntry(value) ? value : {};
}

/** True when the list holds the word; undefined where there is no list. */
export function holds(list: unknown, word: string): boolean | undefined {
  return Array.isArray(list) ? list.includes(word) : undefined;
}

/** The credential as most vendors take it; nothing where no key is set. */
export function bearer(secret: string): Record<string, string> {
  return secret === "" ? {} : { authorization: `Bearer ${secret}` };
}

function isEntry(value: unknown): value is Entry {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
