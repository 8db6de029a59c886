// Requests of each client format and the neutral request as which each is read: directions within the conversation, end users and
// prompt-cache markers. test/upstream/golden-requests.test.ts continues with what is sent. UPDATE_GOLDEN=1 writes the files anew.

import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { WIRE_FORMATS } from "../../src/wire/index.ts";
import { compareGolden, GOLDEN } from "../support/golden.ts";
import type { Json } from "./support.ts";

const asked = (format: string) =>
  readdirSync(join(GOLDEN, "wire", format))
    .filter((name) => /^asked-.*\.json$/.test(name))
    .map((name) => name.replace(/\.json$/, ""));
/** Legacy completions have no conversation; the APIs of Ollama and Gemini have neither directions nor end users nor markers. */
const WITHOUT = ["openai-completions", "ollama-chat", "ollama-generate", "gemini"];
const FORMATS = WIRE_FORMATS.filter(({ name }) => !WITHOUT.includes(name));

describe.each(FORMATS.map((format) => [format.name, format] as const))("%s", (name, format) => {
  test("each kind of request has a case", () => {
    expect(asked(name).sort()).toEqual(["asked-cache-marks", "asked-directions", "asked-end-user", "asked-nobody"]);
  });

  test.each(asked(name))("%s", (file) => {
    const body = JSON.parse(readFileSync(join(GOLDEN, "wire", name, `${file}.json`), "utf8")) as Json;
    compareGolden(
      `neutral/${file}.${name}.json`,
      format.decode(body, { betas: "mid-conversation-tool-changes-2026-07-01,inline-tools-2026-09-15" }),
    );
  });
});
