// The recipe of a stage, performed in a copy of the repository: a guardrail and a cache are one folder and one line in the list
// each, with no change of the centre. They are real ones in small: the mask holds over chunks, and the cache sees masked requests
// only, so that another person's request hits it and gets that person's own name back.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Copy, copyRepository } from "./recipe.ts";
import { RULES } from "./rules.ts";
import { readFiles } from "./source.ts";

const TIMEOUT_MS = 120_000;

const MASK = `// Hides the name that a client states of itself from providers, and restores it in the answer.

import { type HearEvent, reread, type Stage, type StageRun } from "../../centre/stage.ts";

const NAME = /my name is (\\w+)/i;
const MASK = "[NAME]";

/** The stage. */
export const maskStage: Stage = {
  name: "mask",
  open({ text }) {
    const name = NAME.exec(text)?.[1];
    return name === undefined ? undefined : runOf(name);
  },
};

function runOf(name: string): StageRun {
  return {
    prepare(turn) {
      const content = JSON.parse(JSON.stringify(turn.content).replaceAll(name, MASK)) as Record<string, unknown>;
      const members = turn.members && { ...turn.members, messages: content["messages"] };
      return { why: "mask", content, chat: reread(turn, content), members };
    },
    hears: () => unmasking(name),
  };
}

/** Holds back the end of a text while it may be the beginning of a mask. */
function unmasking(name: string): HearEvent {
  let held = "";
  return (event) => {
    if (event.type === "text-end") return [{ type: "text-delta", choice: event.choice, id: event.id, text: held }, event];
    if (event.type !== "text-delta") return [event];
    const text = (held + event.text).replaceAll(MASK, name);
    let kept = Math.min(MASK.length - 1, text.length);
    while (!text.endsWith(MASK.slice(0, kept))) kept--;
    held = text.slice(text.length - kept);
    return [{ ...event, text: text.slice(0, text.length - kept) }];
  };
}
`;

const CACHE = `// Answers an equal request with the answer that was given before, if its temperature is 0.

import type { ChatEvent } from "../../../chat/event.ts";
import type { Stage, StageRun } from "../../centre/stage.ts";

const ANSWERS_MAX = 100;

const answers = new Map<string, readonly ChatEvent[]>();

/** The stage. */
export const cacheStage: Stage = { name: "cache", open: ({ chat }) => (chat.temperature === 0 ? runOf() : undefined) };

function runOf(): StageRun {
  let key = "";
  return {
    prepare({ chat, model }) {
      key = JSON.stringify([model.id, chat.messages]);
      const events = answers.get(key);
      return events && { why: "cache", answer: async () => ({ events }) };
    },
    hears() {
      const heard: ChatEvent[] = [];
      return (event) => {
        heard.push(event);
        if (event.type === "finish" && answers.size < ANSWERS_MAX) answers.set(key, heard);
        return [event];
      };
    },
  };
}
`;

