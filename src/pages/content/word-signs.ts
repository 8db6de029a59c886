// Words of class names and texts as signs of main content: "related" in the name of a container, "Add to cart" as a text, a heading
// "Similar topics" above. A fitted weight for each sign adds up to a first opinion of a block, which the trees then use.

import { sigmoid } from "./boost.ts";
import { contextRows, type Neighbourhood } from "./context.ts";
import { readWordSigns, type SignIndex } from "./word-reader.ts";

/** The fitted weights of one group of signs. */
export interface SignWeights {
  readonly bias: number;
  /** The hashes of the signs from the smallest to the largest, each as the distance from the one before. */
  readonly signs: readonly number[];
  /** The weight of each sign, in hundredths. */
  readonly weights: readonly number[];
}

/** The fitted weights of the words of names, and of the words of texts. */
export interface WordWeights {
  readonly names: SignWeights;
  readonly texts: SignWeights;
}

interface Table {
  readonly index: SignIndex;
  /** The weight of each sign, by its number. */
  readonly weights: Float64Array;
}

const tables = new WeakMap<WordWeights, Table>();

function tableOf(words: WordWeights): Table {
  let table = tables.get(words);
  if (table === undefined) {
    table = newTable(words);
    tables.set(words, table);
  }
  return table;
}

/** A table of hashes in which a sign stands at its last bits or, if that place is taken, in the next free one. */
function newTable({ names, texts }: WordWeights): Table {
  const weights = Float64Array.from([...names.weights, ...texts.weights], (weight) => weight / 100);
  const mask = 2 ** Math.ceil(Math.log2(2 * weights.length + 2)) - 1;
  const hashes = new Uint32Array(mask + 1);
  const numbers = new Int32Array(mask + 1).fill(-1);
  let number = 0;
  for (const { signs } of [names, texts]) {
    let sign = 0;
    for (const distance of signs) {
      sign += distance;
      let at = sign & mask;
      while ((numbers[at] as number) >= 0) at = (at + 1) & mask;
      hashes[at] = sign;
      numbers[at] = number++;
    }
  }
  const index: SignIndex = (sign) => {
    let at = sign & mask;
    while ((numbers[at] as number) >= 0 && hashes[at] !== sign) at = (at + 1) & mask;
    return numbers[at] as number;
  };
  return { index, weights };
}

/** The log odds of each block by the words of names, and by those of texts. */
export function wordOdds(neighbourhood: Neighbourhood, words: WordWeights): readonly (readonly [number, number])[] {
  const { index, weights } = tableOf(words);
  const sum = (bias: number, lists: readonly (readonly number[])[]) => {
    let odds = bias;
    for (const list of lists) for (let i = 0; i < list.length; i++) odds += weights[list[i] as number] as number;
    return odds;
  };
  return readWordSigns(neighbourhood, index).map(({ names, texts }) => [
    sum(words.names.bias, names),
    sum(words.texts.bias, texts),
  ]);
}

/** Both opinions are of about the same worth, and their mean is not sure enough. */
const MEAN_FACTOR = 0.6;

/** The rows of the second trees: with both opinions, and with what they and the first trees say of each neighbourhood. */
export function wordRows(
  neighbourhood: Neighbourhood,
  rows: readonly Float32Array[],
  { odds, first }: { readonly odds: readonly (readonly [number, number])[]; readonly first: readonly number[] },
): Float32Array[] {
  const byWords = odds.map(([names, texts]) => sigmoid((names + texts) * MEAN_FACTOR));
  return contextRows(neighbourhood, rows, { own: odds, verdicts: [byWords, first] });
}
