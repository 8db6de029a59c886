// Examples that configure common clients for the gateway.

/** The values that an example contains. */
export interface SnippetParts {
  /** Without `/v1`. */
  readonly base: string;
  readonly key: string;
  readonly model: string;
}

/** An example for one client. */
export interface Snippet {
  readonly name: string;
  text(parts: SnippetParts): string;
}

/** The examples, the simplest first. */
export const SNIPPETS: readonly [Snippet, ...Snippet[]] = [
  {
    name: "curl",
    text: ({ base, key, model }) => `curl ${base}/v1/chat/completions \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello!"}]}'`,
  },
  {
    name: "OpenAI SDK",
    text: ({ base, key, model }) => `from openai import OpenAI

client = OpenAI(base_url="${base}/v1", api_key="${key}")
answer = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Hello!"}],
)
print(answer.choices[0].message.content)`,
  },
  {
    name: "Anthropic SDK",
    text: ({ base, key, model }) => `from anthropic import Anthropic

client = Anthropic(base_url="${base}", api_key="${key}")
answer = client.messages.create(
    model="${model}",
    max_tokens=1024,
    messages=[{"role": "user", "content": "Hello!"}],
)
print(answer.content[0].text)`,
  },
  {
    name: "Claude Code",
    text: ({ base, key, model }) => `export ANTHROPIC_BASE_URL=${base}
export ANTHROPIC_AUTH_TOKEN=${key}
claude --model ${model}`,
  },
  {
    name: "Codex",
    text: ({ base, key, model }) => `# ~/.codex/config.toml
model = "${model}"
model_provider = "sallyport"

[model_providers.sallyport]
name = "Sallyport"
base_url = "${base}/v1"
env_key = "SALLYPORT_KEY"
wire_api = "responses"

# and in the shell
export SALLYPORT_KEY=${key}`,
  },
];
