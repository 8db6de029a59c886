// Sends the events of a stream as one JSON list, for clients that ask for no server-sent events.

import { parseFrames } from "../base/sse.ts";
import type { StopSignal } from "../base/stop-signal.ts";
import { type SseSource, sseResponse } from "./sse-response.ts";

/** The streaming response: a list with the JSON of each event. White space is sent during silence. */
export function listResponse(source: SseSource, signal: StopSignal): Response {
  const headers = { "content-type": "application/json" };
  return sseResponse(listOf(source), { keepalive: "\n", signal, headers });
}

function listOf(source: SseSource): SseSource {
  let count = 0;
  let isOver = false;
  return {
    async next() {
      if (isOver) return undefined;
      const text = await source.next();
      if (text === undefined) {
        isOver = true;
        return count === 0 ? "[]" : "]";
      }
      let out = "";
      for (const { data } of parseFrames(text)) out += `${count++ === 0 ? "[" : ","}${data}\n`;
      return out;
    },
    cancel: () => source.cancel(),
  };
}
