// The list of quirks is closed: an unknown name does not compile, and is refused in the configuration.

import { describe, expect, test } from "bun:test";
import { type Quirks, QuirksSchema } from "../../src/vendors/quirks.ts";
import { configFolder } from "../config/support.ts";

const { good, bad } = configFolder();
const configured = (quirks: string) => `providers: {x: {base_url: 'http://x/v1', quirks: ${quirks}}}`;
const NAMES = Object.keys(QuirksSchema.properties);

test("a misspelt quirk does not compile", () => {
  // @ts-expect-error max_tokens_field is meant
  const quirks: Quirks = { max_token_field: "max_tokens" };
  expect(NAMES).not.toContain(Object.keys(quirks)[0]!);
});

describe.each(NAMES)("%s", (name) => {
  test("says what it does", () => {
    const { description } = QuirksSchema.properties[name as keyof Quirks];
    expect(description).toMatch(/^.{10,}\.$/);
  });

  test("is named where it is misspelt", () => {
    const misspelt = name.slice(0, -1);
    expect(bad(configured(`{${misspelt}: true}`))).toEqual([
      `providers.x.quirks.${misspelt}: unknown key (did you mean providers.x.quirks.${name}?)`,
    ]);
  });

  test("is refused with a value of another type", () => {
    expect(bad(configured(`{${name}: 5}`)).join()).toStartWith(`providers.x.quirks.${name}: expected `);
  });
});

test("what is written is kept by the names that it was written with, and nothing is added", () => {
  const quirks = {
    stream_options: false,
    max_tokens_field: "max_completion_tokens",
    refuses: ["seed"],
    refuses_by_model: { "o*-mini": ["stop"] },
    decision_body: { chat_template_kwargs: { enable_thinking: false }, none: null },
  };
  expect(good(configured(JSON.stringify(quirks))).providers[0]?.quirks as object).toEqual(quirks);
  expect(good(configured("{}")).providers[0]?.quirks as object).toEqual({});
  expect(good(configured("")).providers[0]?.quirks as object).toEqual({});
});

test.each([
  ["{max_tokens_field: tokens}", 'expected one of max_tokens, max_completion_tokens, got "tokens"'],
  ["{refuses: seed}", "expected a list, got text"],
  ["{decision_body: [1]}", "expected a group of keys, got a list"],
  ["[stream_options]", "expected a group of keys, got a list"],
])("%s is refused", (quirks, problem) => {
  expect(bad(configured(quirks)).join()).toEndWith(problem);
});
