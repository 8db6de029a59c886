// Scores main-content extraction on labelled pages with the scorer that stands beside them.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Weights } from "../../src/pages/content/choose.ts";
import { keepMainContent } from "../../src/pages/content/main-content.ts";
import { createTrace } from "../../src/pages/content/trace.ts";
import { toMarkdown } from "../../src/pages/markdown/markdown.ts";
import type { Truth } from "./label.ts";
import { readHtml } from "./labelled-pages.ts";
import { ADDRESS, readPage } from "./read-page.ts";

/** The score of one set. */
export interface Score {
  readonly f1: number;
  readonly precision: number;
  readonly recall: number;
  /** F1 by kind of page. */
  readonly byType?: Readonly<Record<string, number>>;
}

/** What DIR/score.ts exports. */
export interface Scorer {
  score(set: string, truths: unknown, ids: readonly string[], texts: Readonly<Record<string, string>>): Score;
  stripMarkdown(markdown: string): string;
  withoutTitle(markdown: string, title: string | undefined, reference: string): string;
}

/** Labelled pages of one source. */
export interface LabelledSet {
  readonly name: string;
  readonly truths: Readonly<Record<string, Truth>>;
  /** The pages of the development split. */
  readonly ids: readonly string[];
}

/** The scorer of a directory. */
export async function loadScorer(root: string): Promise<Scorer> {
  return (await import(join(root, "score.ts"))) as Scorer;
}

/** The sets of a directory, by name. */
export function readSets(root: string): LabelledSet[] {
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(root, entry.name, "split.json")))
    .map(({ name }) => {
      const read = (file: string): unknown => JSON.parse(readFileSync(join(root, name, file), "utf8"));
      return {
        name,
        truths: read("ground-truth.json") as Record<string, Truth>,
        ids: (read("split.json") as { dev: string[] }).dev,
      };
    })
    .sort((a, b) => a.name.localeCompare(b.name));
}

/** The main content of a page in the form that the scorer expects, and how good the program thinks it is. */
export function mainPart(
  html: string,
  { weights, truth, scorer }: { weights: Weights; truth: Truth; scorer: Scorer },
): { readonly text: string; readonly quality: number | undefined } {
  const document = readPage(html);
  const { quality } = keepMainContent(document, { url: ADDRESS, weights, trace: createTrace(false) });
  const markdown = toMarkdown(document.body);
  return {
    text: scorer.stripMarkdown(scorer.withoutTitle(markdown, document.title, truth.text ?? "")),
    quality,
  };
}

/** Scores some pages of a set, each with the weights that are chosen for it. */
export function scoreSet(
  root: string,
  { name, truths }: LabelledSet,
  { ids, scorer, weightsOf }: { ids: readonly string[]; scorer: Scorer; weightsOf: (id: string) => Weights },
): Score {
  const texts: Record<string, string> = {};
  for (const id of ids)
    texts[id] = mainPart(readHtml(root, name, id), { weights: weightsOf(id), truth: truths[id] as Truth, scorer }).text;
  return scorer.score(name, truths, ids, texts);
}
