// Golden transcripts: upstream streams, and the neutral events as which they must be read. UPDATE_GOLDEN=1 writes the
// events again; otherwise a missing golden file is a failure.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { FrameCutter } from "../../src/base/sse.ts";
import type { ChatEvent } from "../../src/chat/event.ts";
import type { EventReader, FrameRelay } from "../../src/upstream/dialect.ts";
import { StreamReader } from "../../src/upstream/plain-frames.ts";

const golden = join(import.meta.dir, "../golden");

/** The names of a dialect's transcripts. */
export function transcripts(dialect: string): string[] {
  const names = readdirSync(join(golden, "upstream", dialect)).filter((name) => name.endsWith(".sse"));
  return names.map((name) => name.slice(0, -4)).sort();
}

/** The bytes of a transcript. */
export function transcript(dialect: string, name: string): Uint8Array {
  return new Uint8Array(readFileSync(join(golden, "upstream", dialect, `${name}.sse`)));
}

/** The golden events of a case. With UPDATE_GOLDEN=1, `events` become the golden events. */
export function goldenEvents(name: string, events: readonly ChatEvent[]): unknown[] {
  const path = join(golden, "neutral", `${name}.jsonl`);
  if (Bun.env["UPDATE_GOLDEN"] === "1") {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${events.map((event) => JSON.stringify(event)).join("\n")}\n`);
  }
  const lines = readFileSync(path, "utf-8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as unknown);
}

/** `bytes` in pieces, cut at the given offsets. */
function pieces(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const at = [0, ...[...new Set(cuts)].filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, i) => bytes.subarray(at[i], end));
}

/** Reads a stream as if a socket had split it at `cuts`. */
export function readStream(reader: EventReader, bytes: Uint8Array, cuts: readonly number[] = []): ChatEvent[] {
  const cutter = new FrameCutter();
  const out: ChatEvent[] = [];
  const stream = new StreamReader(reader, {
    take: (events) => void out.push(...events),
    repeat: (event, text) => void out.push({ ...event, text }),
    isOver: false,
  });
  for (const piece of pieces(bytes, cuts)) stream.push(cutter.push(piece));
  stream.push(cutter.end());
  stream.end();
  return out;
}

/** Relays a stream that arrives in pieces. */
export function relayStream(relay: FrameRelay, bytes: Uint8Array, cuts: readonly number[] = []): string {
  const cutter = new FrameCutter();
  let out = "";
  for (const piece of pieces(bytes, cuts)) out += relay.push(cutter.push(piece));
  return out + relay.push(cutter.end()) + relay.end();
}
