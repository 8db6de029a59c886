// What an answer that only passes by reports of its tokens: read from a copy, in the words of every protocol that has some.

import type { Usage } from "../../chat/event.ts";
import { reportedUsage, tokenSum } from "../../chat/usage.ts";

/** Of a whole answer so much is looked at, of a stream so much of one line. */
const LOOKED_BYTES_MAX = 2 * 1024 * 1024;

type Members = Readonly<Record<string, unknown>>;

/** What was reported. */
export interface Reported {
  readonly model: string | undefined;
  readonly usage: Usage;
}

/** Looks at an answer as it passes. */
export interface ReportReader {
  push(bytes: Uint8Array): void;
  /** What was reported, once all has passed; undefined: nothing. */
  end(): Reported | undefined;
}

/** A reader for answers of that content type; undefined where none reports anything. */
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

/** Figures of one answer; later ones replace earlier ones of the same name. */
class Findings {
  #figures: Members | undefined;
  #model: string | undefined;

  look(text: string): void {
    if (!/usage/i.test(text)) return;
    const body = membersOf(parsed(text));
    // Within the events of streams it stands one level deeper.
    for (const place of [body, membersOf(body?.["response"]), membersOf(body?.["message"])]) {
      const figures = membersOf(place?.["usage"]) ?? membersOf(place?.["usageMetadata"]);
      if (figures !== undefined) this.#figures = { ...this.#figures, ...withoutNulls(figures) };
      const model = place?.["model"] ?? place?.["modelVersion"];
      if (typeof model === "string" && model.length <= 200) this.#model = model;
    }
  }

  reported(): Reported | undefined {
    if (this.#figures === undefined) return undefined;
    const usage = usageOf(this.#figures);
    return usage && { model: this.#model, usage };
  }
}

function usageOf(figures: Members): Usage | undefined {
  const inner = (name: string, member: string) => membersOf(figures[name])?.[member];
  const cacheRead = figures["cache_read_input_tokens"];
  const cacheWrite = figures["cache_creation_input_tokens"];
  // Only the messages API counts what was cached beside the input, not as a part of it.
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
    cacheWrite,
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
    // What is no JSON reports nothing.
    return undefined;
  }
}

function membersOf(value: unknown): Members | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : undefined;
}

function withoutNulls(figures: Members): Members {
  return Object.fromEntries(Object.entries(figures).filter(([, value]) => value !== null));
}
