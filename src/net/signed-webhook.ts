// How the gateway signs what it sends to servers of the operator's (`alerts.webhook_secret`).

import type { GuardedFetch } from "./fetch.ts";

/** The headers that sign a body. The time is signed too, so that a request cannot be sent again later. */
export function webhookSignature(
  body: string,
  { secret, nowSeconds }: { readonly secret: string; readonly nowSeconds: number },
): Readonly<Record<string, string>> {
  const timestamp = String(nowSeconds);
  const digest = new Bun.CryptoHasher("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
  return { "x-sallyport-timestamp": timestamp, "x-sallyport-signature": `sha256=${digest}` };
}

/** A signed body and where it is sent. */
export interface SignedPost {
  readonly url: string;
  readonly body: string;
  readonly secret: string;
  readonly nowSeconds: number;
  readonly signal?: AbortSignal | undefined;
}

const TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 64 * 1024;

/** Sends a body once. Throws unless the server takes it. */
export async function postSigned(
  fetch: GuardedFetch,
  { url, body, secret, nowSeconds, signal }: SignedPost,
): Promise<void> {
  const { status } = await fetch(url, {
    method: "POST",
    body,
    bytesMax: ANSWER_BYTES_MAX,
    timeoutMs: TIMEOUT_MS,
    redirectsMax: 0,
    purpose: "webhook",
    signal,
    headers: { "content-type": "application/json", ...webhookSignature(body, { secret, nowSeconds }) },
  });
  if (status < 200 || status > 299) throw new Error(`the server answered with status ${status}`);
}
