// Calls one route for an endpoint of models that do not chat, and interprets its answer.

import { spliceMembers } from "../base/json-splice.ts";
import type { JsonObject, ModelEndpoint, OtherWords } from "../catalog/endpoints/endpoint.ts";
import type { Measured } from "../catalog/prices.ts";
import type { Upload } from "../http/upload.ts";
import { openAnswer } from "../upstream/ask.ts";
import { outcomeOfFault } from "../upstream/breaker.ts";
import { readAnswer } from "../upstream/call.ts";
import { UpstreamFault } from "../upstream/fault.ts";
import type { Provider } from "../upstream/provider.ts";
import { PROTOCOLS } from "../vendors/protocols.ts";
import { headerText } from "./accounting.ts";
import type { Asked, EndpointDeps, Settled } from "./endpoint-job.ts";
import { relayAnswer } from "./endpoint-relay.ts";
import { usageRecord } from "./meter.ts";
import { clientError } from "./policy.ts";
import type { RequestDeadline } from "./request-deadline.ts";
import type { RouteAttempt } from "./route-call.ts";

/** Whether a provider has the endpoint. */
export function hasEndpoint(endpoint: ModelEndpoint, provider: Provider): boolean {
  return endpoint.dialects.includes(provider.dialect.name) || otherWords(endpoint, provider) !== undefined;
}

/** Calls a route. Throws `UpstreamFault` if another route may be tried, and `ApiError` if not. */
export async function askRoute(
  deps: EndpointDeps,
  attempt: RouteAttempt,
  asked: Asked,
  deadline: RequestDeadline,
): Promise<Response> {
  const { upload } = asked;
  try {
    return await answerOf(deps, attempt, asked, deadline);
  } catch (error) {
    if (!(error instanceof UpstreamFault) || upload === undefined || upload.canBeSentAgain) throw error;
    // The file is not kept in memory, so a second route cannot get it.
    attempt.end({ outcome: outcomeOfFault(error.kind), label: error.kind, status: error.status });
    deps.failed?.(attempt.route, error);
    throw clientError(error, deps.scrub);
  }
}

async function answerOf(
  deps: EndpointDeps,
  attempt: RouteAttempt,
  asked: Asked,
  { signal, restart }: RequestDeadline,
): Promise<Response> {
  const { endpoint, exchange, upload } = asked;
  const { provider, route } = attempt;
  const words = otherWords(endpoint, provider);
  const path = words?.path(route.model) ?? endpoint.upstreamPath;
  const body = upload === undefined ? bodyFor(asked, words, route.model) : "";
  const call = { path, headers: {}, body, dropped: [] };
  const response = await openAnswer(provider, call, {
    ...{ clock: deps.clock, signal, headers: attempt.headers },
    upload: upload === undefined ? undefined : () => watched(upload.body(route.model), restart),
  });
  const settle = (usage: Measured | undefined, end: Partial<Settled>) =>
    settleCall(deps, attempt, asked, {
      ...{
        usage: usage === undefined ? { ...asked.measured, estimated: true } : { ...units(asked.measured), ...usage },
      },
      ...end,
    });
  const type = typeOf(response);
  const isJson = type === "" || /^application\/(?:[\w.-]+\+)?json$/.test(type);
  if (endpoint.gives === "any" && words === undefined && !isJson) {
    return relayAnswer(deps, { attempt, asked, response, type, signal, settle });
  }
  const text = await readAnswer(provider, response, signal);
  const ttfbMs = performance.now() - exchange.startedMs;
  const { read, said } = readWhole(text, asked, words);
  settle(endpoint.usage(read), { ttfbMs });
  return new Response(said, { headers: { "content-type": "application/json" } });
}

function bodyFor({ text, body }: Asked, words: OtherWords | undefined, model: string): string {
  return words === undefined ? spliceMembers(text, { model }) : JSON.stringify(words.body(body, model));
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

/** The units that no provider reports, because the request states them. */
function units({ images, characters }: Measured): Pick<Measured, "images" | "characters"> {
  return { ...(images === undefined ? {} : { images }), ...(characters === undefined ? {} : { characters }) };
}

/** The media type, in lower case and without parameters. */
function typeOf({ headers }: Response): string {
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
        ...{ failedRoutes: exchange.failedRoutes, askedMs: attempt.startedMs },
      },
    ),
  );
}

const OUTCOMES = { ok: "ok", abandoned: "unknown", interrupted: "failed" } as const;

function otherWords(endpoint: ModelEndpoint, { dialect, quirks }: Provider): OtherWords | undefined {
  return endpoint.otherWords?.({ protocol: PROTOCOLS[dialect.name], quirks });
}

/** Reads an answer, and the text of it for the client. Throws `UpstreamFault`. */
function readWhole(text: string, asked: Asked, words: OtherWords | undefined): { read: JsonObject; said: string } {
  const { endpoint, model, body, measured } = asked;
  try {
    const read = words === undefined ? fieldsOf(text) : words.answer(JSON.parse(text));
    const other = endpoint.answer?.(read, body);
    if (other !== undefined || words !== undefined) {
      const tokens = measured.inputTokens;
      const usage = { prompt_tokens: tokens, total_tokens: tokens };
      return { read, said: JSON.stringify({ usage, ...(other ?? read), model: model.id }) };
    }
    return { read, said: read["model"] === undefined ? text : spliceMembers(text, { model: model.id }) };
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
  if (typeof value === "object" && value !== null && !Array.isArray(value) && !("error" in value && value.error))
    return value as JsonObject;
  throw new UpstreamFault("unavailable", "The provider's answer is not a JSON object.");
}
