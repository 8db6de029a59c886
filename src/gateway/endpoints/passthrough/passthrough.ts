// Forwards requests to any path of a provider, for keys with that right. The credential is replaced by the operator's, and
// everything else is streamed unchanged in both directions. The tokens that an answer reports are recorded, and secrets in it are
// masked.

import type { Clock } from "../../../base/clock.ts";
import { ApiError } from "../../../base/errors.ts";
import { type Limit, lone } from "../../../base/limit.ts";
import type { Prices } from "../../../catalog/prices.ts";
import { type ByteSource, byteResponse } from "../../../http/byte-response.ts";
import { type Exchange, exchangeOf } from "../../../http/exchange.ts";
import type { UsageRecord } from "../../../store/usage/record.ts";
import { UpstreamFault } from "../../../upstream/fault.ts";
import { type ForwardedAnswer, forwardCall } from "../../../upstream/forward.ts";
import type { Provider } from "../../../upstream/provider.ts";
import { BodyReader } from "../../../upstream/read-answer.ts";
import type { Admit } from "../../admission/admit.ts";
import type { Budgets } from "../../admission/budgets.ts";
import type { Caller } from "../../admission/caller.ts";
import { clientGone } from "../../calls/request-deadline.ts";
import { headerText } from "../../centre/answer.ts";
import { clientError } from "../../rules/policy.ts";
import { billedCost, NO_COST } from "../../usage/billed-cost.ts";
import { usageLabelsOf } from "../../usage/labels.ts";
import { headersDown, headersUp } from "./headers.ts";
import { SecretMask } from "./mask.ts";
import { type Reported, reportReader } from "./reported.ts";
import { addressBelow, passthroughPath, pathHere } from "./target.ts";

export interface PassthroughDeps {
  readonly admit: Admit;
  provider(name: string): Provider | undefined;
  readonly budgets: Pick<Budgets, "reserve">;
  /** The size limit of a body, in bytes. */
  uploadBytesMax(): number;
  prices(provider: string, model: string): Prices | undefined;
  record(usage: UsageRecord): void;
  /** Removes secrets from text. */
  scrub(text: string): string;
  readonly clock: Clock;
}

/** The longest pause of a client while it sends its body. */
const STALL_MS = 30_000;
/** Errors are short, so they are read completely, and the credential can be removed from their text. */
const ERROR_BYTES_MAX = 256 * 1024;
const TEXT = /^(?:text\/(?!event-stream)|application\/(?:[\w.-]+\+)?(?:json|xml)\b)/i;
/** The methods of APIs. TRACE would show the operator's headers, and CONNECT opens a tunnel. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
const ALLOWED = [...METHODS].join(", ");
const NO_BODY = new Set([204, 205, 304]);

/** One request in progress. */
interface Passing {
  readonly exchange: Exchange;
  readonly caller: Pick<Caller, "accountId" | "keyId">;
  readonly provider: Provider;
  readonly secret: string;
  readonly ttfbMs: number;
  readonly status: number;
}

/** Creates the handler of `/v1/upstream/{provider}/*`. */
export function createPassthrough(deps: PassthroughDeps) {
  return async (request: Request): Promise<Response> => {
    const exchange = exchangeOf(request);
    const caller = await deps.admit(request, exchange);
    if (!caller.passthrough) {
      const message =
        "This key may not call a provider's own paths. An administrator can create a key with --passthrough.";
      throw new ApiError("permission_denied", message);
    }
    const { method } = exchange;
    if (!METHODS.has(method))
      throw new ApiError("method_not_allowed", `A provider's path accepts ${ALLOWED}, not ${method.slice(0, 20)}.`, {
        headers: { allow: ALLOWED },
      });
    const { provider, rest } = targetOf(deps, request);
    exchange.log["provider"] = provider.name;
    const url = addressBelow(provider.baseUrl, rest, keyOfRequest(request));
    // What a path uses is known when it has answered.
    await exchange.tokens?.reserve({ least: 1, most: 1 });
    if (caller.budgets !== undefined) await deps.budgets.reserve(caller.budgets, exchange, 0);
    const call = {
      ...{ method, url, headers: headersUp(request.headers) },
      ...bodyOf(request, deps.uploadBytesMax()),
    };
    const answer = await forwardCall(provider, call, { signal: request.signal, clock: deps.clock }).catch(
      (error: unknown) => {
        if (request.signal.aborted) throw clientGone();
        throw error instanceof UpstreamFault ? clientError(error, deps.scrub) : error;
      },
    );
    const { secret } = answer;
    const { status } = answer.response;
    const ttfbMs = performance.now() - exchange.startedMs;
    return passBack(deps, request, { answer, passing: { exchange, caller, provider, secret, ttfbMs, status } });
  };
}

function targetOf(deps: PassthroughDeps, request: Request): { provider: Provider; rest: string } {
  const { provider: name, rest } = passthroughPath(request.url);
  const provider = deps.provider(name);
  if (provider === undefined || provider.embedded) {
    throw new ApiError(
      "provider_not_found",
      `There is no provider ${JSON.stringify(name.slice(0, 100))}. The path must begin with the name of a configured provider.`,
    );
  }
  return { provider, rest };
}

/** The credential from the client's headers; the client may repeat it in the query. */
function keyOfRequest({ headers }: Request): string {
  const own = headers.get("authorization")?.replace(/^bearer\s+/i, "") ?? headers.get("x-api-key") ?? "";
  return own.trim();
}

