// Damaged requests: every format reads a damaged body or refuses it by name, and every dialect writes what was read or names what
// it cannot express. Nothing else is thrown, and the output is valid JSON.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ApiError } from "../../src/base/errors.ts";
import type { ChatRequest } from "../../src/chat/request.ts";
import { DIALECTS } from "../../src/upstream/dialects/index.ts";
import { WIRE_FORMATS } from "../../src/wire/index.ts";
import { garbled } from "../support/garbled.ts";
import { context } from "../upstream/support.ts";
import { BODIES } from "./bodies.ts";
import { requestOf } from "./support.ts";

/** The value, or undefined if a public error was thrown that blames the client. */
function unlessRefused<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect([error.status, typeof error.message]).toEqual([400, "string"]);
    return undefined;
  }
}

function expectWritten(chat: ChatRequest, stream: boolean): void {
  for (const dialect of DIALECTS) {
    for (const model of ["up", "gpt-5", "claude-sonnet-4-5", "claude-opus-4-7", "gemini-2.5-pro", "gemini-3-pro"]) {
      const ctx = context({ model, stream, supportsReasoning: model !== "up" });
      const written = unlessRefused(() => dialect.request(chat, ctx));
      if (written !== undefined) expect(typeof JSON.parse(written.body)).toBe("object");
    }
  }
}

describe.each(WIRE_FORMATS.map((format) => [format.name, format] as const))("%s", (name, format) => {
  const bodies = BODIES[name] ?? [requestOf(format)];
  const body = garbled(fc.constantFrom(...bodies)).map((value) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : { value },
  );

  test("any body is read and written, or refused by name", () => {
    fc.assert(
      fc.property(body, fc.boolean(), (given, stream) => {
        const chat = unlessRefused(() => format.decode(given, {}));
        if (chat === undefined) return;
        expectWritten(chat, stream);
        const same = DIALECTS.find((dialect) => dialect.name === format.dialect);
        const text = JSON.stringify(given);
        const ctx = context({ stream });
        const sent = same && unlessRefused(() => same.lossless.request(text, chat, ctx, {}));
        if (sent === undefined) return;
        const body = JSON.parse(sent.body) as Record<string, unknown>;
        // One protocol has the model in the address.
        const named = sent.path.includes("models/up:") ? { model: "up", stated: body["model"] } : body;
        expect([named["model"], named["stated"]]).toEqual(["up", undefined]);
      }),
      { numRuns: 200 },
    );
  });

  test("a member called __proto__ is an unknown member", () => {
    const [whole] = bodies;
    const text = `${JSON.stringify(whole).slice(0, -1)},"__proto__":{"include":["x"],"modalities":["audio"]}}`;
    const { extra } = format.decode(JSON.parse(text), {});
    expect([extra["include"], extra["modalities"]]).toEqual([undefined, undefined]);
    expect(Object.keys(extra)).toContain("__proto__");
  });
});
