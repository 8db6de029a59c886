// Calls one route for an endpoint of models that do not chat, and interprets its answer.

import { isRecord } from "../../../base/json-object.ts";
import { type Outline, parseOutline, wholeOutline } from "../../../base/json-outline.ts";
import { type MemberSpan, spliceMembers, topLevelMembers } from "../../../base/json-splice.ts";
import type { FormatConversion, JsonObject, ModelEndpoint } from "../../../catalog/endpoints/endpoint.ts";
import { settledMeasure } from "../../../catalog/endpoints/endpoint-usage.ts";
import type { Measured } from "../../../catalog/prices.ts";
import { JsonText } from "../../../http/edge.ts";
import type { Upload } from "../../../http/upload.ts";
import type { WholeContent } from "../../../http/whole-body.ts";
import { openAnswer } from "../../../upstream/ask.ts";
import { outcomeOfFault } from "../../../upstream/breaker.ts";
import type { UpstreamRequest } from "../../../upstream/dialect.ts";
import { openaiEndUser } from "../../../upstream/end-user.ts";
import { UpstreamFault } from "../../../upstream/fault.ts";
import type { Provider } from "../../../upstream/provider.ts";
import { readAnswer, readAnswerBytes } from "../../../upstream/read-answer.ts";
import { PROTOCOLS } from "../../../vendors/protocols.ts";
import { wantsCost } from "../../../wire/usage-wish.ts";
import type { RequestDeadline } from "../../calls/request-deadline.ts";
import type { RouteAttempt } from "../../calls/route-call.ts";
import { headerText } from "../../centre/answer.ts";
import { clientError } from "../../rules/policy.ts";
import { costInUsd, noteCost, usageRecord } from "../../usage/meter.ts";
import { relayAnswer } from "./endpoint-relay.ts";
import { type Asked, type EndpointDeps, fieldsAsBody, type Settled } from "./endpoint-request.ts";

/** Whether a provider has the endpoint. */
export function hasEndpoint(endpoint: ModelEndpoint, provider: Provider): boolean {
  return endpoint.dialects.includes(provider.dialect.name) || formatConversion(endpoint, provider) !== undefined;
}

/** What an endpoint answers. */
export type EndpointAnswer = Response | JsonText;

/** Calls a route. Throws `UpstreamFault` if another route may be tried, and `ApiError` if not. */
export async function askRoute(
  deps: EndpointDeps,
  attempt: RouteAttempt,
  asked: Asked,
  deadline: RequestDeadline,
): Promise<EndpointAnswer> {
  const { upload } = asked;
  try {
    return await answerOf(deps, attempt, asked, deadline);
  } catch (error) {
    if (!(error instanceof UpstreamFault) || upload === undefined || upload.canBeSentAgain) throw error;
    // The file is not kept in memory, so a second route cannot get it.
    attempt.end({ outcome: outcomeOfFault(error), label: error.kind, status: error.status });
    deps.failed?.(attempt.route, error);
    throw clientError(error, deps.scrub);
  }
}

async function answerOf(
  deps: EndpointDeps,
  attempt: RouteAttempt,
  asked: Asked,
  { signal, restart }: RequestDeadline,
): Promise<EndpointAnswer> {
  const { endpoint, upload } = asked;
  const { provider, route } = attempt;
  const words = formatConversion(endpoint, provider);
  // Another format needs all fields, and some come after the file.
  const fields =
    words === undefined || upload === undefined ? asked.body : fieldsAsBody(await upload.readWhole(restart));
  const response = await openAnswer(provider, sentCall(deps, attempt, asked, { words, fields }), {
    ...{ clock: deps.clock, signal, headers: attempt.headers },
    upload:
      upload === undefined ? undefined : () => watched(formFor(upload, words, { fields, model: route.model }), restart),
  });
  const settle = (usage: Measured, end: Partial<Settled>) => settleCall(deps, attempt, asked, { usage, ...end });
  if (endpoint.gives === "any" && (words === undefined || words.passesBytes === true)) {
    const type = typeOf(response);
    const isJson = type === "" || /^application\/(?:[\w.-]+\+)?json$/.test(type);
    if (!isJson) return relayAnswer(deps, { attempt, asked, response, type, signal, settle });
  }
  const whole = relaysBytes(asked, words)
    ? await readAnswerBytes(provider, response, signal)
    : await readAnswer(provider, response, signal);
  return settledAnswer(deps, attempt, asked, { whole, words });
}

