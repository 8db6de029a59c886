// A command line without a process: output is captured, stdin and answers are scripted.

import { PassThrough } from "node:stream";
import type { Io } from "../../src/cli/command.ts";

/** An `Io` that records its output. */
export class FakeTerminal implements Io {
  stdout = "";
  stderr = "";
  readonly interactive: boolean;
  readonly columns: number | undefined;
  readonly outColumns: number | undefined;
  readonly #stops = new Set<() => void>();
  readonly #stdin: string;
  readonly #answers: string[];

  constructor(
    options: { stdin?: string; answers?: string[]; interactive?: boolean; columns?: number; outColumns?: number } = {},
  ) {
    this.#stdin = options.stdin ?? "";
    this.#answers = [...(options.answers ?? [])];
    this.interactive = options.interactive ?? false;
    this.columns = options.columns;
    this.outColumns = options.outColumns;
  }
  onInterrupt(stop: () => void): () => void {
    this.#stops.add(stop);
    return () => this.#stops.delete(stop);
  }
  /** Presses Ctrl-C. */
  interrupt(): void {
    for (const stop of this.#stops) stop();
  }
  out(text: string): void {
    this.stdout += text;
  }
  err(text: string): void {
    this.stderr += text;
  }
  async readStdin(): Promise<string> {
    return this.#stdin;
  }
  /** Text written there is not part of `stdout`. */
  readonly streams = () => ({ input: this.input, output: this.output });
  readonly input = new PassThrough();
  readonly output = new PassThrough();
  async ask(question: string): Promise<string | undefined> {
    this.stderr += question;
    return this.#answers.shift();
  }
}
