// Neutral requests and the body of each in each dialect: directions within the conversation, end users and prompt-cache markers.
// The neutral requests are those of test/wire/golden-requests.test.ts. UPDATE_GOLDEN=1 writes the files anew.

import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ChatRequest } from "../../src/chat/request.ts";
import { DIALECTS } from "../../src/upstream/dialects/index.ts";
import { compareGolden, GOLDEN } from "../support/golden.ts";

const names = readdirSync(join(GOLDEN, "neutral")).filter((name) => /^asked-.*\.json$/.test(name));

test("there are neutral requests of three formats", () => expect(names).toHaveLength(12));

describe.each(DIALECTS.map((dialect) => [dialect.name, dialect] as const))("%s", (name, dialect) => {
  test.each(names)("%s", (file) => {
    const chat = JSON.parse(readFileSync(join(GOLDEN, "neutral", file), "utf8")) as ChatRequest;
    const { path, body, dropped } = dialect.request(chat, {
      model: name === "gemini" ? "gemini-4-hydrogen" : name === "anthropic-messages" ? "claude-opus-5-5" : "gpt-5.6",
      stream: false,
      quirks: { cache_breakpoints: true },
      supportsReasoning: true,
      maxOutputTokens: 9000,
      endUser: "hash-of-the-account",
      clientHeaders: {},
    });
    compareGolden(`upstream/${name}/${file}`, { path, body: JSON.parse(body) as unknown, dropped });
  });
});
