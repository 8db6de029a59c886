// docs/reference/clients.md: the calls of client programs that the tests try, and what programs did over each protocol.

import AGENT_RUNS from "../../test/clients/agent-runs.json";
import { CLIENT_CALLS } from "../../test/clients/calls.ts";
import { CLIENT_RUNS, type ClientRun } from "../../test/clients/runs.ts";
import { DIALECTS } from "../../test/support/fake-model.ts";

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

## What programs do over each protocol

Unmodified programs and SDKs, over providers of each protocol. The SDKs run in the tests (\`test/clients\`), which fail if they did
anything else than is listed here. The agents are run by hand with \`bun scripts/agents.ts --write\`, which writes their lines.

| program | what it does | ${DIALECTS.join(" | ")} |
|---|---|${DIALECTS.map(() => "---|").join("")}
${[...CLIENT_RUNS, ...(AGENT_RUNS as ClientRun[])].map(rowOf).join("\n")}
`;
}

function rowOf({ client, did, over }: ClientRun): string {
  return `| ${client} | ${did} | ${DIALECTS.map((name) => (over.includes(name) ? "yes" : "")).join(" | ")} |`;
}

/** The path without its query, and with a parameter in place of the deployment's name. */
function bare(path: string): string {
  return (path.split("?")[0] as string).replace(/(\/deployments\/)[^/]+/, "$1NAME");
}
