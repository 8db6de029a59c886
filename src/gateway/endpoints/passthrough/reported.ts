// Reads the tokens that a forwarded answer reports from a copy of its bytes, for every protocol that reports tokens.

import { isRecord } from "../../../base/json-object.ts";
import type { Usage } from "../../../chat/event.ts";
import { reportedUsage, tokenSum } from "../../../chat/usage.ts";

/** The number of bytes that are examined of a whole answer, or of one line of a stream. */
const LOOKED_BYTES_MAX = 2 * 1024 * 1024;

type Members = Readonly<Record<string, unknown>>;

/** The reported tokens. */
export interface Reported {
  readonly model: string | undefined;
  readonly usage: Usage;
}

/** Examines an answer while it is forwarded. */
export interface ReportReader {
  push(bytes: Uint8Array): void;
  /** The reported tokens, once the whole answer has passed; undefined if there are none. */
  end(): Reported | undefined;
}

/** Creates a reader for answers of a content type; undefined if answers of that type report no tokens. */
export function reportReader(contentType: string): ReportReader | undefined {
  if (/^text\/event-stream\b/i.test(contentType)) return new StreamReader();
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(contentType) ? new WholeReader() : undefined;
}

class WholeReader implements ReportReader {
  readonly #chunks: Uint8Array[] = [];
  #size = 0;

  push(bytes: Uint8Array): void {
    this.#size += bytes.byteLength;
    if (this.#size <= LOOKED_BYTES_MAX) this.#chunks.push(bytes);
    else this.#chunks.length = 0;
  }

  end(): Reported | undefined {
    if (this.#size > LOOKED_BYTES_MAX) return undefined;
    const found = new Findings();
    found.look(Buffer.concat(this.#chunks).toString());
    return found.reported();
  }
}

class StreamReader implements ReportReader {
  readonly #decoder = new TextDecoder();
  readonly #found = new Findings();
  #line = "";

  push(bytes: Uint8Array): void {
    const lines = (this.#line + this.#decoder.decode(bytes, { stream: true })).split("\n");
    this.#line = lines.pop() ?? "";
    if (this.#line.length > LOOKED_BYTES_MAX) this.#line = "";
    for (const line of lines) if (line.startsWith("data:")) this.#found.look(line.slice("data:".length));
  }

  end(): Reported | undefined {
    if (this.#line.startsWith("data:")) this.#found.look(this.#line.slice("data:".length));
    return this.#found.reported();
  }
}

/** The figures of one answer. A later figure replaces an earlier one of the same name. */
class Findings {
  #figures: Members | undefined;
  #model: string | undefined;
  #service: unknown;

  look(text: string): void {
    if (!/usage/i.test(text)) return;
    const body = membersOf(parsed(text));
    // In the events of streams, the usage is one level deeper.
    for (const place of [body, membersOf(body?.["response"]), membersOf(body?.["message"])]) {
      const figures = membersOf(place?.["usage"]) ?? membersOf(place?.["usageMetadata"]);
      if (figures !== undefined) this.#figures = { ...this.#figures, ...withoutNulls(figures) };
      if (figures !== undefined) this.#service = place?.["service_tier"] ?? this.#service;
      const model = place?.["model"] ?? place?.["modelVersion"];
      if (typeof model === "string" && model.length <= 200) this.#model = model;
    }
  }

  reported(): Reported | undefined {
    if (this.#figures === undefined) return undefined;
    const usage = usageOf(this.#figures, this.#service);
    return usage && { model: this.#model, usage };
  }
}

function usageOf(figures: Members, tier: unknown): Usage | undefined {
  const inner = (name: string, member: string) => membersOf(figures[name])?.[member];
  const cacheRead = figures["cache_read_input_tokens"];
  const cacheWrite = figures["cache_creation_input_tokens"];
  // Only the Messages API counts cached tokens apart from the input; other protocols include them.
  const isBeside = cacheRead !== undefined || cacheWrite !== undefined;
  const input = figures["prompt_tokens"] ?? figures["input_tokens"] ?? figures["promptTokenCount"];
  const output = figures["completion_tokens"] ?? figures["output_tokens"] ?? figures["candidatesTokenCount"];
  const thoughts = figures["thoughtsTokenCount"];
  return reportedUsage({
    input: isBeside ? tokenSum(input, cacheRead, cacheWrite) : input,
    output: thoughts === undefined ? output : tokenSum(output, thoughts),
    cached:
      cacheRead ??
      inner("prompt_tokens_details", "cached_tokens") ??
      inner("input_tokens_details", "cached_tokens") ??
      figures["cachedContentTokenCount"],
    cacheWrite:
      cacheWrite ??
      inner("prompt_tokens_details", "cache_write_tokens") ??
      inner("input_tokens_details", "cache_write_tokens"),
    cacheWriteHour: inner("cache_creation", "ephemeral_1h_input_tokens"),
    searches: inner("server_tool_use", "web_search_requests"),
    // Anthropic's service tiers are bought in advance, so that only the speed changes the price.
    service: figures["speed"] ?? tier ?? figures["serviceTier"] ?? figures["trafficType"],
    reasoning:
      thoughts ??
      inner("completion_tokens_details", "reasoning_tokens") ??
      inner("output_tokens_details", "reasoning_tokens"),
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Text that is not JSON reports nothing.
    return undefined;
  }
}

function membersOf(value: unknown): Members | undefined {
  return isRecord(value) ? value : undefined;
}

function withoutNulls(figures: Members): Members {
  return Object.fromEntries(Object.entries(figures).filter(([, value]) => value !== null));
}
