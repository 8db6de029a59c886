// The files in deploy/: the images run as another user than root, and Compose's schema and the program accept what stands in them.

import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import { PRESETS } from "../../src/config/presets.ts";
import { composeProblems } from "./compose-schema.ts";

const DEPLOY = join(import.meta.dir, "../../deploy");
const read = (name: string) => readFileSync(join(DEPLOY, name), "utf8");
const FILES = readdirSync(DEPLOY);
const IMAGES = FILES.filter((name) => name.startsWith("Containerfile"));
const COMPOSE = FILES.filter((name) => name.startsWith("compose"));

/** Instructions of a Containerfile, lines that continue joined. */
function instructions(name: string): [word: string, rest: string][] {
  const lines = read(name)
    .replaceAll(/\\\n\s*/g, "")
    .split("\n");
  return lines
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)]);
}

/** What the program says about variables of its environment. */
function saidOf(env: Readonly<Record<string, string>>): readonly string[] {
  const loaded = loadConfig({ env, cwd: "/", providers: "unused" });
  return loaded.ok ? loaded.warnings : loaded.problems;
}

test("there are both images and both Compose files", () => {
  expect([...IMAGES, ...COMPOSE].sort()).toEqual([
    "Containerfile",
    "Containerfile.browser",
    "compose-postgres.yaml",
    "compose.yaml",
  ]);
});

test.each(IMAGES)(
  "%s ends as a user that is not root, takes nothing from the network but packages, and leaves no lists",
  (name) => {
    const all = instructions(name);
    expect(all.findLast(([word]) => word === "USER")?.[1]).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(all.map(([word]) => word)).not.toContain("ADD");
    for (const [word, rest] of all.filter(([word]) => word === "RUN")) {
      expect([word, rest]).toEqual([word, expect.stringContaining("--no-install-recommends")]);
      expect(rest).toContain("rm -rf /var/lib/apt/lists/*");
      expect(rest).not.toMatch(/curl|wget/);
    }
  },
);

test("the image's variables are keys of the configuration", () => {
  const set = instructions("Containerfile").filter(([word]) => word === "ENV");
  const env = Object.fromEntries(
    set.flatMap(([, rest]) => rest.split(" ").map((one) => one.split("=") as [string, string])),
  );
  expect(Object.keys(env).sort()).toEqual(["SALLYPORT_DATA_DIR", "SALLYPORT_SERVER_HOST"]);
  expect(saidOf(env)).toEqual([]);
  expect(saidOf({ SALLYPORT_SERVER_HOTS: "x" })).toEqual([expect.stringContaining("SALLYPORT_SERVER_HOTS is ignored")]);
});

interface Service {
  image: string;
  environment?: Record<string, string>;
  volumes?: string[];
  read_only?: boolean;
  tmpfs?: string[];
  cap_drop?: string[];
  depends_on?: Record<string, unknown>;
}

test.each(COMPOSE)("%s is one, refers only to what it has, and sets keys of the configuration", (name) => {
  const text = read(name);
  const compose = Bun.YAML.parse(text) as { services: Record<string, Service>; volumes: Record<string, unknown> };
  expect(composeProblems(compose)).toEqual([]);
  const services = Object.values(compose.services);
  const volumes = services.flatMap(({ volumes = [] }) => volumes.map((volume) => volume.split(":")[0] ?? ""));
  expect(volumes.sort()).toEqual(Object.keys(compose.volumes).sort());
  for (const { depends_on = {} } of services)
    for (const other of Object.keys(depends_on)) expect(Object.keys(compose.services)).toContain(other);
  const { environment = {}, ...gateway } = compose.services["gateway"] as Service;
  expect(gateway).toMatchObject({ read_only: true, tmpfs: ["/tmp"], cap_drop: ["ALL"] });
  // As Compose fills them in where the variables are set.
  const filled = (value: string) =>
    value.replaceAll(/\$\{(\w+):[-?]([^}]*)\}/g, (_, variable: string) =>
      variable.endsWith("_URL") ? "https://a.example" : "x",
    );
  const env = Object.fromEntries(Object.entries(environment).map(([key, value]) => [key, filled(value)]));
  expect(saidOf(env)).toEqual([]);
  const keys = new Set<string>(Object.values(PRESETS).flatMap(({ variable }) => variable ?? []));
  const other = Object.keys(environment).filter(
    (key) => !key.startsWith("SALLYPORT_") && key !== "TZ" && !keys.has(key),
  );
  expect(other).toEqual([]);
});
