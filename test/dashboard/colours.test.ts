// Text is readable on every background, in both colour schemes (WCAG 2.2 AA: 4.5 to 1, and 3 to 1 for edges).

import { expect, test } from "bun:test";
import { join } from "node:path";

const css = await Bun.file(join(import.meta.dir, "../../src/dashboard/ui/style/base.css")).text();
const colours = new Map(
  [...css.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(([, name = "", light = "", dark = ""]) => [
    name,
    { light, dark },
  ]),
);

const PAIRS: readonly (readonly [text: string, ground: string, least: number])[] = [
  ...["bg", "surface", "sunken"].flatMap((ground) => [
    ["text", ground, 4.5] as const,
    ["muted", ground, 4.5] as const,
    ["accent", ground, 4.5] as const,
    ["danger", ground, 4.5] as const,
  ]),
  ["text", "accent-soft", 4.5],
  ["accent", "accent-soft", 4.5],
  ["on-accent", "accent", 4.5],
  ["on-accent", "accent-hover", 4.5],
  ["danger", "danger-soft", 4.5],
  ["warn", "warn-soft", 4.5],
  ["ok", "ok-soft", 4.5],
  ["line-strong", "surface", 3],
];

test.each(PAIRS)("%s on %s", (text, ground, least) => {
  for (const mode of ["light", "dark"] as const) {
    const ratio = contrast(colour(text, mode), colour(ground, mode));
    if (ratio < least) throw new Error(`${mode}: ${ratio.toFixed(2)}`);
  }
});

test("a pale grey on white is found wanting", () => {
  expect(contrast("#999999", "#ffffff")).toBeLessThan(3);
  expect(contrast("#000000", "#ffffff")).toBeCloseTo(21);
});

function colour(name: string, mode: "light" | "dark"): string {
  const found = colours.get(name);
  if (found === undefined) throw new Error(`there is no colour ${name}`);
  return found[mode];
}

function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
