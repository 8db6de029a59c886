import { describe, expect, test } from "bun:test";
import { ApiError } from "../../src/base/errors.ts";
import { CHAT_FIELDS } from "../../src/wire/chat-completions/fields.ts";

describe("the members of a body", () => {
  test("are read in any order and in any number of sets", () => {
    const members = { temperature: 0.5, top_p: 0.25, seed: 7, user: "u", n: 1, stop: ["x"], logit_bias: { "5": 1 } };
    const all = Object.entries({ ...members, presence_penalty: 1, frequency_penalty: 2, max_tokens: 3 });
    for (let round = 0; round < 2; round++) {
      for (let set = 0; set < 2 ** all.length; set++) {
        const given = all.filter((_, at) => (set & (1 << at)) !== 0);
        const one = CHAT_FIELDS.read(Object.fromEntries(given));
        expect(CHAT_FIELDS.read(Object.fromEntries(given.reverse()))).toEqual(one);
        expect(Object.keys(one)).toHaveLength(given.length);
      }
    }
  });

  test("of one object are read each", () => {
    expect(CHAT_FIELDS.read({ reasoning: { effort: "low" } })).toEqual({ reasoning: { effort: "low" } });
    expect(CHAT_FIELDS.read({ reasoning: { max_tokens: 5 } })).toEqual({ reasoning: { budgetTokens: 5 } });
    expect(CHAT_FIELDS.read({ unknown: 1 })).toEqual({});
  });

  test("are refused in the order of the table", () => {
    const refused = (body: Record<string, unknown>) => {
      try {
        CHAT_FIELDS.read(body);
      } catch (error) {
        return error instanceof ApiError ? error.detail.param : error;
      }
      return undefined;
    };
    const first = refused({ temperature: "x", top_p: "y", max_tokens: "z" });
    expect(first).toBeString();
    expect(refused({ max_tokens: "z", top_p: "y", temperature: "x" })).toBe(first);
  });
});
