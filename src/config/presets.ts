// Well-known providers: what an entry of that name has unless it says otherwise. What differs in their protocol belongs
// to the provider cards of the upstream room, which bear the same names.

interface Preset {
  readonly kind: "openai" | "anthropic" | "gemini" | "demo" | "systemone";
  /** "" where only the operator can know it. */
  readonly baseUrl: string;
  /** The environment variable that holds its key, or, for Ollama, its address. */
  readonly variable?: string;
  /** That variable alone makes a provider when nothing is configured. */
  readonly zeroFile?: boolean;
}

/** Every preset, in the order in which the environment's providers are listed. */
export const PRESETS = {
  openai: { kind: "openai", baseUrl: "https://api.openai.com/v1", variable: "OPENAI_API_KEY", zeroFile: true },
  anthropic: {
    kind: "anthropic",
    baseUrl: "https://api.anthropic.com/v1",
    variable: "ANTHROPIC_API_KEY",
    zeroFile: true,
  },
  gemini: {
    kind: "gemini",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    variable: "GEMINI_API_KEY",
    zeroFile: true,
  },
  openrouter: {
    kind: "openai",
    baseUrl: "https://openrouter.ai/api/v1",
    variable: "OPENROUTER_API_KEY",
    zeroFile: true,
  },
  groq: { kind: "openai", baseUrl: "https://api.groq.com/openai/v1", variable: "GROQ_API_KEY", zeroFile: true },
  mistral: { kind: "openai", baseUrl: "https://api.mistral.ai/v1", variable: "MISTRAL_API_KEY", zeroFile: true },
  deepseek: { kind: "openai", baseUrl: "https://api.deepseek.com/v1", variable: "DEEPSEEK_API_KEY", zeroFile: true },
  xai: { kind: "openai", baseUrl: "https://api.x.ai/v1", variable: "XAI_API_KEY", zeroFile: true },
  together: { kind: "openai", baseUrl: "https://api.together.xyz/v1", variable: "TOGETHER_API_KEY", zeroFile: true },
  fireworks: {
    kind: "openai",
    baseUrl: "https://api.fireworks.ai/inference/v1",
    variable: "FIREWORKS_API_KEY",
    zeroFile: true,
  },
  ollama: { kind: "openai", baseUrl: "http://127.0.0.1:11434/v1", variable: "OLLAMA_HOST", zeroFile: true },
  typesafe: { kind: "systemone", baseUrl: "https://api.typesafe.ai/v1", variable: "TYPESAFE_API_KEY", zeroFile: true },
  lmstudio: { kind: "openai", baseUrl: "http://127.0.0.1:1234/v1" },
  vllm: { kind: "openai", baseUrl: "http://127.0.0.1:8000/v1" },
  llamacpp: { kind: "openai", baseUrl: "http://127.0.0.1:8080/v1" },
  azure: { kind: "openai", baseUrl: "", variable: "AZURE_OPENAI_API_KEY" },
  demo: { kind: "demo", baseUrl: "" },
} as const satisfies Record<string, Preset>;

/** A preset's name. */
export type PresetName = keyof typeof PRESETS;

/** The names alone. */
export const PRESET_NAMES = Object.keys(PRESETS) as PresetName[];

/** The preset of that name. */
export function findPreset(name: string): Preset | undefined {
  return Object.hasOwn(PRESETS, name) ? PRESETS[name as PresetName] : undefined;
}

/** What a preset gives an entry in this environment. */
export interface PresetFacts {
  readonly kind: Preset["kind"];
  readonly baseUrl: string;
  /** "" where the environment holds none. */
  readonly apiKey: string;
}

/** The preset's facts with the environment's word applied. */
export function presetFacts(name: string, env: Readonly<Record<string, string | undefined>>): PresetFacts | undefined {
  const preset = findPreset(name);
  if (preset === undefined) return undefined;
  const value = preset.variable === undefined ? "" : (env[preset.variable] ?? "").trim();
  if (name !== "ollama") return { kind: preset.kind, baseUrl: preset.baseUrl, apiKey: value };
  return { kind: preset.kind, baseUrl: value === "" ? preset.baseUrl : ollamaBaseUrl(value), apiKey: "" };
}

/** The presets that the environment alone turns into providers. */
export function presetsOf(env: Readonly<Record<string, string | undefined>>): PresetName[] {
  return PRESET_NAMES.filter((name) => {
    const preset: Preset = PRESETS[name];
    return preset.zeroFile === true && preset.variable !== undefined && (env[preset.variable] ?? "").trim() !== "";
  });
}

/** OLLAMA_HOST may be a host, host:port, port or URL, and the server's own 0.0.0.0. */
function ollamaBaseUrl(value: string): string {
  const whole = /^https?:\/\//i.test(value) ? value : `http://${value.startsWith(":") ? `127.0.0.1${value}` : value}`;
  if (!URL.canParse(whole)) return whole;
  const url = new URL(whole);
  // Without a scheme the port is Ollama's own; a URL without port means its scheme's.
  if (url.port === "" && whole !== value) url.port = "11434";
  if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = "127.0.0.1";
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${path.endsWith("/v1") ? path : `${path}/v1`}`;
}
