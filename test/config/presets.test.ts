import { expect, test } from "bun:test";
import { findPreset, PRESET_NAMES } from "../../src/config/presets.ts";
import { CARDS } from "../../src/upstream/providers/index.ts";

// Presets and providers' cards are in rooms that may not import each other, so a test compares them.
const KINDS = { "openai-chat": "openai", "anthropic-messages": "anthropic", gemini: "gemini", "openai-responses": "" };

test("every card is a preset with the same address and protocol, and every preset a card", () => {
  expect(CARDS.length).toBeGreaterThan(10);
  const spoken = new Map<string, string[]>();
  for (const { name, baseUrl, dialect } of CARDS) {
    expect([name, findPreset(name)?.baseUrl]).toEqual([name, baseUrl]);
    spoken.set(name, [...(spoken.get(name) ?? []), KINDS[dialect]]);
  }
  // The demo is not a vendor, and decision endpoints have no card.
  const vendors = PRESET_NAMES.filter((name) => !["demo", "systemone"].includes(findPreset(name)?.kind ?? ""));
  expect([...spoken.keys()].sort()).toEqual(vendors.toSorted());
  for (const name of vendors) expect(spoken.get(name)).toContain(findPreset(name)?.kind ?? "?");
});
