// docs/reference/clients.md: the calls of client programs that the tests try.

import { CLIENT_CALLS } from "../../test/clients/calls.ts";

/** The page. */
export function clientsPage(): string {
  const clients = [...new Set(CLIENT_CALLS.map(({ client }) => client))];
  const paths = [...new Set(CLIENT_CALLS.map(({ method, path }) => `${method} ${bare(path)}`))];
  const does = (client: string, path: string) =>
    CLIENT_CALLS.some((call) => call.client === client && `${call.method} ${bare(call.path)}` === path);
  return `# Clients

Calls of programs that speak to a gateway like this one. Each is sent by a test (\`test/clients/calls.test.ts\`), which this page is
written from with \`bun run generate\`. The SDKs of OpenAI, Anthropic, Vercel, OpenRouter, Firecrawl and TypeSafe are tested as
programs of their own beside them (\`test/clients\`).

| endpoint | ${clients.join(" | ")} |
|---|${clients.map(() => "---|").join("")}
${paths.map((path) => `| \`${path}\` | ${clients.map((client) => (does(client, path) ? "yes" : "")).join(" | ")} |`).join("\n")}

| program | what for | call |
|---|---|---|
${CLIENT_CALLS.map(({ client, use, method, path }) => `| ${client} | ${use} | \`${method} ${bare(path)}\` |`).join("\n")}
`;
}

/** The path without its query, and with a parameter in place of the deployment's name. */
function bare(path: string): string {
  return (path.split("?")[0] as string).replace(/(\/deployments\/)[^/]+/, "$1NAME");
}
