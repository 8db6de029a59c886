// The questions of the trial and their answers. Both the fake provider and the client derive the answer from the
// question's id alone, so that an answer to another question is noticed.

/** The usage that the provider reports for an answer. */
export interface Cost {
  readonly input: number;
  readonly output: number;
}

const WORDS = "stone river lantern copper orchard signal harbour velvet thunder meadow compass ember".split(" ");
const ID = /question-[0-9a-f-]{36}/;

/** Creates the id of a new question. */
export const newQuestion = (): string => `question-${crypto.randomUUID()}`;

/** Finds the id in the text of a request. */
export function questionIn(text: string): string | undefined {
  return ID.exec(text)?.[0];
}

/** The words of the answer. The first one is the id. */
export function answerTo(id: string): string[] {
  const seed = Number(Bun.hash.crc32(id));
  return [id, ...Array.from({ length: 5 + (seed % 20) }, (_, at) => ` ${WORDS[(seed + at * 7) % WORDS.length]}`)];
}

export function costOf(id: string): Cost {
  return { input: 10 + (Number(Bun.hash.crc32(id)) % 50), output: answerTo(id).length };
}

/** The probability that answers a typed decision, and its usage. */
export const probabilityOf = (id: string): number => 0.05 + (Number(Bun.hash.crc32(id)) % 90) / 100;
export const DECISION_COST: Cost = { input: 20, output: 2 };
