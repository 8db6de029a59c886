// Sends calls over the gateway's own client with a credential that is more than a key. It does what the transport of this folder
// does, for calls that need no `Response`, which are nearly all.

import type { AtOnce } from "../../base/at-once.ts";
import { lazily } from "../../base/lazily.ts";
import { limit } from "../../base/limit.ts";
import type { OpenCall, WireCall, WireClient } from "../connection/client.ts";
import type { StreamedBody } from "../connection/exchange.ts";
import { OwnAnswer } from "../connection/own-answer.ts";
import type { WireAnswer } from "../connection/wire-answer.ts";
import { CollectedBody, type Credential, REFUSALS } from "./credential.ts";

/** The same client, with the credential. */
export function credentialClient(client: WireClient, load: () => Promise<Credential>): WireClient {
  let known: Credential | undefined;
  const loaded = lazily(async () => {
    known = await load();
    return known;
  });
  const credential = () => known ?? loaded();
  return {
    call: (call) => new AuthenticatedCall(client, call, credential),
    get state() {
      return client.state;
    },
    close: () => client.close(),
  };
}

/** A call, with the one more that a refusal may lead to. */
class AuthenticatedCall implements OpenCall {
  readonly answer: Promise<WireAnswer>;
  readonly #client: WireClient;
  readonly #call: WireCall;
  declare refuse: (reason: unknown) => void;
  #open: OpenCall | undefined;
  #isStopped = false;

  constructor(client: WireClient, call: WireCall, credential: () => AtOnce<Credential>) {
    this.#client = client;
    this.#call = call;
    this.answer = new Promise((resolve, reject) => {
      this.refuse = reject;
      this.#ask(credential).then(resolve, reject);
    });
  }

  stop(reason: unknown): void {
    this.#isStopped = true;
    this.#open?.stop(reason);
    this.refuse(reason);
  }

  async #ask(load: () => AtOnce<Credential>): Promise<WireAnswer> {
    const { method, url, upload } = this.#call;
    const loading = load();
    const credential = loading instanceof Promise ? await loading : loading;
    const body = upload === undefined ? this.#call.body : await collected(upload);
    const headers = lowered(this.#call.headers);
    for (let attempt = 1; ; attempt++) {
      const made = credential.headers({ method, url, headers, body });
      const own = made instanceof Promise ? await this.#waited(made) : made;
      // The caller has been told why.
      if (this.#isStopped) throw new Error("The call was stopped.");
      const call = { ...this.#call, headers: { ...headers, ...own }, keepsHeaders: false, upload: undefined, body };
      this.#open = this.#client.call(call);
      const answer = await this.#open.answer;
      const mayRefuse = attempt === 1 && REFUSALS.includes(answer.head.status);
      if (!mayRefuse || !credential.refused(new OwnAnswer(answer), own)) return answer;
      // Nobody needs the text of the refusal.
      answer.stop(new Error("Another attempt follows."));
    }
  }

  /** Waits for a token no longer than for an answer. */
  async #waited<T>(value: Promise<T>): Promise<T> {
    const patience = limit(this.#call.firstByteMs, () => this.stop(this.#call.late()));
    try {
      return await value;
    } finally {
      patience.cancel();
    }
  }
}

/** A signature is of the headers by their lower-case names, and names that differ in nothing else are one header. */
function lowered(headers: Readonly<Record<string, string>>): Record<string, string> {
  const out: Record<string, string> = {};
  for (const name in headers) out[name.toLowerCase()] = (headers[name] as string).trim();
  return out;
}

async function collected(upload: StreamedBody): Promise<Uint8Array> {
  const body = new CollectedBody();
  for (let bytes = await upload.next(); bytes !== undefined; bytes = await upload.next()) body.add(bytes);
  return body.whole();
}
