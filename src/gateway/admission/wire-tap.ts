// Copies the messages of one request, on the client's side and on the providers' side, while the key is being debugged; its
// holder is told so. The copy is limited in size, and secrets are removed before anything is stored.

import type { Fetch, WireTap } from "../../http/exchange.ts";
import { isSecretName, REDACTED, type Redact } from "../../telemetry/redact.ts";

/** A message as it is stored. */
interface KeptMessage {
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  /** Whether the rest of the body was left out. */
  readonly cut: boolean;
}

/** The stored copy of a request, which the dashboard shows. */
export interface WireRecord {
  readonly request: KeptMessage & { readonly method: string; readonly url: string };
  readonly response: (KeptMessage & { readonly status: number }) | null;
  readonly upstream: readonly {
    readonly provider: string;
    readonly url: string;
    readonly request: KeptMessage;
    readonly response: (KeptMessage & { readonly status: number }) | null;
    readonly error: string | null;
  }[];
}

/** Maximum number of characters that are stored of one body. */
const BODY_CHARS_MAX = 512 * 1024;
/** Bytes in UTF-8 of a character of a string, at most. */
const CHAR_BYTES_MAX = 3;
/** Room for a mark of the byte order, for a character that is cut, and for one that shows that there is more. */
const MORE_CHARS = 3;
/** Maximum number of calls that are stored of one request. */
const CALLS_MAX = 8;

const SECRET_HEADERS = /^(?:authorization|proxy-authorization|x-api-key|api-key|x-goog-api-key|cookie|set-cookie)$/i;

/** Collects the text of a body as it arrives. */
class KeptBody {
  #text = "";
  #cut = false;
  readonly #decoder = new TextDecoder();

  add(chunk: unknown): void {
    const room = BODY_CHARS_MAX - this.#text.length;
    if (room <= 0) {
      this.#cut = true;
      return;
    }
    // Of bodies of megabytes, only what may be kept is decoded.
    const text =
      typeof chunk === "string"
        ? chunk
        : this.#decoder.decode((chunk as Uint8Array).subarray(0, (room + MORE_CHARS) * CHAR_BYTES_MAX), {
            stream: true,
          });
    this.#text += text.length > room ? text.slice(0, room) : text;
    if (text.length > room) this.#cut = true;
  }

  kept(headers: Headers, redact: Redact): KeptMessage {
    return { headers: withoutSecrets(headers, redact), body: redact(this.#text), cut: this.#cut };
  }
}

interface Call {
  readonly provider: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: KeptBody;
  response: { readonly status: number; readonly headers: Headers; readonly body: KeptBody } | undefined;
  error: string | null;
}

/** Creates the copy of one request. `done` is called once, when the client has its answer or has left. */
export function createWireTap(
  request: Request,
  { method, redact, done }: { method: string; redact: Redact; done(record: WireRecord): void },
): WireTap {
  const asked = new KeptBody();
  const calls: Call[] = [];
  let answer: Call["response"];
  let isDone = false;
  const end = () => {
    if (isDone) return;
    isDone = true;
    done({
      request: {
        method,
        url: urlWithoutSecrets(request.url, redact),
        ...asked.kept(request.headers, redact),
      },
      response: keptResponse(answer, redact),
      upstream: calls.map((call) => ({
        provider: call.provider,
        url: urlWithoutSecrets(call.url, redact),
        request: call.body.kept(call.headers, redact),
        response: keptResponse(call.response, redact),
        error: call.error === null ? null : redact(call.error),
      })),
    });
  };
  return {
    body: (bytes) => asked.add(bytes),
    response(response) {
      answer = { status: response.status, headers: response.headers, body: new KeptBody() };
      return copied(response, answer.body, end);
    },
    transport: (provider, send) => tappedTransport(calls, provider, send),
  };
}

function tappedTransport(calls: Call[], provider: string, send: Fetch): Fetch {
  return async (url, init) => {
    if (calls.length >= CALLS_MAX) return send(url, init);
    const headers = new Headers(init.headers as Record<string, string>);
    const call: Call = { provider, url, headers, body: new KeptBody(), response: undefined, error: null };
    calls.push(call);
    // Long ones are sent as bytes. Uploads are streams, and are not kept.
    const { body } = init;
    if (typeof body === "string" || body instanceof Uint8Array) call.body.add(body);
    try {
      const response = await send(url, init);
      call.response = { status: response.status, headers: response.headers, body: new KeptBody() };
      return copied(response, call.response.body, () => undefined);
    } catch (error) {
      call.error = error instanceof Error ? error.message : String(error);
      throw error;
    }
  };
}

function keptResponse(response: Call["response"], redact: Redact) {
  return response === undefined ? null : { status: response.status, ...response.body.kept(response.headers, redact) };
}

/** The same response, whose body is also copied while it is read. `end` is called when the body has ended or is cancelled. */
function copied(response: Response, kept: KeptBody, end: () => void): Response {
  const { body } = response;
  if (body === null) {
    end();
    return response;
  }
  const reader = body.getReader();
  const isText = isTextual(response.headers.get("content-type") ?? "");
  if (!isText) kept.add("[not text: not kept]");
  const copy = new ReadableStream<unknown>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) {
            end();
            controller.close();
            return;
          }
          if (isText) kept.add(value);
          controller.enqueue(value);
        } catch (error) {
          end();
          controller.error(error);
        }
      },
      async cancel(reason) {
        end();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(copy as ReadableStream<Uint8Array>, { status: response.status, headers: response.headers });
}

function isTextual(type: string): boolean {
  return type === "" || /json|text|xml|x-www-form-urlencoded|event-stream/i.test(type);
}

function withoutSecrets(headers: Headers, redact: Redact): [string, string][] {
  return [...headers].map(([name, value]) => [
    name,
    SECRET_HEADERS.test(name) || isSecretName(name) ? REDACTED : redact(value),
  ]);
}

/** Removes secrets from a URL, since keys are also sent in queries. */
function urlWithoutSecrets(url: string, redact: Redact): string {
  if (!URL.canParse(url)) return redact(url);
  const shown = new URL(url);
  for (const name of [...shown.searchParams.keys()])
    if (/^(?:key|api[-_]?key|sig|signature)$/i.test(name) || isSecretName(name)) shown.searchParams.set(name, REDACTED);
  shown.username &&= REDACTED;
  shown.password &&= REDACTED;
  return redact(shown.toString());
}
