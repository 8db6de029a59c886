// Random numbers that are the same for the same seed, so that a failure can be repeated.

/** A generator of numbers in [0, 1). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
}

const WORDS =
  "stone river lantern copper orchard signal harbour velvet thunder meadow compass ember willow anchor".split(" ");

/** A list of this many random words. */
export function words(count: number, random: () => number): string[] {
  return Array.from({ length: count }, () => `${WORDS[Math.floor(random() * WORDS.length)]} `);
}
