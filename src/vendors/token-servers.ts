// Where the clouds give tokens. Read only by providers that have such credentials.
// Sources: docs.aws.amazon.com/sdkref/latest/guide (standardized credentials), AWSEC2 instance metadata (IMDSv2);
// developers.google.com/identity/protocols/oauth2/service-account, cloud.google.com/compute/docs/metadata;
// learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow and
// /entra/identity/managed-identities-azure-resources/how-to-use-vm-token (2026-11).

/** Amazon: temporary keys. */
export const AWS = {
  /** The usual service of signatures for models. */
  service: "bedrock",
  /** The security token service. */
  sts: (region: string) => `https://sts.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}/`,
  instance: "http://169.254.169.254",
  container: "http://169.254.170.2",
} as const;

/** Google: access tokens. */
export const GOOGLE = {
  tokens: "https://oauth2.googleapis.com/token",
  scope: "https://www.googleapis.com/auth/cloud-platform",
  metadata: "http://metadata.google.internal",
} as const;

/** Microsoft: access tokens of Entra ID. */
export const ENTRA = {
  authority: "https://login.microsoftonline.com",
  /** For the v1 paths and the other models of Foundry. */
  scope: "https://ai.azure.com/.default",
  instance: "http://169.254.169.254",
} as const;
