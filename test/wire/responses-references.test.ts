import { expect, test } from "bun:test";
import { fold } from "../../src/chat/fold.ts";
import { responsesFormat } from "../../src/wire/responses/format.ts";
import { referencedItems, resolveReferences, responseOfItem } from "../../src/wire/responses/references.ts";
import { exchangeFor, type Json } from "./support.ts";

const exchange = exchangeFor(responsesFormat, { model: "m", input: "hi" });

test("an item id of the gateway identifies its response", () => {
  const whole = responsesFormat.encode(
    fold([
      { type: "reasoning-start", choice: 0, id: "r" },
      { type: "reasoning-end", choice: 0, id: "r" },
      { type: "text-start", choice: 0, id: "t" },
      { type: "text-end", choice: 0, id: "t" },
      { type: "tool-start", choice: 0, id: "c", callId: "c", name: "f", kind: "function" },
      { type: "tool-end", choice: 0, id: "c" },
      { type: "tool-start", choice: 0, id: "d", callId: "d", name: "f", kind: "custom" },
      { type: "tool-end", choice: 0, id: "d" },
      { type: "finish", choice: 0, reason: "tool_calls" },
    ]),
    exchange,
  );
  const ids = (whole["output"] as Json[]).map((item) => String(item["id"]));
  expect(ids.map((id) => id.split("_")[0])).toEqual(["rs", "msg", "fc", "ctc"]);
  for (const id of ids) expect(responseOfItem(id)).toBe(exchange.id);
});

test("ids of the first release still identify their response", () => {
  expect(responseOfItem("rs_0123456789abcdef0123456789abcdef0003")).toBe("resp_0123456789abcdef0123456789abcdef");
});

const HEX = "0123456789abcdef".repeat(4);
test.each([
  "rs_1",
  "msg",
  "",
  "resp_0123456789abcdef0123456789abcdef",
  "msg_!!!!!!!!!!!!!!!!",
  // Ids in the forms of OpenAI, vLLM, xAI and OpenRouter.
  `rs_${HEX.slice(0, 48)}`,
  `msg_${HEX.slice(0, 50)}`,
  `fc_${HEX.slice(0, 49)}`,
  `rs_${HEX.slice(0, 32)}`,
  "rs_0198c0de-0000-7000-8000-0123456789ab",
  "rs_tmp_abcdefghijkl0001",
])("the id %j is not one of the gateway", (id) => expect(responseOfItem(id)).toBeUndefined());

test("references are found with and without a type, and replaced by their items", () => {
  const user = { role: "user", content: "x", id: "msg_9" };
  const input = [
    { type: "item_reference", id: "a" },
    user,
    { id: "b" },
    { type: "item_reference", id: "a" },
    { type: "item_reference", id: "gone" },
  ];
  const body = { model: "m", input };
  expect(referencedItems(body)).toEqual(["a", "b", "gone"]);
  expect(referencedItems({ input: "text" })).toEqual([]);
  const a = { type: "reasoning", id: "a", summary: [] };
  const b = { type: "function_call", id: "b", call_id: "c", name: "f", arguments: "{}" };
  const items = new Map<string, Json>([
    ["a", a],
    ["b", b],
    ["msg_9", a],
  ]);
  expect(resolveReferences(body, items)).toEqual({ model: "m", input: [a, user, b, a, input[4]] });
});
