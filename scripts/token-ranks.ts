// Packs the vocabulary of o200k_base for src/tokens/ranks.ts: one byte with the length of each token, in the order of
// rank, then the bytes of the tokens, all compressed. Usage: bun scripts/token-ranks.ts (after a new version of
// gpt-tokenizer)

import { join } from "node:path";
import { constants, zstdCompressSync } from "node:zlib";

const root = join(import.meta.dir, "..");
const source = await Bun.file(join(root, "node_modules/gpt-tokenizer/data/o200k_base.tiktoken")).text();

const tokens = source
  .trim()
  .split("\n")
  .map((line, rank) => {
    const [base64, given] = line.split(" ");
    const bytes = Buffer.from(base64 ?? "", "base64");
    // The file contains no ranks, so they must be the positions. A length must fit into one byte.
    if (Number(given) !== rank || bytes.length === 0 || bytes.length > 255) throw new Error(`Unexpected rank: ${line}`);
    return bytes;
  });

const raw = Buffer.concat([Buffer.from(tokens.map((bytes) => bytes.length)), ...tokens]);
const packed = zstdCompressSync(raw, { params: { [constants.ZSTD_c_compressionLevel]: 22 } });
const target = join(root, "src/tokens/o200k.zst");
await Bun.write(target, packed);
console.log(`${target}: ${tokens.length} tokens, ${raw.length} bytes packed into ${packed.length}`);
