// The legal order of the neutral events. Readers guarantee it and writers rely on it; tests check both.
//
//   answer := start? (block events of any choice, interleaved)* (finish per choice)+ | … error
//   block  := X-start X-delta* X-end, ids unique in the answer; every block of a choice ends before its finish
//   a citation stands within its text block; a server-tool-result follows the end of the server tool's block, once
//   usage rides on the last finish; nothing follows `error` or the last finish but finishes of other choices

import type { ChatEvent } from "./event.ts";

/** Checks an event sequence; returns the violations, an empty list if it is legal. */
export function grammarFaults(events: readonly ChatEvent[]): string[] {
  const faults: string[] = [];
  const openBlocks = new Map<string, { kind: string; choice: number }>();
  const used = new Set<string>();
  const finished = new Set<number>();
  /** The calls of server tools that wait for their results. */
  const called = new Set<string>();
  let ended = false;
  events.forEach((event, at) => {
    const say = (text: string) => faults.push(`event ${at} (${event.type}): ${text}`);
    if (ended) say("comes after the error");
    if (event.type === "start") {
      if (at !== 0) say("is not the first");
      return;
    }
    if (event.type === "error") {
      ended = true;
      return;
    }
    if (finished.has(event.choice)) say(`choice ${event.choice} has finished`);
    if (event.type === "finish") {
      finished.add(event.choice);
      for (const [id, block] of openBlocks) if (block.choice === event.choice) say(`block ${id} is still open`);
      return;
    }
    if (event.type === "opaque" || event.type === "image") return;
    if (event.type === "server-tool-result") {
      if (!called.delete(event.id)) say(`call ${event.id} has not ended, or has its result`);
      return;
    }
    if (event.type === "citation") {
      if (openBlocks.get(event.id)?.kind !== "text") say(`text ${event.id} is not open`);
      return;
    }
    const [, kind, step] = /^(.+)-(.+)$/.exec(event.type) as unknown as [string, string, string];
    const block = openBlocks.get(event.id);
    if (step === "start") {
      if (used.has(event.id)) say(`id ${event.id} was used before`);
      used.add(event.id);
      openBlocks.set(event.id, { kind, choice: event.choice });
    } else if (block === undefined) say(`block ${event.id} is not open`);
    else {
      if (block.kind !== kind) say(`block ${event.id} is a ${block.kind} block`);
      if (block.choice !== event.choice) say(`block ${event.id} belongs to choice ${block.choice}`);
      if (step === "end") openBlocks.delete(event.id);
      if (event.type === "server-tool-end") called.add(event.id);
    }
  });
  if (!ended && finished.size === 0) faults.push("the answer neither finishes nor fails");
  if (!ended) for (const id of openBlocks.keys()) faults.push(`block ${id} never ends`);
  return faults;
}
