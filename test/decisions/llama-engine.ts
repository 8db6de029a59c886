// llama.cpp itself with a model of random weights, behind the part of its server API that decisions use. Nothing is downloaded or
// built. If its binary is not installed, there is no engine, and the skip reason says so.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getLlama, type Token } from "node-llama-cpp";
import { randomModel } from "../support/random-model.ts";
import { type Fake, startFake } from "./support.ts";

export interface Engine extends Omit<Fake, "stop"> {
  /** Every token after a prompt with its log-probability, the most probable one first. */
  readonly said: Map<string, { token: string; logprob: number }[]>;
  stop(): Promise<void>;
}

/** Starts the engine, or says why it cannot start. */
export async function startEngine(): Promise<Engine | string> {
  const dir = mkdtempSync(join(tmpdir(), "engine-"));
  const modelPath = join(dir, "random.gguf");
  await Bun.write(modelPath, randomModel(7));
  try {
    return await start(modelPath, () => rmSync(dir, { recursive: true, force: true }));
  } catch (error) {
    rmSync(dir, { recursive: true, force: true });
    return error instanceof Error ? error.message : String(error);
  }
}

async function start(modelPath: string, clean: () => void): Promise<Engine> {
  const llama = await getLlama({ gpu: false, build: "never", skipDownload: true, progressLogs: false });
  const model = await llama.loadModel({ modelPath });
  const context = await model.createContext({ contextSize: 8192, sequences: 1, threads: 1 });
  const sequence = context.getSequence();
  const piece = (token: Token) => model.detokenize([token]);

  /** The logits after a prompt. Prompts run one at a time, since there is one sequence. */
  let turn: Promise<unknown> = Promise.resolve();
  const logits = (prompt: string): Promise<Map<Token, number>> => {
    const made = turn.then(async () => {
      await sequence.clearHistory();
      const tokens = model.tokenize(prompt);
      const last = tokens.pop()!;
      const out = await sequence.controlledEvaluate([...tokens, [last, { generateNext: { logits: true } }]]);
      return out.at(-1)!.next.logits!;
    });
    turn = made.catch(() => undefined);
    return made;
  };

  const said: Engine["said"] = new Map();
  const fake = startFake(async (body, path) => {
    if (path === "/tokenize") {
      const tokens = model.tokenize(body.content).map((id) => ({ id, piece: piece(id) }));
      return Response.json({ tokens });
    }
    const prompt = body.messages.map((message: { content: string }) => message.content).join("\n");
    const scores = [...(await logits(prompt))].sort((a, b) => b[1] - a[1]);
    const norm = scores[0]![1] + Math.log(scores.reduce((sum, [, x]) => sum + Math.exp(x - scores[0]![1]), 0));
    const shown = scores.map(([id, x]) => ({ id, token: piece(id), bytes: null, logprob: x - norm }));
    said.set(prompt, shown);
    const top_logprobs = shown.slice(0, body.top_logprobs);
    const logprobs = { content: [{ ...shown[0], top_logprobs }] };
    const message = { role: "assistant", content: shown[0]!.token };
    const usage = { prompt_tokens: model.tokenize(prompt).length, completion_tokens: 1 };
    const choices = [{ index: 0, message, logprobs, finish_reason: "length" }];
    return Response.json({ id: "x", object: "chat.completion", created: 1, model: "random", choices, usage });
  });
  return {
    ...fake,
    said,
    async stop() {
      fake.stop();
      await llama.dispose();
      clean();
    },
  };
}
