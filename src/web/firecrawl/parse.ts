// Converts a file that a client sends in the same way as a page: HTML, PDF, text, JSON or XML. Nothing is fetched, and no browser
// is used.

import { ApiError } from "../../base/errors.ts";
import { uuid } from "../../base/ids.ts";
import { isRecord } from "../../base/json-object.ts";
import type { SentForm } from "../../http/form.ts";
import { PageError } from "../../pages/page-error.ts";
import type { JobCaller } from "../caller.ts";
import { type Body, invalid } from "../params.ts";
import { documentOf, loadingOf } from "./document.ts";
import { type PageOptions, readOptions } from "./options.ts";
import { needsReading, readPage } from "./reading.ts";
import type { FirecrawlPageDeps } from "./scrape.ts";

const ENDPOINT = "/v2/parse";
/** The name of a file whose client gave it none. */
const NAMELESS = "file";

/** Answers `POST /v2/parse`. Throws `ApiError` and `PageError`. */
export async function parseForFirecrawl(
  form: SentForm,
  deps: FirecrawlPageDeps,
  from: JobCaller,
): Promise<Record<string, unknown>> {
  const file = form.file("file");
  if (file === undefined) throw invalid("file", "Missing required parameter: file.");
  if (file.bytes > deps.fileBytesMax())
    throw new ApiError("request_too_large", `file may have at most ${deps.fileBytesMax()} bytes.`, { param: "file" });
  const { options, headers } = readOptions(optionsOf(form), deps.rules());
  const plain = withoutBrowser(options, Object.keys(headers).length > 0);
  const name = file.name === "" ? NAMELESS : file.name;
  const url = `file:///${encodeURIComponent(name)}`;
  const body = await file.read();
  const { accountId, signal, keyId, requestId } = from;
  const page = await deps.pages.load({
    ...loadingOf(url, { options: plain, headers: {} }, { signal, accountId }),
    fetch: async () => ({ url, status: 200, headers: new Headers({ "content-type": file.type }), body, chain: [url] }),
    rendering: async () => {
      throw new PageError("upstream", "Files cannot be shown in a browser.");
    },
  });
  const payer = { keyId, requestId, endpoint: ENDPOINT };
  const reading = needsReading(plain.formats)
    ? await readPage(page, plain.formats, { payer, accountId, signal }, deps.reading)
    : undefined;
  return { success: true, data: documentOf(page, { url: name, options: plain, scrapeId: uuid(), reading }) };
}

function optionsOf(form: SentForm): Body {
  if (!form.has("options")) return {};
  const text = form.text("options");
  try {
    const options: unknown = text === undefined ? undefined : JSON.parse(text);
    if (isRecord(options)) return options;
  } catch {
    // The error is reported below.
  }
  throw invalid("options", "options must be a JSON object.");
}

/** Removes the options that only apply to pages of the web, and names them as having no effect. */
function withoutBrowser(options: PageOptions, hasHeaders: boolean): PageOptions {
  const { formats, actions, waitMs, isMobile, languages } = options;
  const unmet = [
    ...(formats.screenshot === null ? [] : ["formats: screenshot"]),
    ...(actions.length === 0 ? [] : ["actions"]),
    ...(waitMs === 0 ? [] : ["waitFor"]),
    ...(isMobile ? ["mobile"] : []),
    ...(languages.length === 0 ? [] : ["location.languages"]),
    ...(hasHeaders ? ["headers"] : []),
  ];
  return {
    ...options,
    formats: { ...formats, screenshot: null },
    actions: [],
    waitMs: 0,
    isMobile: false,
    languages: [],
    unmet: [...options.unmet, ...unmet],
  };
}
