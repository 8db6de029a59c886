// Sends calls with a credential that is more than a key: what is sent is complete before it is signed, and a refusal may lead to
// one more attempt.

import { lazily } from "../../base/lazily.ts";
import type { Transport } from "../provider.ts";
import { CollectedBody, type Credential, REFUSALS } from "./credential.ts";

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
  const whole = new CollectedBody();
  for await (const chunk of body as ReadableStream<Uint8Array>) whole.add(chunk);
  return whole.whole();
}
