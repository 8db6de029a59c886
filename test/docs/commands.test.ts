// The documents' commands of the program run as they stand, with the real program, beside a configuration and a database.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startFake } from "../decisions/support.ts";
import { programCommand } from "../support/source-program.ts";
import { modelConfig, startModel } from "../web/extract-script.ts";
import { webConfig } from "../web/support.ts";
import { isOfCommands, nameOf } from "./blocks.ts";
import { allSnippets, runSnippet, type Snippet } from "./snippets.ts";
import { type ExampleFolder, makeExampleFolder, startExampleSite } from "./world.ts";

const SLOW_MS = 120_000;
const SNIPPETS = allSnippets().filter(isOfCommands);
const site = startExampleSite();
const reader = startModel();
const judge = startFake(overconfident);
let made: ExampleFolder;

beforeAll(async () => {
  const { providers, models } = modelConfig(reader) as { providers: object; models: object[] };
  made = await makeExampleFolder({
    ...webConfig([site.host]),
    ...site.config(["searxng"]),
    providers: { ...providers, judge: { kind: "systemone", base_url: judge.url } },
    models,
    decisions: {
      models: [
        {
          ...{ id: "judge-1.0.0", aliases: ["judge-latest"] },
          backend: { kind: "systemone", routes: [{ provider: "judge", model: "j" }] },
        },
      ],
    },
    health: { probe: "off" },
  });
  await prepare(made.folder);
});
afterAll(async () => {
  made.remove();
  await site.stop();
  judge.stop();
  reader.upstream.stop();
});

/** What the examples' reader has besides. */
async function prepare(folder: string): Promise<void> {
  const product = { type: "object", properties: { name: { type: "string" }, price: { type: "number" } } };
  writeFileSync(join(folder, "product.json"), JSON.stringify(product));
  writeFileSync(join(folder, "rows.jsonl"), rows().join("\n"));
  for (const path of ["var/lib", "var/backups", "tmp"]) mkdirSync(join(folder, path), { recursive: true });
  cpSync(join(folder, "data"), join(folder, "var/lib/sallyport"), { recursive: true });
  // The documents name the day by the shell's own date.
  const today = Bun.spawnSync(["date", "+%F"]).stdout.toString().trim();
  const backup = ["backup", `var/backups/sallyport-${today}.tar`, "--data-dir", "var/lib/sallyport"];
  const child = Bun.spawn([...programCommand(), ...backup], { cwd: folder });
  expect(await child.exited).toBe(0);
}

const OPTIONS = ["billing", "support", "sales", "other"];

/** Where a row's label is, and where the model sees it: they agree in half of the rows. */
const labelOf = (row: number) => (row * 7) % OPTIONS.length;
const seenOf = (row: number) => (labelOf(row) + (row % 2 === 0 ? 0 : 1 + (row % 3))) % OPTIONS.length;

function rows(): string[] {
  const question = { type: "choice", criteria: Object.fromEntries(OPTIONS.map((name) => [name, null])) };
  const labelled = (row: number) => ({ state: `row ${row}`, question, label: OPTIONS[labelOf(row)] });
  return Array.from({ length: 600 }, (_, row) => JSON.stringify(labelled(row)));
}

/** A model that is always sure and right half of the time. */
function overconfident(body: { state: string; questions: object } | undefined): Response {
  if (body === undefined) return Response.json({ object: "list", data: [] });
  const { state, questions } = body;
  const seen = seenOf(Number(/\d+/.exec(state)?.[0]));
  const probabilities = Object.fromEntries(OPTIONS.map((name, at) => [name, at === seen ? 0.97 : 0.01]));
  const answer = { type: "choice", choice: OPTIONS[seen], probabilities, confidence: 0.9 };
  const answers = Object.fromEntries(Object.keys(questions).map((key) => [key, answer]));
  return Response.json({ model: "j", answers, usage: { input_tokens: 10, output_tokens: 1 } });
}

/** Where an example is of another place than the others. */
const OTHER_FILES: Readonly<Record<string, (folder: string) => void>> = {
  // The next block of the guide restores the backup of the day, which this one makes.
  "guides/upgrade-and-backup.md, Backup, sh": (folder) => {
    rmSync(join(folder, "var/backups"), { recursive: true });
    mkdirSync(join(folder, "var/backups"));
  },
  "guides/moving.md, From LiteLLM, sh": (folder) => {
    rmSync(join(folder, "sallyport.yaml"));
    const litellm_params = { model: "openai/up-model", api_base: reader.upstream.baseUrl, api_key: "k" };
    writeFileSync(
      join(folder, "config.yaml"),
      JSON.stringify({ model_list: [{ model_name: "fast", litellm_params }] }),
    );
  },
};

test.concurrent.each(SNIPPETS.map((one) => [nameOf(one), one] as const))(
  "a documented command runs as it stands: %s",
  async (name, snippet) => {
    const { folder, words } = made;
    const files = OTHER_FILES[name] === undefined ? folder : `${folder}-${Bun.hash(name)}`;
    if (files !== folder) {
      cpSync(folder, files, { recursive: true });
      OTHER_FILES[name]?.(files);
    }
    const world = { url: "http://127.0.0.1:1", key: "sk-none", site: site.url, files, words };
    const { exitCode, out, err } = await runSnippet(snippet, world);
    if (files !== folder) rmSync(files, { recursive: true });
    expect({ exitCode, err: exitCode === 0 ? "" : err + out }).toEqual({ exitCode: 0, err: "" });
    expect(out.trim()).not.toBe("");
    if (snippet.language === "console") for (const line of shownBy(snippet)) expect(plain(out)).toContain(line);
  },
  SLOW_MS,
);

/** The lines that a terminal shows besides what is typed. */
function shownBy({ code }: Snippet): string[] {
  const lines = code.split("\n").filter((line) => !/^\$ |^…$/.test(line));
  return lines.map(plain).filter((line) => line !== "");
}

/** Whatever its figures, and wherever a line ends. */
function plain(text: string): string {
  return text
    .replaceAll(/\d[\d.]*/g, "N")
    .replaceAll(/\s+/g, " ")
    .trim();
}
