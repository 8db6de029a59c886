// Calls the server. Errors are thrown as `Refused`, with the field that they concern.

import { API, type ErrorAnswer } from "../contract.ts";

/** An error of the server or of the connection. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string;
  /** The form field that is wrong, if there is one. */
  readonly param: string | null;
  /** The request id, by which an operator can find the request. */
  readonly requestId: string | null;

  constructor(
    message: string,
    detail: { status: number; code: string; param: string | null; requestId?: string | null },
  ) {
    super(message);
    this.status = detail.status;
    this.code = detail.code;
    this.param = detail.param;
    this.requestId = detail.requestId ?? null;
  }
}

/** Called when the server no longer knows the session; set by the app. */
export const signedOut: { handler: () => void } = { handler: () => undefined };

/** Calls `/dashboard/api` + path with a JSON body where one is given. Throws `Refused`. */
export async function call<T>(method: "GET" | "POST" | "DELETE", path: string, body?: unknown): Promise<T> {
  const response = await send(method, path, { body });
  if (response.ok) return (await response.json()) as T;
  throw await refusalOf(response);
}

/** The same, for answers that arrive in pieces. */
export async function send(
  method: string,
  path: string,
  { body, signal }: { body?: unknown; signal?: AbortSignal },
): Promise<Response> {
  try {
    return await fetch(API + path, {
      method,
      credentials: "same-origin",
      ...(signal === undefined ? {} : { signal }),
      ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refused("The server cannot be reached. Check the connection, then try again.", {
      status: 0,
      code: "unreachable",
      param: null,
    });
  }
}

/** The error in a response that is not ok. */
export async function refusalOf(response: Response): Promise<Refused> {
  const { status } = response;
  const error = ((await response.json().catch(() => undefined)) as ErrorAnswer | undefined)?.error;
  if (status === 401 && (error?.code === "invalid_token" || error?.code === "missing_token")) signedOut.handler();
  const message =
    error?.message ?? `The server answered with status ${status}. Try again; if it goes on, tell its operator.`;
  const wait = status === 429 ? waitOf(response) : "";
  return new Refused(message + wait, {
    status,
    code: error?.code ?? "unknown",
    param: error?.param ?? null,
    requestId: response.headers.get("x-request-id"),
  });
}

/** The time of the next attempt as text. */
function waitOf(response: Response): string {
  const seconds = Number(response.headers.get("retry-after"));
  if (!(seconds > 0)) return "";
  return seconds < 120 ? ` (in ${seconds} seconds)` : ` (in ${Math.ceil(seconds / 60)} minutes)`;
}
