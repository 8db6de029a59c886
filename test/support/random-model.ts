// A llama model with random weights in the GGUF format, a few hundred kilobytes in size. Its output is noise, but
// always the same noise, and often begins with a capital letter. With it a real engine can run where no real model is
// available.

/** The vocabulary: letters, pairs of letters, and bytes. It is small, so that the model runs anywhere. */
const WIDTH = 32;
const INNER = 64;
const HEADS = 4;
const LAYERS = 2;
const CONTEXT = 8192;

/** The numbers of the types of metadata values in the format. */
const U32 = 4;
const I32 = 5;
const F32 = 6;
const BOOL = 7;
const TEXT = 8;
const LIST = 9;

/** The numbers of the types of tokens in the format. */
const NORMAL = 1;
const UNKNOWN = 2;
const CONTROL = 3;
const BYTE = 6;

const LETTERS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];

/** The content of the model's file. */
export function randomModel(seed: number): Uint8Array {
  const vocabulary = tokens();
  const tensors = weights(vocabulary, seed);
  const out = new Writer();
  out.raw(new TextEncoder().encode("GGUF"));
  out.u32(3);
  out.u64(tensors.length);
  const metadata = metadataOf(vocabulary);
  out.u64(metadata.length);
  for (const write of metadata) write(out);
  let offset = 0;
  for (const { name, shape, values } of tensors) {
    out.text(name);
    out.u32(shape.length);
    for (const size of shape) out.u64(size);
    out.u32(0);
    out.u64(offset);
    offset += aligned(values.byteLength);
  }
  out.align();
  for (const { values } of tensors) {
    out.raw(new Uint8Array(values.buffer));
    out.align();
  }
  return out.bytes();
}

interface Token {
  text: string;
  type: number;
  /** How strongly the model prefers to begin with this token. */
  liking: number;
}

function tokens(): Token[] {
  const normal = (text: string, liking = 0): Token => ({ text, type: NORMAL, liking });
  return [
    { text: "<unk>", type: UNKNOWN, liking: 0 },
    { text: "<s>", type: CONTROL, liking: 0 },
    { text: "</s>", type: CONTROL, liking: 0 },
    ...Array.from({ length: 256 }, (_, byte) => ({
      text: `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`,
      type: BYTE,
      liking: 0,
    })),
    normal("▁"),
    ...LETTERS.map((letter, at) => normal(letter, 2 - at / 25)),
    ...LETTERS.map((letter) => normal(`▁${letter}`, 0.5)),
    ...LETTERS.flatMap((first) => LETTERS.map((second) => normal(first + second, 0.8))),
  ];
}

function metadataOf(vocabulary: readonly Token[]): ((out: Writer) => void)[] {
  const u32 = (key: string, value: number) => (out: Writer) => out.key(key, U32).u32(value);
  const bool = (key: string, value: boolean) => (out: Writer) => out.key(key, BOOL).raw(Uint8Array.of(value ? 1 : 0));
  const text = (key: string, value: string) => (out: Writer) => out.key(key, TEXT).text(value);
  const list = (key: string, type: number, write: (out: Writer, token: Token, at: number) => void) => (out: Writer) => {
    out.key(key, LIST).u32(type);
    out.u64(vocabulary.length);
    vocabulary.forEach((token, at) => {
      write(out, token, at);
    });
  };
  return [
    text("general.architecture", "llama"),
    text("general.name", "random"),
    u32("llama.context_length", CONTEXT),
    u32("llama.embedding_length", WIDTH),
    u32("llama.block_count", LAYERS),
    u32("llama.feed_forward_length", INNER),
    u32("llama.attention.head_count", HEADS),
    u32("llama.rope.dimension_count", WIDTH / HEADS),
    (out) => out.key("llama.attention.layer_norm_rms_epsilon", F32).f32(1e-5),
    text("tokenizer.ggml.model", "llama"),
    list("tokenizer.ggml.tokens", TEXT, (out, token) => out.text(token.text)),
    // Of two possible merges, the one with the higher score is chosen.
    list("tokenizer.ggml.scores", F32, (out, _, at) => out.f32(-at)),
    list("tokenizer.ggml.token_type", I32, (out, token) => out.u32(token.type)),
    u32("tokenizer.ggml.unknown_token_id", 0),
    u32("tokenizer.ggml.bos_token_id", 1),
    u32("tokenizer.ggml.eos_token_id", 2),
    bool("tokenizer.ggml.add_bos_token", true),
    bool("tokenizer.ggml.add_space_prefix", false),
  ];
}

interface Tensor {
  name: string;
  shape: number[];
  values: Float32Array;
}

function weights(vocabulary: readonly Token[], seed: number): Tensor[] {
  const random = normals(seed);
  const noise = (name: string, shape: number[], scale: number): Tensor => {
    const count = shape.reduce((all, size) => all * size, 1);
    return { name, shape, values: Float32Array.from({ length: count }, () => random() * scale) };
  };
  const ones = (name: string): Tensor => ({ name, shape: [WIDTH], values: new Float32Array(WIDTH).fill(1) });
  const embedding = noise("token_embd.weight", [WIDTH, vocabulary.length], 0.5);
  const output = noise("output.weight", [WIDTH, vocabulary.length], 0.15);
  // The first coordinate is the same for all tokens, so its output weights are the model's preferences for tokens.
  vocabulary.forEach(({ liking }, at) => {
    embedding.values[at * WIDTH] = 3;
    output.values[at * WIDTH] = liking;
  });
  const layers = Array.from({ length: LAYERS }, (_, layer) => [
    ones(`blk.${layer}.attn_norm.weight`),
    ...["attn_q", "attn_k", "attn_v", "attn_output"].map((part) =>
      noise(`blk.${layer}.${part}.weight`, [WIDTH, WIDTH], 0.15),
    ),
    ones(`blk.${layer}.ffn_norm.weight`),
    noise(`blk.${layer}.ffn_gate.weight`, [WIDTH, INNER], 0.15),
    noise(`blk.${layer}.ffn_up.weight`, [WIDTH, INNER], 0.15),
    noise(`blk.${layer}.ffn_down.weight`, [INNER, WIDTH], 0.15),
  ]);
  return [embedding, ...layers.flat(), ones("output_norm.weight"), output];
}

/** Normally distributed random numbers, determined by the seed. */
function normals(seed: number): () => number {
  let state = seed >>> 0;
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

const ALIGNMENT = 32;
const aligned = (size: number) => Math.ceil(size / ALIGNMENT) * ALIGNMENT;

/** Appends values as little-endian bytes. */
class Writer {
  readonly #parts: Uint8Array[] = [];
  #size = 0;

  raw(part: Uint8Array): this {
    this.#parts.push(part);
    this.#size += part.byteLength;
    return this;
  }

  u32(value: number): this {
    return this.raw(new Uint8Array(Uint32Array.of(value).buffer));
  }

  u64(value: number): this {
    return this.raw(new Uint8Array(BigUint64Array.of(BigInt(value)).buffer));
  }

  f32(value: number): this {
    return this.raw(new Uint8Array(Float32Array.of(value).buffer));
  }

  text(value: string): this {
    const bytes = new TextEncoder().encode(value);
    return this.u64(bytes.byteLength).raw(bytes);
  }

  key(name: string, type: number): this {
    return this.text(name).u32(type);
  }

  align(): this {
    return this.raw(new Uint8Array(aligned(this.#size) - this.#size));
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#parts, this.#size);
  }
}
