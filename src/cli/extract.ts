// `sallyport extract`: extracts data from pages in a terminal, without a server or a key. It uses a model of a provider
// in the configuration or the environment; structured data in pages needs no model.

import { ApiError } from "../base/errors.ts";
import { EXAMPLE } from "../config/presets.ts";
import { JobTimeout } from "../jobs/kind.ts";
import { readExtract } from "../web/extract/input.ts";
import type { ExtractResult } from "../web/extract/result.ts";
import { createExtract } from "../web/extract/run.ts";
import { createExtractThreads } from "../web/extract/threads.ts";
import { LOCAL_JOB, memoryCrawlStore } from "../web/memory-crawl-store.ts";
import type { Command, Context } from "./command.ts";
import { UsageError } from "./failure.ts";
import { type LocalModel, withLocalModel } from "./local-model.ts";
import { writeOutput } from "./output.ts";
import { type ProgressLine, progressLine, typedUrl, withWebTools } from "./web-tools.ts";
import { failure } from "./workspace.ts";

/** Schemas above 64 KiB are refused; a file may contain much white space. */
const SCHEMA_FILE_BYTES_MAX = 1024 * 1024;

/** Prints the result as JSON. */
export const extractCommand: Command = {
  summary: "extract data from web pages",
  examples: ["sallyport extract https://example.com/lamp --prompt 'The product and its price' --schema lamp.json"],
  usage: "URL… --prompt P [--schema FILE] [--model ID] [--out FILE]",
  args: [1, 20],
  options: [
    { name: "prompt", value: "P", summary: "what to extract, in plain words" },
    { name: "schema", value: "FILE", summary: "a JSON Schema for the data" },
    { name: "system-prompt", value: "P", summary: "further instructions for the model" },
    { name: "follow-links", summary: "also read a few of the linked pages" },
    { name: "documents", summary: "also read PDF, text, JSON, XML and feeds" },
    { name: "model", value: "ID", summary: "the chat model, or none (default: web.model, otherwise the cheapest)" },
    { name: "out", value: "FILE", summary: "write to this file instead of stdout" },
  ],
  details:
    "Fields that no page says are null, and named on stderr. Without a model only what pages say in structured form is\nfound: JSON-LD, microdata, tables of names and values.",
  usesProviders: true,
  async run(context) {
    const { flags } = context;
    const schema = await readSchemaFile(flags.text("schema"));
    const line = progressLine(context);
    const result = await extracted(context, schema, line).finally(line.clear);
    const { data, sources, unsupported, warnings, credits } = result;
    if (unsupported.length > 0) line.note(`not found: ${unsupported.join(", ")}`);
    for (const warning of warnings) line.note(warning);
    const body = { success: true, status: "completed", data, sources, unsupported, warnings, creditsUsed: credits };
    const text = `${flags.has("json") ? JSON.stringify(body) : JSON.stringify(data, undefined, 2)}\n`;
    const file = flags.text("out");
    if (file === undefined) context.out(text);
    else await writeOutput("out", file, text);
    return 0;
  },
};

async function readSchemaFile(path: string | undefined): Promise<unknown> {
  if (path === undefined) return undefined;
  const file = Bun.file(path);
  if (!(await file.exists())) throw new UsageError(`--schema: there is no file ${path}`);
  if (file.size > SCHEMA_FILE_BYTES_MAX) throw new UsageError(`--schema: ${path} is too large`);
  try {
    return JSON.parse(await file.text());
  } catch {
    throw new UsageError(`--schema: ${path} is not valid JSON`);
  }
}

async function extracted(context: Context, schema: unknown, line: ProgressLine): Promise<ExtractResult> {
  const { flags, args } = context;
  const { web } = context.config();
  return withWebTools(context, "extract", async (tools, signal) => {
    const { input } = readExtract({
      urls: args.map(typedUrl),
      prompt: flags.required("prompt"),
      ...(schema === undefined ? {} : { schema }),
      ...(flags.text("system-prompt") === undefined ? {} : { system_prompt: flags.text("system-prompt") }),
      allow_external_links: flags.has("follow-links"),
      documents: flags.has("documents"),
    });
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(new JobTimeout("The job exceeded its time limit.")), web.jobTimeoutMs);
    const threads = createExtractThreads();
    // The warnings name the failed pages.
    const memory = memoryCrawlStore((page) => {
      line.show(`${memory.progress["completed"] ?? 0} of ${args.length} pages read  ${page?.url ?? ""}`);
    });
    const extract = createExtract({
      ...tools,
      threads,
      settings: () => web,
      problem: (_message, error) => context.err(`sallyport: ${String(error)}\n`),
    });
    const run = (model: LocalModel) => {
      line.show(`reading ${args.length === 1 ? args[0] : `${args.length} pages`}`);
      const task = {
        ...LOCAL_JOB,
        input,
        model,
        store: { ...memory, listPages: async () => [...memory.pages] },
        signal: AbortSignal.any([signal, limit.signal]),
      };
      return extract(task).catch((error: unknown) => {
        throw model === undefined && error instanceof ApiError && error.apiCode === "extract_unavailable"
          ? failure(`${error.message} Set ${EXAMPLE.variable} or another provider's variable to have one.`)
          : error;
      });
    };
    try {
      return await withLocalModel(context, { name: flags.text("model"), endpoint: "extract" }, run);
    } finally {
      clearTimeout(timer);
      threads.close();
    }
  });
}
