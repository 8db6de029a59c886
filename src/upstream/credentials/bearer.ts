// Access tokens in `authorization`, whatever server they come from.

import type { Clock } from "../../base/clock.ts";
import type { Credential } from "./credential.ts";
import { RenewedToken, type Token } from "./renewed-token.ts";

/** Where tokens come from. */
export interface TokenSource {
  readonly name: string;
  /** Sent beside the token. */
  readonly headers?: Readonly<Record<string, string>>;
  fetch(): Promise<Token<string>>;
}

/** The credential that sends the tokens of a source, which is looked up anew for every token. */
export function bearerCredential(sourceOf: () => Promise<TokenSource>, clock: Clock): Credential {
  let name = "";
  const tokens = new RenewedToken(async () => {
    const source = await sourceOf();
    ({ name } = source);
    const { value, endsMs } = await source.fetch();
    const headers: Readonly<Record<string, string>> = { authorization: `Bearer ${value}`, ...source.headers };
    return { value: headers, endsMs };
  }, clock);
  return {
    headers: (_call, signal) => tokens.get(signal),
    // The token may have been revoked before its end.
    refused: (answer, sent) => answer.status === 401 && tokens.drop(sent),
    async describe() {
      await tokens.get();
      return name;
    },
  };
}
