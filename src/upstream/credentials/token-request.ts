// Asks token and metadata servers: with a time limit, a bounded answer and a few attempts. Their texts are never shown, since they
// may repeat what they were sent.

import { pause } from "../../base/retry.ts";
import { parseRecord } from "../dialects/loose.ts";
import { UpstreamFault } from "../fault.ts";
import { readBounded } from "../read-answer.ts";

/** How long one attempt may take. */
const ATTEMPT_MS = 5_000;
/** The waits before the second and the third attempt. */
const WAITS_MS = [100, 500];
/** No answer with a token is longer. */
const ANSWER_BYTES_MAX = 256 * 1024;

/** A question to a token server. */
export interface TokenQuestion {
  /** The server, for people: `the token server`. */
  readonly server: string;
  readonly url: string;
  readonly method?: "GET" | "POST" | "PUT";
  readonly headers?: Readonly<Record<string, string>>;
  /** The members of a form. */
  readonly form?: Readonly<Record<string, string>>;
  /** Metadata servers answer at once where they exist; elsewhere nothing answers. */
  readonly attempts?: number;
  readonly attemptMs?: number;
}

/** The text of a successful answer. Throws `UpstreamFault`: `auth` if the server refuses, else `unavailable`. */
export async function askTokenServer(question: TokenQuestion): Promise<string> {
  const { attempts = WAITS_MS.length + 1 } = question;
  for (let attempt = 1; ; attempt++) {
    try {
      return await askOnce(question);
    } catch (error) {
      if ((error instanceof UpstreamFault && error.kind === "auth") || attempt >= attempts) throw error;
      await pause(WAITS_MS[attempt - 1] ?? 0, AbortSignal.timeout(ATTEMPT_MS));
    }
  }
}

async function askOnce({ server, url, method, headers, form, attemptMs = ATTEMPT_MS }: TokenQuestion): Promise<string> {
  const signal = AbortSignal.timeout(attemptMs);
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, {
      method: method ?? (form === undefined ? "GET" : "POST"),
      headers: { ...headers },
      ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
      signal,
      // A redirect would send the secret to another server.
      redirect: "manual",
    });
    text = await readBounded(response, { bytesMax: ANSWER_BYTES_MAX, idleMs: attemptMs, signal });
  } catch (error) {
    throw new UpstreamFault("unavailable", `${capital(server)} could not be reached.`, { cause: error });
  }
  if (response.ok) return text;
  const { status } = response;
  const isPassing = status >= 500 || status === 408 || status === 429;
  throw new UpstreamFault(
    isPassing ? "unavailable" : "auth",
    `${capital(server)} answered with status ${status}${codeIn(text)}.`,
    { status },
  );
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The error's code, if it is one of the protocol's words (RFC 6749, section 5.2) or of their form. */
function codeIn(text: string): string {
  const code = parseRecord(text)?.["error"] ?? /<Code>(\w+)<\/Code>/.exec(text)?.[1];
  return typeof code === "string" && /^[A-Za-z_]{1,40}$/.test(code) ? ` (${code})` : "";
}

/** The access token of an OAuth answer, with its end. Throws `UpstreamFault` if there is none. */
export function accessTokenIn(text: string, server: string, nowMs: number): { value: string; endsMs: number } {
  const answer = parseRecord(text);
  const token = answer?.["access_token"];
  if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)) throw unusable(server);
  // Some servers write numbers as text.
  const seconds = Number(answer?.["expires_in"] ?? Number.NaN);
  if (Number.isFinite(seconds)) return { value: token, endsMs: nowMs + seconds * 1000 };
  const endSeconds = Number(answer?.["expires_on"] ?? Number.NaN);
  // Without an end, it is only for the calls that wait for it.
  return { value: token, endsMs: Number.isFinite(endSeconds) ? endSeconds * 1000 : nowMs };
}

/** How a machine's own server is asked: it answers at once where it exists, and elsewhere nothing answers. */
export const OF_MACHINE = { attempts: 3, attemptMs: 2_000 } as const;

/**
 * Asks the last of several places for a credential. If nothing answers there although nothing says that it exists, there is no
 * credential, which is the operator's matter and no outage.
 */
export async function lastResort<T>(isMeant: boolean, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (isMeant || !(error instanceof UpstreamFault) || error.status !== 0) throw error;
    throw new UpstreamFault("auth", "There are no credentials, and the machine gives none.", { cause: error });
  }
}

/** The error for an answer without what was asked for. */
export function unusable(server: string): UpstreamFault {
  return new UpstreamFault("unavailable", `The answer of ${server} cannot be used.`);
}
