// What a set of trials is given by the script that counts them.

export interface Trials {
  /** Where things may be put; it is removed at the end. */
  readonly folder: string;
  /** One trial: `problem` gives what is wrong. */
  trial(name: string, problem: () => Promise<string | undefined>): Promise<void>;
  skip(name: string, count: number, why?: string): void;
  /** A command's exit code and what it said. */
  run(command: string[], cwd: string, env?: Record<string, string>): Promise<{ code: number; said: string }>;
}