/** The request for a route. `fields`: those of a form, or the body. */
export function sentCall(
  deps: EndpointDeps,
  { provider, route }: RouteAttempt,
  asked: Asked,
  { words, fields }: { words: FormatConversion | undefined; fields: JsonObject },
): UpstreamRequest {
  const path = words?.path(route.model, fields) ?? asked.endpoint.upstreamPath;
  const members = { model: route.model, ...endUserOf(deps, asked, provider), ...withoutWish(asked.body) };
  const body = asked.upload === undefined ? bodyFor(asked, words, members) : "";
  return { path, headers: {}, body, dropped: [] };
}

/** Whether the answer is read as bytes: if long lists in it are passed on unread. */
export function relaysBytes({ endpoint, body }: Asked, words: FormatConversion | undefined): boolean {
  return words === undefined && endpoint.relaysLists?.(body) === true;
}

/** The answer for the client, whose cost is recorded. Throws `UpstreamFault` if what was read is none. */
export function settledAnswer(
  deps: EndpointDeps,
  attempt: RouteAttempt,
  asked: Asked,
  { whole, words }: { whole: string | Uint8Array; words: FormatConversion | undefined },
): JsonText {
  const ttfbMs = performance.now() - asked.exchange.startedMs;
  const { usage, said } =
    typeof whole !== "string"
      ? readLists(whole, asked)
      : words === undefined && asked.endpoint.relaysLists !== undefined
        ? readText(whole, asked)
        : readWhole(whole, asked, words);
  settleCall(deps, attempt, asked, { usage, ttfbMs });
  return new JsonText(said);
}

/** An upstream's answer, and the answer that the client gets. */
interface ReadAnswer {
  readonly usage: Measured;
  readonly said: WholeContent;
}

function bodyFor(
  { text, body }: Asked,
  words: FormatConversion | undefined,
  members: JsonObject & { model: string },
): string {
  return words === undefined ? spliceMembers(text, members) : JSON.stringify(words.body(body, members.model));
}

/** The form as the provider accepts it. */
function formFor(
  upload: Upload,
  words: FormatConversion | undefined,
  { fields, model }: { fields: JsonObject; model: string },
): UploadBody {
  if (words === undefined) return upload.body({ model });
  return words.sendsFileAlone === true ? upload.file() : upload.body(words.body(fields, model));
}

/** The member that tells the provider the end user, where its endpoint has one. Nothing is added to forms. */
function endUserOf(deps: EndpointDeps, { endpoint, caller, body }: Asked, provider: Provider): Record<string, string> {
  if (endpoint.namesEndUser !== true) return {};
  return openaiEndUser(body, { quirks: provider.quirks, endUser: deps.endUserOf(caller, provider) });
}

/** Takes the wish for the cost out of a body, since providers refuse unknown members. */
function withoutWish(body: JsonObject): { usage?: undefined } {
  return wantsCost(body) === true ? { usage: undefined } : {};
}

type UploadBody = ReturnType<Upload["body"]>;

/** Wraps an upload so that each piece restarts the deadline. The time for the answer thus begins when everything was sent. */
function watched(body: UploadBody, restart: () => void): UploadBody {
  const next = () => {
    restart();
    return body.next();
  };
  return { ...body, next };
}

/** The media type, in lower case and without parameters. */
function typeOf({ headers }: Pick<Response, "headers">): string {
  return (headers.get("content-type") ?? "").split(";", 1)[0]!.trim().toLowerCase();
}

