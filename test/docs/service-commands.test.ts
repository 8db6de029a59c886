// The commands by which services start the program, as the deployment guide has them, with the program itself.

import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programCommand } from "../support/source-program.ts";
import { snippetsUnder } from "./snippets.ts";

const SLOW_MS = 60_000;
const folder = mkdtempSync(join(tmpdir(), "sallyport-service-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const textOf = (heading: string, language: string) =>
  snippetsUnder("guides/deployment.md", heading).find((one) => one.language === language)?.code ?? "";
const unit = textOf("systemd", "ini");
const DEPLOY = join(import.meta.dir, "../../deploy");
const image = readFileSync(join(DEPLOY, "Containerfile"), "utf8");
const wordsOf = (instruction: string) =>
  JSON.parse(new RegExp(`^${instruction} (\\[.*\\])$`, "m").exec(image)?.[1] ?? "[]") as string[];
const ofEnv = Object.fromEntries(
  [...(/^ENV (.*)$/m.exec(image)?.[1] ?? "").matchAll(/(\w+)=(\S+)/g)].map(([, name = "", value = ""]) => [
    name,
    value,
  ]),
);

const ofUnit = /^ExecStart=(.*)$/m.exec(unit)?.[1]?.split(" ") ?? [];
const ofImage = wordsOf("CMD");
const health = wordsOf("HEALTHCHECK .* CMD");

/** The image's settings do not belong to the unit. */
const ENV: Readonly<Record<string, Readonly<Record<string, string>>>> = { systemd: {}, Container: ofEnv };

/** In this folder instead of the machine's. */
const here = (words: readonly string[]) => words.map((word) => word.replace(/^\/(?=etc\/|var\/)/, `${folder}/`));

test("the image's program is where its commands look for it", () => {
  expect(image).toContain(`COPY --chmod=755 \${PROGRAM} /usr/local/bin/${ofImage[0]}\n`);
  expect(ofUnit[0]).toBe("/usr/local/bin/sallyport");
  expect(image).toContain(`VOLUME ${ofEnv["SALLYPORT_DATA_DIR"]}\n`);
});

test.each([
  ["systemd", ofUnit],
  ["Container", ofImage],
] as const)(
  "%s: the program starts, says that it is healthy, and ends when it is told to",
  async (name, words) => {
    const env = Object.fromEntries(Object.entries(ENV[name] ?? {}).map(([key, value]) => [key, here([value])[0]]));
    mkdirSync(join(folder, "etc/sallyport"), { recursive: true });
    writeFileSync(join(folder, "etc/sallyport/sallyport.yaml"), "server: { port: 8787 }\n");
    const [, ...args] = here(words.map((word) => word.replace("/lib/sallyport", `/lib/${name}`)));
    const options = {
      cwd: folder,
      env: { PATH: process.env["PATH"] ?? "", HOME: folder, SALLYPORT_SERVER_PORT: "0", ...env },
      ...({ stdin: "ignore", stderr: "pipe" } as const),
    };
    const child = Bun.spawn([...programCommand(), ...args], options);
    const said = new Response(child.stderr).text();
    const port = await portOf(child.stdout);
    if (port === undefined) throw new Error(await said);
    const [, ...asks] = health;
    const check = Bun.spawn([...programCommand(), ...asks], {
      ...options,
      env: { ...options.env, SALLYPORT_SERVER_PORT: port },
    });
    expect(await check.exited).toBe(0);
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
    await said;
  },
  SLOW_MS,
);

async function portOf(stdout: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string | undefined> {
  let said = "";
  for await (const text of stdout.pipeThrough(new TextDecoderStream())) {
    said += text;
    const port = /listening on \S+:(\d+)\n/.exec(said)?.[1];
    if (port !== undefined) return port;
  }
  return undefined;
}
