// The page of providers, generated from the vendors' files.

import { packedVendors } from "../../src/catalog/pack-metadata.ts";
import { cloudOrigin, filled } from "../../src/vendors/cloud.ts";
import { CALLABLE, type CallableVendor } from "../../src/vendors/look-up.ts";
import type { Quirks } from "../../src/vendors/quirks.ts";
import type { VendorApi } from "../../src/vendors/vendor.ts";

const PACKED = packedVendors();

/** The page's text. */
export function providerPage(): string {
  return `# Providers

<!-- Written by \`bun run generate\` from src/vendors; change it there. -->

An entry of \`providers\` in the configuration that bears one of these names, or names it as its \`preset\`, needs no more than
its key. The variable holds that key or, where it says so, the server's address; a variable marked with ✓ is enough by
itself when nothing is configured. With *prices*, costs and budgets work without further configuration; those of a deployment
at Microsoft are known if it bears its model's own name, and \`models[].prices\` takes precedence everywhere.

| provider | preset | variable | ✓ | kind | \`base_url\` | prices | |
|---|---|---|---|---|---|---|---|
${CALLABLE.map(row).join("\n")}

## Clouds

In a cloud, one account reaches models of several makers. The address follows from the entry's keys, and a model's name decides
the protocol; \`routes[].protocol\` decides it where the name says nothing. A client that speaks one of a model's protocols
is not translated. Without an \`api_key\`, \`credentials\` apply, and the variables of the cloud's own tools where these are empty.
\`base_url\` replaces the host; the paths stay.

${CALLABLE.flatMap(cloudSection).join("\n\n")}

## One by one

What each takes and what is changed for it, with an entry that works. A parameter that is left out is named in the answer's header
\`x-sallyport-dropped\`.

${CALLABLE.flatMap(vendorSection).join("\n\n")}

Every other server that speaks one of the protocols is an entry of its own with \`kind\` and \`base_url\`.
`;
}

function row({ name, title, api }: CallableVendor): string {
  const { kind, baseUrl, variable, note = "" } = api;
  const cells = [
    title,
    `\`${name}\``,
    variable === undefined ? "" : `\`${variable.name}\`${variable.holds === "address" ? " (address)" : ""}`,
    variable?.alone === true ? "✓" : "",
    kindsOf(kind, api),
    baseUrl === "" ? "" : `\`${baseUrl}\``,
    isPriced(api) ? "yes" : "",
    note,
  ];
  return `| ${cells.join(" | ")} |`;
}

/** Whether prices are known at its address. Two vendors may share one. */
function isPriced({ baseUrl, figures, cloud }: VendorApi): boolean {
  const places = { region: "us-east-1", project: "my-project", resource: "my-resource" };
  const address = cloud === undefined ? baseUrl : filled(cloudOrigin(cloud, places), places);
  return figures !== undefined || PACKED.some(({ url }) => new RegExp(`^${url}`).test(address));
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

/** What is to be known of a vendor that is no cloud, with an example that a test loads. */
function vendorSection({ name, title, api }: CallableVendor): string[] {
  if (api.cloud !== undefined || api.embedded !== undefined) return [];
  const { variable, baseUrl, models, note } = api;
  const facts = Object.entries(api.dialects).flatMap(([dialect, quirks]) => quirkLines(dialect, quirks));
  const lines = [
    `- Takes ${takes(api)}.`,
    `- Address: ${baseUrl === "" ? "your own" : `\`${baseUrl}\``}${variable === undefined ? "" : `; ${variable.holds}: \`${variable.name}\``}.`,
    `- Models: ${models === undefined ? "it has no usable list, so they are configured" : "from its list"}.`,
    ...(note === undefined ? [] : [`- ${note}`]),
    ...facts,
  ];
  return [`### ${title}\n\n${lines.join("\n")}\n\n\`\`\`yaml\n${vendorExample(name)}\n\`\`\``];
}

function takes({ kind, dialects }: VendorApi): string {
  const quirks = dialects["openai-chat"] ?? {};
  if (quirks.audio !== undefined) return "speech and transcriptions";
  if (quirks.embeddings !== undefined) return "embeddings and rerank";
  if (Object.keys(dialects).length === 0) return "typed decisions";
  const chats = `chats (${kindsOf(kind, { dialects } as VendorApi)})`;
  return quirks.rerank === undefined ? chats : `${chats}, embeddings and rerank`;
}

/** A vendor's differences in a protocol, in the words of the configuration's schema. */
function quirkLines(dialect: string, quirks: Quirks): string[] {
  const { refuses = [], decision_body: _body, ...others } = quirks;
  const left =
    refuses.length === 0 ? [] : [`- Left out (${dialect}): ${refuses.map((one) => `\`${one}\``).join(", ")}.`];
  const changed = Object.entries(others).filter(([, value]) => typeof value !== "object");
  const words = changed.map(([quirk, value]) => `\`${quirk}: ${String(value)}\``).join(", ");
  return words === "" ? left : [...left, `- [Quirks](configuration.md#providers) (${dialect}): ${words}.`];
}

/** An example configuration of a vendor that is no cloud; "" for others. */
export function vendorExample(name: string): string {
  const api = CALLABLE.find((vendor) => vendor.name === name)?.api;
  if (api === undefined || api.cloud !== undefined || api.embedded !== undefined) return "";
  const { variable, baseUrl, dialects, models, kind } = api;
  const quirks = dialects["openai-chat"] ?? {};
  const own = baseUrl === "" ? [`    base_url: https://example.com${api.pathBelowHost ?? "/v1"}`] : [];
  const key = variable?.holds === "key" ? [`    api_key: "\${${variable.name}:-}"`] : [];
  const lines = ["providers:", `  ${name}:`, ...own, ...key];
  const entry = own.length + key.length === 0 ? ["providers:", `  ${name}: {}`] : lines;
  if (models !== undefined || Object.keys(dialects).length === 0 || kind === "systemone") return entry.join("\n");
  const offered = quirks.audio !== undefined ? "speech" : quirks.embeddings !== undefined ? "embedding" : "chat";
  const model = `  - { id: my-model, kind: ${offered}, routes: [{ provider: ${name}, model: its-name }] }`;
  return [...entry, "models:", model].join("\n");
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
