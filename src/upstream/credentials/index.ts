// The kinds of credentials, one file each, which is loaded at the first call that needs it.

import { type Clock, systemClock } from "../../base/clock.ts";
import type { CredentialConfig } from "../../config/schema.ts";
import type { Credential } from "./credential.ts";

/** Creates the credential of a provider's configuration. */
export async function createCredential(config: CredentialConfig, clock: Clock = systemClock): Promise<Credential> {
  switch (config.kind) {
    case "aws":
      return (await import("./aws.ts")).awsCredential(config, clock);
    case "google":
      return (await import("./google.ts")).googleCredential(config, clock);
    case "entra":
      return (await import("./entra.ts")).entraCredential(config, clock);
    case "key":
      throw new Error("A key is sent as a header of the provider's card.");
  }
}
