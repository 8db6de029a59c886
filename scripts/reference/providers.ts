// The page of providers, generated from the vendors' files.

import { CALLABLE, type CallableVendor } from "../../src/vendors/look-up.ts";
import type { VendorApi } from "../../src/vendors/vendor.ts";

/** The page's text. */
export function providerPage(): string {
  return `# Providers

<!-- Written by \`bun run generate\` from src/vendors; change it there. -->

An entry of \`providers\` in the configuration that bears one of these names, or names it as its \`preset\`, needs no more than
its key. The variable holds that key or, where it says so, the server's address; a variable marked with ✓ is enough by
itself when nothing is configured. With *prices*, costs and budgets work without further configuration.

| provider | preset | variable | ✓ | kind | \`base_url\` | prices | |
|---|---|---|---|---|---|---|---|
${CALLABLE.map(row).join("\n")}

## Clouds

In a cloud, one account reaches models of several makers. The address follows from the entry's keys, and a model's name decides
the protocol; \`routes[].protocol\` decides it where the name says nothing. A client that speaks one of a model's protocols
is not translated. Without an \`api_key\`, \`credentials\` apply, and the variables of the cloud's own tools where these are empty.
\`base_url\` replaces the host; the paths stay.

${CALLABLE.flatMap(cloudSection).join("\n\n")}

Every other server that speaks one of the protocols is an entry of its own with \`kind\` and \`base_url\`.
`;
}

function row({ name, title, api }: CallableVendor): string {
  const { kind, baseUrl, variable, figures, note = "" } = api;
  const cells = [
    title,
    `\`${name}\``,
    variable === undefined ? "" : `\`${variable.name}\`${variable.holds === "address" ? " (address)" : ""}`,
    variable?.alone === true ? "✓" : "",
    kindsOf(kind, api),
    baseUrl === "" ? "" : `\`${baseUrl}\``,
    figures === undefined ? "" : "yes",
    note,
  ];
  return `| ${cells.join(" | ")} |`;
}

function kindsOf(kind: string, { dialects }: VendorApi): string {
  const also = kind !== "openai-responses" && dialects["openai-responses"] !== undefined;
  return also ? `\`${kind}\`, \`openai-responses\`` : `\`${kind}\``;
}

/** How a cloud's models are reached, with an example that a test loads. */
function cloudSection({ name, title, api }: CallableVendor): string[] {
  const { cloud, variable } = api;
  if (cloud === undefined) return [];
  const origin = cloud.origins.at(-1)?.origin ?? "";
  const rows = cloud.offers.map(
    ({ example, protocols, path, origin: other, shape }) =>
      `| \`${example}\` | ${protocols.map((protocol) => `\`${protocol}\``).join(", ")} | \`${(other ?? origin) + path}\`${shape === undefined ? "" : ` (${shape})`} |`,
  );
  const key = variable?.name ?? cloud.keyVariable;
  const variables = Object.entries(cloud.places).map(
    ([place, { variables: names, usual }]) =>
      `\`${place}\` (${names.map((one) => `\`${one}\``).join(", ")}${usual === undefined ? "" : `, else \`${usual}\``})`,
  );
  return [
    `### ${title}

Keys of the entry, with the variables that stand in for them: ${variables.join(", ")}${key === undefined ? "" : `, \`api_key\` (\`${key}\`)`}.
Its credentials are of the kind \`${cloud.credential}\`.

| a model such as | protocol | address |
|---|---|---|
${rows.join("\n")}

\`\`\`yaml
${cloudExample(name)}
\`\`\``,
  ];
}

/** An example configuration of a cloud; "" for other vendors. */
export function cloudExample(name: string): string {
  const { cloud, variable } = CALLABLE.find((vendor) => vendor.name === name)?.api ?? {};
  if (cloud === undefined) return "";
  const values = { region: cloud.places.region?.usual ?? "us-east-1", project: "my-project", resource: "my-resource" };
  const places = Object.keys(cloud.places).map((place) => `    ${place}: ${values[place as keyof typeof values]}`);
  const example = cloud.offers[0]?.example;
  return [
    "providers:",
    `  ${name}:`,
    ...places,
    cloud.credential === "key"
      ? `    api_key: "\${${variable?.name ?? ""}:-}"`
      : `    credentials: ${EXAMPLE_CREDENTIALS[cloud.credential]}`,
    "models:",
    `  - id: ${cloud.credential === "key" ? "my-model" : "claude"}`,
    `    routes: [{ provider: ${name}, model: "${example}" }]`,
  ].join("\n");
}

const EXAMPLE_CREDENTIALS = {
  aws: "{ kind: aws } # AWS_ACCESS_KEY_ID, AWS_PROFILE, or the role of the machine",
  google: "{ kind: google, file: /run/secrets/service-account.json }",
  entra: '{ kind: entra, tenant: my-tenant, client_id: my-client, client_secret: "${AZURE_CLIENT_SECRET:-}" }',
} as const;
