// Converts what was loaded. If the choice of main content is doubtful and the caller has someone who labels blocks, the page is
// converted again with the labelled blocks.

import type { Fetched } from "../net/fetch.ts";
import { PoolFull, type RunOptions, TaskTimeout } from "../workers/pool.ts";
import type { Converter } from "./convert/convert.ts";
import type { Extracted, ExtractOptions, PagePicks } from "./convert/extract.ts";
import type { LinkPick } from "./convert/site-links.ts";
import type { PageTask } from "./convert/task.ts";

/** A page whose blocks are to be labelled. */
export interface DoubtfulPage {
  readonly url: string;
  readonly title: string;
  /** The page's blocks in numbered lines. */
  readonly lines: readonly string[];
}

/** The numbers of the blocks that are main content; or, in a sentence for the reader of the page, why nobody could tell. */
export type Labels = readonly number[] | string;

/** Labels the blocks of pages. */
export interface BlockLabeller {
  /** Pages are labelled if their predicted quality is lower than this, from 0 to 1. */
  readonly below: number;
  /** Takes `waitMs` at most. Throws only if `signal` is aborted. */
  label(page: DoubtfulPage, wait: { readonly waitMs: number; readonly signal: AbortSignal }): Promise<Labels>;
}

/** What to return of a page, and how it is converted. */
export interface ConversionWish {
  /** The account for which the page is loaded. */
  readonly accountId: string;
  readonly markdown: boolean;
  readonly html: boolean;
  readonly links: boolean;
  /** Whether to return the text and position of each link of the page. */
  readonly navigation?: boolean;
  readonly onlyMainContent: boolean;
  /** Whether to read the page's structured data. */
  readonly structured?: boolean | undefined;
  /** Whether to record why each part was kept or removed. */
  readonly explain?: boolean | undefined;
  /** The caller's own choice of parts. */
  readonly picks?: PagePicks | undefined;
  /** Whether nobody waits for the page. Pages for which someone waits are converted first. */
  readonly later?: boolean;
  /** Who labels the blocks of a page whose main content is doubtful. */
  readonly labeller?: BlockLabeller | undefined;
  /** Which links of the page to select, for crawls, by its final address. It is asked when the page is converted. */
  readonly pickAt?: ((url: string) => LinkPick) | undefined;
}

/** A load in progress, as far as conversion needs it. */
export interface Converting {
  readonly deps: { readonly converter: Converter };
  readonly request: ConversionWish;
  readonly signal: AbortSignal;
  readonly leftMs: () => number;
}

/** The HTML of a page. */
export interface PageSource {
  readonly bytes: Uint8Array;
  readonly contentType: string | null;
}

/** Time limit of one conversion. The slowest real pages take a second. */
const CONVERT_TIMEOUT_MS = 20_000;
/** The same for a page whose links are selected too. Their cost is bounded, so only a busy machine can need more time. */
const PICKING_TIMEOUT_MS = 40_000;
/** Time limit of a conversion with the caller's own selectors, whose cost is unknown. */
const PICKED_TIMEOUT_MS = 8000;
/** Time that is kept for the second conversion of a labelled page, so that a slow labeller costs no page. */
const CONVERT_AGAIN_MS = 1500;

/** The response's body. */
export function pageSourceOf(answer: Fetched): PageSource {
  return { bytes: answer.body, contentType: answer.headers.get("content-type") };
}

/** Converts the response. `url` is the page's final address. */
export async function convertAnswer(at: Converting, answer: Fetched, url = answer.url): Promise<Extracted> {
  const options = { ...extractOptions(at, answer.url), refresh: answer.headers.get("refresh") };
  const pick = at.request.pickAt?.(url);
  return at.deps.converter.convert({ kind: "html", ...pageSourceOf(answer), options, pick }, convertOptions(at));
}

/** Converts the HTML of a page that the browser rendered, or that is the last word on a page. */
export async function convertHtml(at: Converting, source: PageSource, url: string): Promise<Extracted> {
  const options = extractOptions(at, url);
  const task = { kind: "html" as const, ...source, options, pick: at.request.pickAt?.(url) };
  return withLabels(at, task, await at.deps.converter.convert(task, convertOptions(at)));
}

/** The page of a response with labelled blocks, if its choice of main content is doubtful; otherwise the page itself. */
export async function labelledAnswer(
  at: Converting,
  answer: Fetched,
  page: Extracted,
  url = answer.url,
): Promise<Extracted> {
  if (page.lines === undefined) return page;
  const pick = at.request.pickAt?.(url);
  return withLabels(at, { kind: "html", ...pageSourceOf(answer), options: extractOptions(at, answer.url), pick }, page);
}

/** What the reader is told of a page that could not be converted a second time. */
const UNCONVERTED =
  "The main content was chosen by the built-in rules, because there was no room or no time to convert the page again.";

async function withLabels(at: Converting, task: PageTask, page: Extracted): Promise<Extracted> {
  const { lines, ...own } = page;
  const { labeller } = at.request;
  // The bytes of a large page are handed to the conversion thread, so it cannot be converted a second time.
  if (lines === undefined || labeller === undefined || task.bytes.byteLength === 0) return own;
  const doubtful = { url: task.options.url, title: page.metadata.title ?? "", lines };
  const waitMs = Math.max(0, at.leftMs() - CONVERT_AGAIN_MS);
  const labels = await labeller.label(doubtful, { waitMs, signal: at.signal });
  if (typeof labels === "string") return { ...own, omissions: [...(own.omissions ?? []), labels] };
  const { doubt: _, ...options } = task.options;
  const labelled = { ...task, options: { ...options, labelled: labels } };
  try {
    return { ...(await at.deps.converter.convert(labelled, convertOptions(at))), isLabelled: true };
  } catch (error) {
    if (!(error instanceof PoolFull || error instanceof TaskTimeout)) throw error;
    return { ...own, omissions: [...(own.omissions ?? []), UNCONVERTED] };
  }
}

/** What is extracted from the page at an address. */
export function extractOptions({ request }: Converting, url: string): ExtractOptions {
  const { markdown, html, links, navigation = false, onlyMainContent, structured = false, explain = false } = request;
  const { picks, labeller } = request;
  const doubt = labeller === undefined ? undefined : { below: labeller.below };
  return { url, markdown, html, links, navigation, onlyMainContent, structured, trace: explain, picks, doubt };
}

/** How a conversion runs. */
export function convertOptions(at: Converting): RunOptions {
  const { picks, pickAt } = at.request;
  const selectors = picks === undefined ? 0 : picks.include.length + picks.exclude.length + picks.attributes.length;
  const usual = pickAt === undefined ? CONVERT_TIMEOUT_MS : PICKING_TIMEOUT_MS;
  const most = selectors === 0 ? usual : PICKED_TIMEOUT_MS;
  return {
    timeoutMs: Math.min(most, at.leftMs()),
    signal: at.signal,
    later: at.request.later,
    account: at.request.accountId,
  };
}
