// An independent reader of the messages stream: checks the protocol's order and assembles the answer as a client would.

import type { Json, Sent } from "./support.ts";

/** The message that a client ends up with. Throws on the first frame that is out of order. */
export function gatherMessage(frames: readonly Sent[]): Json {
  let message: Json | undefined;
  let open: { index: number; block: Json; json: string } | undefined;
  const content: Json[] = [];
  let delta: Json | undefined;
  let stopped = false;
  frames.forEach(({ event, data }, i) => {
    const check = (holds: boolean, what: string) => {
      if (!holds) throw new Error(`frame ${i} (${event}): ${what}`);
    };
    check(event === data["type"], "event name and payload type differ");
    check(!stopped, "comes after message_stop");
    switch (event) {
      case "message_start":
        check(i === 0, "is not the first frame");
        message = data["message"] as Json;
        break;
      case "content_block_start":
        check(message !== undefined && delta === undefined, "is outside of the message");
        check(open === undefined, "another block is open");
        check(data["index"] === content.length, `index ${data["index"]} instead of ${content.length}`);
        open = { index: content.length, block: { ...(data["content_block"] as Json) }, json: "" };
        break;
      case "content_block_delta":
        check(open !== undefined && open.index === data["index"], "its block is not open");
        if (open !== undefined) applyDelta(open, data["delta"] as Json, check);
        break;
      case "content_block_stop":
        check(open !== undefined && open.index === data["index"], "its block is not open");
        if (open !== undefined) {
          if (open.json !== "") open.block["input"] = JSON.parse(open.json);
          content.push(open.block);
        }
        open = undefined;
        break;
      case "message_delta":
        check(message !== undefined && open === undefined && delta === undefined, "is out of order");
        delta = { ...(data["delta"] as Json), usage: data["usage"] };
        break;
      case "message_stop":
        check(delta !== undefined, "comes before message_delta");
        stopped = true;
        break;
      default:
        check(false, "is no event of this format");
    }
  });
  if (!stopped) throw new Error("the stream has no message_stop");
  return { ...message, content, ...delta };
}

function applyDelta(
  open: { block: Json; json: string },
  delta: Json,
  check: (holds: boolean, what: string) => void,
): void {
  const block = open.block;
  const kind = `${block["type"]} ${delta["type"]}`;
  switch (kind) {
    case "text text_delta":
      block["text"] = `${block["text"]}${delta["text"]}`;
      break;
    case "text citations_delta":
      block["citations"] = [...((block["citations"] as unknown[]) ?? []), delta["citation"]];
      break;
    case "thinking thinking_delta":
      check(block["signature"] === "", "thinking goes on after its signature");
      block["thinking"] = `${block["thinking"]}${delta["thinking"]}`;
      break;
    case "thinking signature_delta":
      block["signature"] = delta["signature"];
      break;
    case "tool_use input_json_delta":
    case "server_tool_use input_json_delta":
      open.json += delta["partial_json"];
      break;
    case "compaction compaction_delta":
      check(block["content"] === null && block["encrypted_content"] === null, "a record is said twice");
      Object.assign(block, { content: delta["content"], encrypted_content: delta["encrypted_content"] });
      break;
    default:
      check(false, `a ${kind} is none`);
  }
}
