// Keeps tests from failing on a machine that stalls for a second: they wait for events, and do not assert durations. Nor do they
// make those after them slow.

import type { Rule } from "./rules.ts";
import { codeOf, type FileMap } from "./source.ts";

const tests = (files: FileMap) => [...files].filter(([path]) => path.startsWith("test/"));
const lineOf = (text: string, at: number) => text.slice(0, at).split("\n").length;

/** `expect(performance.now() - began).toBeLessThan(…)`, or the same with a variable that holds such a difference. */
const DURATION =
  /expect\((?:[^;]*?(?:performance|Date)\.now\(\) - |\w*(?:elapsed|took|duration)\w*\))[^;]*?\.toBeLessThan/gi;

const durations: Rule = {
  name: "a test bounds no duration, but that of its thread (cpuMs) or of a machine that ran on (whileSteady)",
  check(files) {
    const read = tests(files);
    const violations = read.flatMap(([path, text]) => {
      const code = codeOf(text);
      return /\bwhileSteady\(/.test(code)
        ? []
        : [...code.matchAll(DURATION)].map((one) => `${path}:${lineOf(code, one.index)}`);
    });
    return { looked: read.length, violations };
  },
};

/** Shorter pauses are allowed, since loops use them between two checks. */
const LONG_MS = 50;

const pauses: Rule = {
  name: "a test waits for events: a long pause says in a comment above it what nobody can be told of",
  check(files) {
    const read = tests(files);
    const violations = read.flatMap(([path, text]) => {
      const lines = text.split("\n");
      return lines.flatMap((line, at) => {
        const ms = Number(/^\s*await Bun\.sleep\(([\d_]+)\)/.exec(line)?.[1]?.replaceAll("_", ""));
        return ms < LONG_MS || Number.isNaN(ms) || /^\s*\/\//.test(lines[at - 1] ?? "") ? [] : [`${path}:${at + 1}`];
      });
    });
    return { looked: read.length, violations };
  },
};

const alphabets: Rule = {
  name: "a test draws texts of any characters with anyText, which does not list them all",
  check(files) {
    const read = tests(files);
    const violations = read.flatMap(([path, text]) => {
      const code = codeOf(text);
      return [...code.matchAll(/\bunit: "binary"/g)].map((one) => `${path}:${lineOf(code, one.index)}`);
    });
    return { looked: read.length, violations };
  },
};

/** The rules have planted violations in time-rules.test.ts. */
export const TIME_RULES: readonly Rule[] = [durations, pauses, alphabets];
