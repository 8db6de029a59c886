// A dialect whose code is loaded later is known by its traits until then, so these must be those of the code.

import { describe, expect, test } from "bun:test";
import type { Dialect } from "../../src/upstream/dialect.ts";
import { ANTHROPIC_DIALECT } from "../../src/upstream/dialects/anthropic/code.ts";
import { anthropicMessages } from "../../src/upstream/dialects/anthropic/dialect.ts";
import { GEMINI_DIALECT } from "../../src/upstream/dialects/gemini/code.ts";
import { gemini } from "../../src/upstream/dialects/gemini/dialect.ts";
import { DIALECTS } from "../../src/upstream/dialects/index.ts";
import { openaiChat } from "../../src/upstream/dialects/openai-chat/dialect.ts";
import { RESPONSES_DIALECT } from "../../src/upstream/dialects/responses/code.ts";
import { openaiResponses } from "../../src/upstream/dialects/responses/dialect.ts";

const LATE: readonly (readonly [Dialect, Dialect])[] = [
  [anthropicMessages, ANTHROPIC_DIALECT],
  [gemini, GEMINI_DIALECT],
  [openaiResponses, RESPONSES_DIALECT],
];

describe("a late dialect has the members of its code:", () => {
  for (const [late, code] of LATE)
    test(code.name, () => {
      expect(Object.keys(late).sort()).toEqual(Object.keys(code).sort());
      for (const [name, value] of Object.entries(code))
        if (typeof value !== "function") expect(late[name as keyof Dialect]).toEqual(value);
    });

  test("every dialect but the one of a plain chat", () => {
    expect(new Set(DIALECTS)).toEqual(new Set([openaiChat, ...LATE.map(([late]) => late)]));
  });
});
