// Sends calls with a credential that is more than a key: what is sent is complete before it is signed, and a refusal may lead to
// one more attempt.

import { lazily } from "../../base/lazily.ts";
import { UpstreamFault } from "../fault.ts";
import type { Transport } from "../provider.ts";
import type { Credential } from "./credential.ts";

/** A signature covers the whole body, so a body that is sent as it arrives is collected first. */
const BODY_BYTES_MAX = 64 * 1024 * 1024;

/** Statuses with which servers refuse a signature or a token. */
const REFUSALS: readonly number[] = [400, 401, 403];

/** The same transport, with the credential. */
export function credentialTransport(transport: Transport, load: () => Promise<Credential>): Transport {
  const loaded = lazily(load);
  return async (url, init) => {
    const credential = await loaded();
    const { signal, method = "GET" } = init;
    const body = await wholeBody(init.body);
    const headers = Object.fromEntries(new Headers(init.headers));
    for (let attempt = 1; ; attempt++) {
      const call = { method, url, headers, body };
      const own = await credential.headers(call, signal ?? undefined);
      const response = await transport(url, {
        ...init,
        headers: { ...headers, ...own },
        ...(body === undefined ? {} : { body }),
      });
      if (attempt > 1 || !REFUSALS.includes(response.status) || !credential.refused(response, own)) return response;
      // Nobody needs the text of the refusal.
      await response.body?.cancel().catch(() => undefined);
    }
  };
}

async function wholeBody(body: BunFetchRequestInit["body"]): Promise<string | Uint8Array<ArrayBuffer> | undefined> {
  if (body === undefined || body === null) return undefined;
  if (typeof body === "string" || body instanceof Uint8Array) return body as string | Uint8Array<ArrayBuffer>;
  if (!(body instanceof ReadableStream)) throw new Error("A body is a text, bytes or a stream.");
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body as ReadableStream<Uint8Array>) {
    size += chunk.byteLength;
    if (size > BODY_BYTES_MAX)
      throw new UpstreamFault("bad_request", "The body is too large for this provider.", { status: 413 });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}