/** The body as it is read, limited in size and in the length of pauses. */
function bodyOf(request: Request, bytesMax: number): { body?: () => Promise<Uint8Array | undefined>; length?: number } {
  if (request.body === null) return {};
  const declared = Number(request.headers.get("content-length") ?? Number.NaN);
  const tooLarge = () => new ApiError("request_too_large", `The request body is larger than ${bytesMax} bytes.`);
  if (declared > bytesMax) throw tooLarge();
  const reader = (request.body as ReadableStream<Uint8Array>).getReader();
  let size = 0;
  const body = async () => {
    let stalled = false;
    const silence: Limit = lone(STALL_MS, () => {
      stalled = true;
      reader.cancel().catch(() => undefined);
    });
    try {
      const { done, value } = await reader.read();
      if (stalled) throw new ApiError("request_timeout", "The request body did not arrive in time.");
      size += value?.byteLength ?? 0;
      if (size > bytesMax) throw tooLarge();
      return done ? undefined : value;
    } finally {
      silence.cancel();
    }
  };
  return declared >= 0 ? { body, length: declared } : { body };
}

async function passBack(
  deps: PassthroughDeps,
  request: Request,
  { answer, passing }: { answer: ForwardedAnswer; passing: Passing },
): Promise<Response> {
  const { exchange, provider, secret, status } = passing;
  const { response } = answer;
  const type = response.headers.get("content-type") ?? "";
  const mask = (text: string) => deps.scrub(secret.length < 6 ? text : text.replaceAll(secret, "[redacted]"));
  const headers = headersDown(response.headers, mask);
  const location = response.headers.get("location");
  if (location !== null) headers["location"] = mask(pathHere(provider.baseUrl, provider.name, location) ?? location);
  exchange.headers["x-sallyport-route"] = headerText(`${provider.name}/`);
  if (response.body === null || NO_BODY.has(status) || exchange.method === "HEAD") {
    answer.abort();
    book(deps, passing, undefined);
    return new Response(null, { status, headers });
  }
  const reader = new BodyReader(response, provider.timeoutsMs.idle);
  if (status >= 400 && TEXT.test(type)) {
    const text = await readShort(reader);
    answer.abort();
    book(deps, passing, undefined);
    return new Response(mask(text), { status, headers });
  }
  exchange.streaming = true;
  const source = sourceOf(deps, { answer, passing, reader, type });
  const passed = byteResponse(source, { signal: request.signal, headers });
  return new Response(passed.body, { status, headers });
}

async function readShort(reader: BodyReader): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (let chunk = await reader.read(); chunk !== undefined; chunk = await reader.read()) {
      chunks.push(chunk);
      size += chunk.byteLength;
      if (size > ERROR_BYTES_MAX) break;
    }
  } catch {
    // If the body of an error breaks off, the part that arrived is still useful.
  }
  reader.cancel();
  return Buffer.concat(chunks).subarray(0, ERROR_BYTES_MAX).toString();
}

/** The answer's bytes with the secret masked. When the answer ends, for whatever reason, the usage row is written. */
function sourceOf(
  deps: PassthroughDeps,
  { answer, passing, reader, type }: { answer: ForwardedAnswer; passing: Passing; reader: BodyReader; type: string },
): ByteSource {
  const mask = new SecretMask(passing.secret);
  const report = reportReader(type);
  let isOver = false;
  const end = (errorCode: string | null) => {
    if (isOver) return;
    isOver = true;
    if (errorCode !== null) passing.exchange.log["error"] = errorCode;
    book(deps, passing, report?.end(), errorCode);
    passing.exchange.finish(passing.status);
  };
  let last: Uint8Array | undefined;
  return {
    async next() {
      try {
        for (;;) {
          const chunk = last === undefined ? await reader.read() : undefined;
          if (chunk === undefined) {
            const rest = last === undefined ? mask.end() : new Uint8Array();
            last = rest;
            if (rest.byteLength > 0) return rest;
            end(null);
            return undefined;
          }
          report?.push(chunk);
          const out = mask.push(chunk);
          if (out.byteLength > 0) return out;
        }
      } catch (error) {
        end(error instanceof UpstreamFault && error.kind === "timeout" ? "provider_timeout" : "provider_unavailable");
        throw error;
      }
    },
    cancel() {
      passing.exchange.log["client_gone"] = true;
      reader.cancel();
      answer.abort();
      end("client_gone");
    },
  };
}

/** The error code for the usage record; the answer itself contains more. */
function codeOf(status: number): string | null {
  if (status < 400) return null;
  return status < 500 ? "invalid_request" : "provider_unavailable";
}

function book(
  deps: PassthroughDeps,
  passing: Passing,
  reported: Reported | undefined,
  errorCode: string | null = null,
): void {
  const { exchange, caller, provider, status, ttfbMs } = passing;
  const usage = reported?.usage ?? { inputTokens: 0, outputTokens: 0 };
  const model = reported?.model ?? "";
  Object.assign(exchange.log, { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens });
  exchange.recorded = true;
  deps.record({
    requestId: exchange.requestId,
    accountId: caller.accountId,
    keyId: caller.keyId,
    model,
    provider: provider.name,
    upstreamModel: model,
    endpoint: exchange.route,
    status,
    errorCode: errorCode ?? codeOf(status),
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    cachedTokens: usage.cachedTokens ?? 0,
    cacheWriteTokens: usage.cacheWriteTokens ?? 0,
    reasoningTokens: usage.reasoningTokens ?? 0,
    estimated: false,
    ...(model === "" ? NO_COST : billedCost(deps.prices(provider.name, model), usage)),
    latencyMs: Math.round(performance.now() - exchange.startedMs),
    ttfbMs: Math.round(ttfbMs),
    stream: exchange.streaming,
    createdAtMs: deps.clock.now(),
    ...usageLabelsOf(exchange),
  });
}