const TOYS_TEST = `// The mask and the cache through the running program.

import { afterAll, beforeEach, expect, test } from "bun:test";
import { startTestApp } from "../../support/app.ts";
import { chatAnswer, chatChunk, type Received, sse, startUpstream } from "../../support/upstream.ts";

const upstream = startUpstream();
const app = await startTestApp({
  config: {
    providers: { up: { kind: "openai", base_url: upstream.baseUrl, api_key: "k", discover: false } },
    models: [{ id: "m", routes: [{ provider: "up", model: "up-model" }] }],
  },
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});

let seen: string[] = [];
beforeEach(() => {
  seen = [];
  upstream.answer((received: Received) => {
    const sent = received.text;
    seen.push(sent);
    if (!sent.includes('"stream":true')) return chatAnswer({ content: "Hello [NAME]! You said [NAM." });
    const chunks = [chatChunk({ content: "Hello [NA" }), chatChunk({ content: "ME]! You said [NAM" }), chatChunk({ content: "." })];
    return sse([...chunks, chatChunk({}, { finish: "stop" }), "data: [DONE]\\n\\n"]);
  });
});

async function ask(path: string, name: string, more: Record<string, unknown>): Promise<string> {
  const messages = [{ role: "user", content: "My name is " + name + "." }];
  const answer = await app.post(path, { model: "m", messages, max_tokens: 100, ...more });
  const text = await answer.text();
  expect(answer.status).toBe(200);
  if (!text.includes("data:")) return /"(?:content|text)":"(Hello[^"]*)"/.exec(text)?.[1] ?? text;
  return [...text.matchAll(/"(?:content|text)":"([^"]*)"/g)].map(([, piece]) => piece).join("");
}

const PATHS = ["/v1/chat/completions", "/v1/messages"];

test.each(PATHS.flatMap((path) => [false, true].map((stream) => [path, stream] as const)))(
  "a mask holds over chunks: %s, stream %p",
  async (path, stream) => {
    expect(await ask(path, "Ada", { stream })).toBe("Hello Ada! You said [NAM.");
    expect(seen).toHaveLength(1);
    expect(seen[0]).toContain("My name is [NAME].");
    expect(seen[0]).not.toContain("Ada");
  },
);

test.each(PATHS)("a masked request hits the cache, and its client gets its own name: %s", async (path) => {
  const more = { temperature: 0, top_p: path === PATHS[0] ? 0.5 : 0.6 };
  // The same messages in another format would hit the cache too.
  const own = path === PATHS[0] ? {} : { system: path };
  expect(await ask(path, "Ada", { ...more, ...own })).toBe("Hello Ada! You said [NAM.");
  const before = seen.length;
  expect(await ask(path, "Bob", { ...more, ...own })).toBe("Hello Bob! You said [NAM.");
  expect(await ask(path, "Eve", { ...more, ...own, stream: true })).toBe("Hello Eve! You said [NAM.");
  expect(seen.length).toBe(before);
});

test("a request that needs neither is relayed", async () => {
  const answer = await app.post("/v1/chat/completions", { model: "m", messages: [{ role: "user", content: "Hi" }] });
  expect(await answer.json()).toMatchObject({ choices: [{ message: { content: "Hello [NAME]! You said [NAM." } }] });
});
`;

let copy: Copy;
let before: ReadonlyMap<string, string>;
beforeAll(async () => {
  copy = copyRepository();
  before = await readFiles(copy.dir, ["src"]);
  const list = "src/gateway/stages/index.ts";
  for (const [name, text] of Object.entries({ mask: MASK, cache: CACHE })) {
    copy.add(`src/gateway/stages/${name}/stage.ts`, text);
    copy.addLine(list, "import type { GuardedFetch }", `import { ${name}Stage } from "./${name}/stage.ts";`);
    copy.addLine(list, "// Chooses among the routes", `    { stage: ${name}Stage, opens: ASKED },`);
  }
  copy.add("test/gateway/stages/toys.test.ts", TOYS_TEST);
});
afterAll(() => copy.remove());

test("a guardrail and a cache are one folder and one line in the list each", async () => {
  const after = await readFiles(copy.dir, ["src"]);
  const touched = [...after].filter(([path, text]) => before.get(path) !== text).map(([path]) => path);
  expect(touched.sort()).toEqual([
    "src/gateway/stages/cache/stage.ts",
    "src/gateway/stages/index.ts",
    "src/gateway/stages/mask/stage.ts",
  ]);
  const rules = RULES.filter(
    ({ name }) => name.startsWith("the gateway's centre") || name.startsWith("a stage is named"),
  );
  expect(rules.flatMap((rule) => rule.check(after).violations)).toEqual([]);
});

test(
  "they work, streamed and whole, relayed and translated",
  async () => {
    const { ok, text } = await copy.bun("test", "test/gateway/stages/toys.test.ts");
    expect(ok, text).toBe(true);
  },
  TIMEOUT_MS,
);
