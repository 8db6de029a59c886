// What clients do in tests over every protocol of providers. Each of these tests notes what it did, and fails if the list says
// anything else; docs/reference/clients.md has the list as a table.

import { DIALECTS } from "../support/fake-model.ts";

/** What a client did, and over which protocols of providers. */
export interface ClientRun {
  readonly client: string;
  readonly did: string;
  readonly over: readonly string[];
}

const GOOGLE = "Google's SDK (@google/genai)";
const OLLAMA = "Ollama's client (ollama)";
const OPENAI_SOCKET = "OpenAI's SDK (responses/ws)";

const DONE: Readonly<Record<string, readonly string[]>> = {
  [GOOGLE]: [
    "gets a whole answer with its usage",
    "chats in a stream with thoughts and two calls, and goes on with the results",
    "gets structured output, sends a picture, and forces a call",
    "throws a provider's error within a stream",
    "reads a stream as a list",
    "counts tokens",
  ],
  [OLLAMA]: [
    "gets a whole answer with its usage",
    "chats in a stream with thoughts and a call, and goes on with the result",
    "sends a picture and gets structured output",
    "throws a provider's error within a stream",
  ],
  [OPENAI_SOCKET]: [
    "gets a streamed answer with its usage",
    "gets a call, and goes on with the result although nothing is stored",
    "gives a running answer new input",
  ],
};

/** All that is done over every protocol. */
export const CLIENT_RUNS: readonly ClientRun[] = Object.entries(DONE).flatMap(([client, all]) =>
  all.map((did) => ({ client, did, over: DIALECTS })),
);

/** Notes what one client did. */
export function notedRuns(client: string) {
  const noted = new Map<string, string[]>();
  return {
    did(what: string, dialect: string): void {
      noted.set(what, [...(noted.get(what) ?? []), dialect]);
    },
    /** What was done, in the form of the list. */
    all: (): ClientRun[] => [...noted].map(([did, over]) => ({ client, did, over })),
    listed: CLIENT_RUNS.filter((run) => run.client === client),
  };
}
