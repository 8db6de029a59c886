// Compares what the checks find with what was planted.

import { PII_CHECKS } from "../../src/gateway/stages/guardrails/checks/pii/index.ts";
import { Scan, scanned } from "../../src/gateway/stages/guardrails/scan.ts";
import { PII_KINDS, type PiiKind, type PlantedText } from "./corpus.ts";

/** The figures of one kind. */
export interface PiiFigures {
  readonly kind: PiiKind;
  readonly planted: number;
  readonly found: number;
  readonly precision: number;
  readonly recall: number;
}

/** A value counts as found if all of it was, and nothing more. */
export function measurePii(texts: readonly PlantedText[]): { kinds: readonly PiiFigures[]; wrong: readonly string[] } {
  const checks = PII_KINDS.flatMap((kind) => PII_CHECKS[kind]);
  const counts = new Map(PII_KINDS.map((kind) => [kind, { planted: 0, found: 0, hits: 0 }]));
  const wrong: string[] = [];
  for (const { text, planted, locale } of texts) {
    const found: string[] = [];
    scanned(
      new Scan(checks, (value, label) => {
        found.push(`${label.toLowerCase()} ${value}`);
        return value;
      }),
      text,
    );
    const meant = planted.map(({ kind, start, end }) => `${kind} ${text.slice(start, end)}`);
    for (const one of meant) {
      counts.get(kindOf(one))!.planted++;
      if (!found.includes(one)) wrong.push(`${locale} missed: ${one} in ${JSON.stringify(text)}`);
    }
    for (const one of found) {
      const count = counts.get(kindOf(one))!;
      count.found++;
      if (meant.includes(one)) count.hits++;
      else wrong.push(`${locale} found in error: ${one} in ${JSON.stringify(text)}`);
    }
  }
  const kinds = [...counts].map(([kind, { planted, found, hits }]) => {
    return { kind, planted, found, precision: hits / Math.max(1, found), recall: hits / Math.max(1, planted) };
  });
  return { kinds, wrong };
}

/** The figures as the guide shows them. */
export function tableOf(kinds: readonly PiiFigures[]): string {
  const rows = kinds.map(({ kind, planted, found, precision, recall }) =>
    ["", `\`${kind}\``, planted, found, precision.toFixed(3), recall.toFixed(3), ""].join(" | ").trim(),
  );
  return ["| kind | planted | found | precision | recall |", "|---|---|---|---|---|", ...rows].join("\n");
}

function kindOf(found: string): PiiKind {
  return found.slice(0, found.indexOf(" ")) as PiiKind;
}
