// The origin of each value; and that no secret is shown.

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LiveConfig } from "../../src/config/live.ts";
import { type LoadOptions, loadConfig } from "../../src/config/load.ts";

const FILE = `server:
  port: 9911
  public_url: https://\${HOST_NAME}
  metrics: { token: "\${METRICS_TOKEN}" }
email:
  smtp_url: smtp://me:smtp-password@mail.example.com
providers:
  openai:
    headers: { X-Title: mine, Authorization: Bearer header-secret }
  gemini:
    api_keys: [first-secret, "\${file:key.txt}"]
  mine:
    kind: openai
    base_url: http://user:url-password@127.0.0.1:9/v1
    quirks: { stream_options: false }
models:
  - id: fast
    description: made with first-secret
    routes:
      - { provider: mine, model: x }
`;

const ENV = {
  HOST_NAME: "ai.example.com",
  METRICS_TOKEN: "metrics-secret",
  OPENAI_API_KEY: "openai-secret",
  SALLYPORT_SERVER_HOST: "0.0.0.0",
  SALLYPORT_LOG: '{"level":"warn"}',
};

/** The values of a file in its own directory, by key. */
function describe(options: LoadOptions = {}, file: string | undefined = FILE) {
  const cwd = mkdtempSync(join(tmpdir(), "sallyport-origin-"));
  try {
    if (file !== undefined) writeFileSync(join(cwd, "sallyport.yaml"), file);
    writeFileSync(join(cwd, "key.txt"), "file-secret\n");
    const load = () => loadConfig({ cwd, env: ENV, ...options });
    const loaded = load();
    if (!loaded.ok) throw new Error(loaded.problems.join("\n"));
    const { values } = new LiveConfig(loaded, load).describe();
    const named = values.map(({ key, value, source: { kind, name, line, through } }) => {
      const where = line === null ? [] : [line];
      return [key, [value, kind, name?.replace(`${cwd}/`, "") ?? "", ...where, ...through]] as const;
    });
    return { text: JSON.stringify(values), values: new Map(named) };
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

test("each value is shown with the file and line, the variable, the option or the preset that it comes from", () => {
  const { values } = describe({ dataDir: "/tmp/elsewhere" });
  expect(Object.fromEntries([...values].filter(([, [, kind]]) => kind !== "default"))).toEqual({
    "server.host": ["0.0.0.0", "variable", "SALLYPORT_SERVER_HOST"],
    "server.port": ["9911", "file", "sallyport.yaml", 2],
    "server.public_url": ["https://ai.example.com", "file", "sallyport.yaml", 3, "${HOST_NAME}"],
    "server.metrics.token": [null, "file", "sallyport.yaml", 4, "${METRICS_TOKEN}"],
    data_dir: ["/tmp/elsewhere", "option", "--data-dir"],
    "log.level": ["warn", "variable", "SALLYPORT_LOG"],
    "email.smtp_url": [null, "file", "sallyport.yaml", 6],
    "providers.openai.preset": ["openai", "preset", "openai"],
    "providers.openai.kind": ["openai", "preset", "openai"],
    "providers.openai.base_url": ["https://api.openai.com/v1", "preset", "openai"],
    "providers.openai.api_key": [null, "variable", "OPENAI_API_KEY"],
    "providers.openai.headers.X-Title": [null, "file", "sallyport.yaml", 9],
    "providers.openai.headers.Authorization": [null, "file", "sallyport.yaml", 9],
    "providers.gemini.preset": ["gemini", "preset", "gemini"],
    "providers.gemini.kind": ["gemini", "preset", "gemini"],
    "providers.gemini.base_url": [expect.stringContaining("googleapis"), "preset", "gemini"],
    "providers.gemini.api_keys": [null, "file", "sallyport.yaml", 11, "${file:key.txt}"],
    "providers.mine.kind": ["openai", "file", "sallyport.yaml", 13],
    "providers.mine.base_url": ["http://***@127.0.0.1:9/v1", "file", "sallyport.yaml", 14],
    "providers.mine.quirks.stream_options": ["false", "file", "sallyport.yaml", 15],
    "providers.demo.kind": ["demo", "preset", "demo"],
    "models[0].id": ["fast", "file", "sallyport.yaml", 17],
    "models[0].description": [null, "file", "sallyport.yaml", 18],
    "models[0].routes[0].provider": ["mine", "file", "sallyport.yaml", 20],
    "models[0].routes[0].model": ["x", "file", "sallyport.yaml", 20],
  });
  expect(values.get("server.max_body")).toEqual(["20MiB", "default", ""]);
  expect(values.get("tiers.pro.rpm")).toEqual(["120", "default", ""]);
});

test("no secret is shown, in whatever value it is contained", () => {
  const { text } = describe();
  for (const secret of ["metrics-secret", "smtp-password", "openai-secret", "header-secret", "first-secret"])
    expect(text).not.toContain(secret);
  for (const secret of ["file-secret", "url-password"]) expect(text).not.toContain(secret);
});

test("without a file there are the environment's providers and the defaults", () => {
  const { values } = describe({}, "");
  expect(values.get("providers.openai.api_key")).toEqual([null, "variable", "OPENAI_API_KEY"]);
  expect(values.get("server.port")).toEqual(["8787", "default", ""]);
});