/** Records the cost of an answer, once for each request. */
function settleCall(
  deps: EndpointDeps,
  attempt: RouteAttempt,
  { exchange, caller, model }: Asked,
  { usage, ttfbMs = null, errorCode = null, label = "ok" }: Partial<Settled> & Pick<Settled, "usage">,
): void {
  const { route } = attempt;
  attempt.end({ outcome: OUTCOMES[label], label, usage });
  exchange.headers["x-sallyport-route"] = headerText(`${route.provider}/${route.model}`);
  if (!exchange.streaming) noteCost(exchange.headers, model.prices, usage);
  exchange.recorded = true;
  Object.assign(exchange.log, {
    ...{ input_tokens: usage.inputTokens, output_tokens: usage.outputTokens, provider: route.provider },
    ...(usage.seconds === undefined ? {} : { audio_seconds: usage.seconds }),
    ...(usage.images === undefined ? {} : { images: usage.images }),
    ...(usage.characters === undefined ? {} : { characters: usage.characters }),
    ...(errorCode === null || label === "abandoned" ? {} : { error: errorCode }),
  });
  deps.record(
    usageRecord(
      { model, route, usage, status: 200, errorCode, ttfbMs },
      {
        ...{ requestId: exchange.requestId, accountId: caller.accountId, keyId: caller.keyId, endpoint: exchange.path },
        ...{ stream: exchange.streaming, startedMs: exchange.startedMs, nowMs: deps.clock.now() },
        ...{ failedRoutes: exchange.failedRoutes, askedMs: attempt.startedMs, labels: exchange },
      },
    ),
  );
}

const OUTCOMES = { ok: "ok", abandoned: "unknown", interrupted: "failed" } as const;

/** The conversion for a provider that has the endpoint in another format. */
export function formatConversion(endpoint: ModelEndpoint, { dialect, quirks }: Provider): FormatConversion | undefined {
  return endpoint.formatConversion?.({ dialect: dialect.name, protocol: PROTOCOLS[dialect.name], quirks });
}

/** Reads an answer whose long lists are passed on unread. Throws `UpstreamFault`. */
function readLists(bytes: Uint8Array, asked: Asked): ReadAnswer {
  try {
    const read = readOutline(parseOutline(bytes), asked, (edits) => withEdits(bytes as Uint8Array<ArrayBuffer>, edits));
    if (read !== undefined) return read;
  } catch {
    // The fault is reported when the whole text is parsed.
  }
  return readText(new TextDecoder().decode(bytes), asked);
}

/** Reads an answer that is mostly passed on as it is. Throws `UpstreamFault`. */
function readText(text: string, asked: Asked): ReadAnswer {
  try {
    const read = readOutline(wholeOutline(text), asked, (edits) => textWithEdits(text, edits));
    if (read !== undefined) return read;
  } catch {
    // The fault is reported below.
  }
  return readWhole(text, asked, undefined);
}

/** A part of an answer that is replaced. */
interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/**
 * Reads what was parsed of an answer. Undefined if that is not enough: if the model occurs twice, or if lists that were left out must
 * change their form.
 */
function readOutline(
  outline: Outline | undefined,
  asked: Asked,
  edited: (edits: Edit[]) => WholeContent,
): ReadAnswer | undefined {
  const { endpoint, body, model } = asked;
  if (outline === undefined || !isAnswer(outline.value)) return undefined;
  const { text, offsetOf, value: read } = outline;
  const other = endpoint.answer?.(read, body);
  if (other !== undefined) return outline.isWhole ? restated(other, read, asked) : undefined;
  const members = topLevelMembers(text, 0, { model: true, usage: true });
  const models = members.get("model") ?? [];
  const usages = members.get("usage") ?? [];
  if (models.length > 1 || usages.length > 1) return undefined;
  const { usage, shown } = usageOf(asked, read);
  const put = (span: MemberSpan, value: unknown) => ({
    from: offsetOf(span.valueStart),
    to: offsetOf(span.valueEnd),
    text: JSON.stringify(value),
  });
  // Most providers know the model by the same name. The bytes are then passed on without a copy.
  const edits = models
    .filter(({ valueStart, valueEnd }) => text.slice(valueStart, valueEnd) !== JSON.stringify(model.id))
    .map((span) => put(span, model.id));
  if (shown !== read["usage"]) {
    if (usages[0] === undefined && !ASCII.test(text)) return undefined;
    const within = text.indexOf("{") + 1;
    edits.push(
      usages[0] === undefined
        ? { from: within, to: within, text: `"usage":${JSON.stringify(shown)},` }
        : put(usages[0], shown),
    );
  }
  return { usage, said: edited(edits) };
}

