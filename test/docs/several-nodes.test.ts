// The files that the guide to several nodes shows: the program accepts their configuration, Compose's schema its file, and the types of
// Kubernetes its manifest.

import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Deployment } from "kubernetes-types/apps/v1";
import type { ConfigMap } from "kubernetes-types/core/v1";
import { loadConfig } from "../../src/config/load.ts";
import { composeProblems } from "./compose-schema.ts";

const ROOT = join(import.meta.dir, "../..");
const TEXT = readFileSync(join(ROOT, "docs", "guides/several-nodes.md"), "utf8");

/** The blocks of a language under a heading; "Several nodes: a worked example" is the title. */
function blocks(heading: string, language: string): string[] {
  const section = TEXT.split(/^##? /m).find((one) => one.startsWith(`${heading}\n`)) ?? "";
  return [...section.matchAll(/^```(\S+)\n([\s\S]*?)^```$/gm)].flatMap(([, of, code = ""]) =>
    of === language ? [code] : [],
  );
}

function onlyBlock(heading: string, language: string): string {
  const found = blocks(heading, language);
  expect(found).toHaveLength(1);
  return found[0]!;
}

/** What the program says about a configuration, with a value for each variable. */
async function problemsOf(text: string): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-guide-"));
  try {
    const file = join(folder, "sallyport.yaml");
    await Bun.write(file, text);
    const env = { DATABASE_PASSWORD: "p", REDIS_PASSWORD: "r", OPENAI_API_KEY: "k" };
    const loaded = loadConfig({ file, dataDir: folder, env });
    return loaded.ok ? [] : loaded.problems;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Compose {
  services: Record<
    string,
    { configs?: { source: string }[]; volumes?: string[]; environment?: Record<string, string> }
  >;
  configs: Record<string, unknown>;
  volumes: Record<string, unknown>;
}

test("the Compose file is one, refers only to what it has, and gives the nodes what the configuration names", async () => {
  const text = onlyBlock("Compose", "yaml");
  const compose = Bun.YAML.parse(text) as Compose;
  expect(composeProblems(compose)).toEqual([]);
  const wrong = { ...compose, services: { gateway: { image: "sallyport", restarts: "always" } } };
  expect(composeProblems(wrong)).not.toEqual([]);
  const used = Object.values(compose.services).flatMap(({ configs = [], volumes = [] }) => [
    ...configs.map(({ source }) => source),
    ...volumes.map((volume) => volume.split(":")[0]),
  ]);
  for (const [, name = ""] of onlyBlock("Several nodes: a worked example", "yaml").matchAll(/\$\{(\w+)\}/g))
    expect(Object.keys(compose.services["gateway"]!.environment!)).toContain(name);
  expect(used.sort()).toEqual([...Object.keys(compose.configs), ...Object.keys(compose.volumes)].sort());
});

interface Manifest {
  apiVersion: string;
  kind: string;
}

const manifests = () => Bun.YAML.parse(onlyBlock("Kubernetes", "yaml")) as Manifest[];

/** What the compiler says about files of manifests as constants of their types. */
async function compile(files: Readonly<Record<string, readonly object[]>>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-manifest-"));
  try {
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    for (const [name, list] of Object.entries(files)) {
      const lines = (list as Manifest[]).map((manifest, at) => {
        const group = manifest.apiVersion === "v1" ? "core/v1" : manifest.apiVersion;
        return `import type { ${manifest.kind} as T${at} } from "kubernetes-types/${group}";
export const m${at}: T${at} = ${JSON.stringify(manifest)};`;
      });
      await Bun.write(join(folder, name), lines.join("\n"));
    }
    const options = ["--noEmit", "--strict", "--module", "esnext", "--moduleResolution", "bundler", "--types", ""];
    const run = Bun.spawn([join(ROOT, "node_modules/.bin/tsc"), ...options, ...Object.keys(files)], {
      cwd: folder,
      stdout: "pipe",
      stderr: "pipe",
    });
    return await new Response(run.stdout).text();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("the Kubernetes manifest has the types of Kubernetes; a wrong one has not", async () => {
  const list = manifests();
  expect(list.map(({ kind }) => kind)).toEqual(["ConfigMap", "Deployment", "Service", "PodDisruptionBudget"]);
  const said = await compile({ "manifest.ts": list, "wrong.ts": [{ ...list[1], replica: 3 }] });
  expect(said).toContain("replica");
  expect(said.split("\n").filter((line) => /^\S/.test(line) && !line.startsWith("wrong.ts"))).toEqual([]);
}, 60_000);

test("the configuration of the manifest is accepted, with the variables that the pods get", async () => {
  const [config, deployment] = manifests() as unknown as [ConfigMap, Deployment];
  const text = config.data?.["sallyport.yaml"] ?? "";
  expect(await problemsOf(text)).toEqual([]);
  const { containers, volumes } = deployment.spec!.template.spec!;
  const given = containers[0]!.env!.map(({ name }) => name);
  for (const [, name = ""] of text.matchAll(/\$\{(\w+)\}/g)) expect(given).toContain(name);
  expect(containers[0]!.volumeMounts!.map(({ name }) => name)).toEqual(volumes!.map(({ name }) => name));
  expect(volumes!.find(({ configMap }) => configMap !== undefined)?.configMap?.name).toBe(config.metadata?.name);
});

test("the configuration of the guide is accepted", async () => {
  expect(await problemsOf(onlyBlock("Several nodes: a worked example", "yaml"))).toEqual([]);
});

test("the proxy's file names the nodes that Compose makes", () => {
  const { services } = Bun.YAML.parse(onlyBlock("Compose", "yaml")) as Compose;
  const named = [...onlyBlock("Compose", "caddyfile").matchAll(/sallyport-gateway-(\d+):8787/g)].map(
    ([, number]) => number,
  );
  const { replicas } = (services["gateway"] as { deploy: { replicas: number } }).deploy;
  expect(named).toEqual(Array.from({ length: replicas }, (_, at) => String(at + 1)));
});