const ASCII = /^[\0-\x7f]*$/;

/** What is written anew of an answer that was read. */
function restated(other: JsonObject, read: JsonObject, asked: Asked): ReadAnswer {
  const { usage, shown } = usageOf(asked, read);
  return { usage, said: JSON.stringify({ ...other, usage: shown, model: asked.model.id }) };
}

/** The bytes with parts replaced, in pieces that follow one another. */
function withEdits(bytes: Uint8Array<ArrayBuffer>, edits: Edit[]): Uint8Array<ArrayBuffer>[] {
  if (edits.length === 0) return [bytes];
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let at = 0;
  for (const { from, to, text } of edits.sort((a, b) => a.from - b.from)) {
    parts.push(bytes.subarray(at, from), Buffer.from(text));
    at = to;
  }
  parts.push(bytes.subarray(at));
  return parts;
}

function textWithEdits(text: string, edits: Edit[]): string {
  let out = "";
  let at = 0;
  for (const { from, to, text: put } of edits.sort((a, b) => a.from - b.from)) {
    out += text.slice(at, from) + put;
    at = to;
  }
  return edits.length === 0 ? text : out + text.slice(at);
}

/** The settled usage of an answer, and the usage object for the client; undefined if there is none. */
function usageOf({ endpoint, measured, model, body }: Asked, read: JsonObject): { usage: Measured; shown: unknown } {
  const text = endpoint.wrote?.(read) ?? "";
  const usage = settledMeasure(endpoint.usage(read), { measured, text, prices: model.prices });
  const raw = read["usage"];
  const shown = raw == null && !endpoint.addsUsage ? raw : endpoint.shownUsage(raw, usage);
  const cost = wantsCost(body) === true ? costInUsd(model.prices, usage) : undefined;
  return { usage, shown: cost === undefined ? shown : { ...(isRecord(shown) ? shown : {}), cost } };
}

/** Reads an answer, and the text of it for the client. Throws `UpstreamFault`. */
function readWhole(text: string, asked: Asked, words: FormatConversion | undefined): ReadAnswer {
  const { endpoint, model, body } = asked;
  try {
    const read = words === undefined ? fieldsOf(text) : words.answer(JSON.parse(text));
    const other = endpoint.answer?.(read, body);
    if (other !== undefined || words !== undefined) return restated(other ?? read, read, asked);
    const { usage, shown } = usageOf(asked, read);
    const edits: Record<string, unknown> = read["model"] === undefined ? {} : { model: model.id };
    if (shown !== read["usage"]) edits["usage"] = shown;
    return { usage, said: Object.keys(edits).length === 0 ? text : spliceMembers(text, edits) };
  } catch (cause) {
    if (cause instanceof UpstreamFault) throw cause;
    throw new UpstreamFault("unavailable", "The provider's answer has an unknown format.", { cause });
  }
}

/** Parses the answer, which must be an object that reports no failure. Throws `UpstreamFault`, so that another route is tried. */
function fieldsOf(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new UpstreamFault("unavailable", "The provider's answer is not JSON.", { cause });
  }
  if (isAnswer(value)) return value;
  throw new UpstreamFault("unavailable", "The provider's answer is not a JSON object.");
}

/** Whether it is an object that does not report a failure. */
function isAnswer(value: unknown): value is JsonObject {
  return isRecord(value) && !("error" in value && value.error);
}
