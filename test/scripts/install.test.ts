// The installer against a release on a local server: what it installs, and what it refuses.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cycloneDx } from "../../scripts/release/bill-of-materials.ts";
import { licenceTexts } from "../../scripts/release/packages.ts";
import { tarOf } from "../../scripts/release/tar.ts";
import { freshFolder, installerOf, TARGETS } from "../../scripts/release.ts";

const SCRIPT = join(import.meta.dir, "../../scripts/install.sh");
const home = mkdtempSync(join(tmpdir(), "sallyport-install-"));
const files = new Map<string, Uint8Array<ArrayBuffer> | string>();
let archive: Uint8Array<ArrayBuffer>;
let server: Bun.Server<undefined>;

beforeAll(async () => {
  server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      const file = files.get(new URL(request.url).pathname.slice(1));
      return file === undefined ? new Response("", { status: 404 }) : new Response(file);
    },
  });
  const bytes = Buffer.from('#!/bin/sh\necho "sallyport 9.9.9 (test)"\n');
  archive = await tarOf([{ name: "sallyport", mode: 0o755, bytes }]);
});
afterAll(async () => {
  await server.stop(true);
  rmSync(home, { recursive: true, force: true });
});

/** A whole release: a program for every system, of which this machine takes its own. */
function restore(): void {
  files.clear();
  for (const { name } of TARGETS) files.set(`sallyport-9.9.9-${name}.tar.gz`, Bun.gzipSync(archive));
  writeSums();
}

function writeSums(): void {
  const sum = (file: Uint8Array<ArrayBuffer> | string) => new Bun.CryptoHasher("sha256").update(file).digest("hex");
  const archives = [...files].filter(([name]) => name.includes(".tar."));
  files.set("SHA256SUMS", archives.map(([name, file]) => `${sum(file)}  ${name}\n`).join(""));
}

const install = (...args: string[]) => installWith(process.env["PATH"] ?? "", ...args);

async function installWith(path: string, ...args: string[]) {
  const child = Bun.spawn(["sh", SCRIPT, ...args], {
    env: { PATH: path, HOME: home },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, out, err };
}

test("installs into a prefix, says what is next, and removes only the program", async () => {
  restore();
  const prefix = join(home, "one");
  const program = join(prefix, "bin/sallyport");
  const done = await install("--from", server.url.href.replace(/\/$/, ""), "--prefix", prefix);
  expect(done).toMatchObject({ code: 0, err: "" });
  expect(done.out).toContain(`Installed sallyport 9.9.9 (test) as ${program}\n`);
  expect(done.out).toEndWith(`Next: ${program} up\n`);
  expect(Bun.spawnSync([program, "--version"]).stdout.toString()).toBe("sallyport 9.9.9 (test)\n");
  // Again, over the old one.
  expect((await install("--from", server.url.href, "--version", "9.9.9", "--prefix", prefix)).code).toBe(0);
  expect((await install("--uninstall", "--prefix", prefix)).code).toBe(0);
  expect(existsSync(program)).toBe(false);
  expect((await install("--uninstall", "--prefix", prefix)).code).toBe(1);
});

test.skipIf(Bun.which("xz") === null)("the smallest form that this machine can unpack is taken", async () => {
  restore();
  const file = join(home, "archive.tar");
  writeFileSync(file, archive);
  expect(Bun.spawnSync(["xz", file]).exitCode).toBe(0);
  for (const { name } of TARGETS)
    files.set(`sallyport-9.9.9-${name}.tar.xz`, new Uint8Array(readFileSync(`${file}.xz`)));
  writeSums();
  const { code, out } = await install("--from", server.url.href, "--prefix", join(home, "small"));
  expect([code, out.includes(".tar.xz\n")]).toEqual([0, true]);
});

test.skipIf(process.platform !== "linux")("a system with both C libraries takes the usual program", async () => {
  restore();
  const bin = join(home, "commands");
  mkdirSync(bin);
  // As where the loader is in /lib64 alone.
  const ls = "#!/bin/sh\nfor one; do case $one in /lib/*-linux-gnu*) exit 2 ;; esac; done\n";
  writeFileSync(join(bin, "ls"), ls, { mode: 0o755 });
  const path = `${bin}:${process.env["PATH"]}`;
  const { code, out } = await installWith(path, "--from", server.url.href, "--prefix", join(home, "both"));
  expect(code).toBe(0);
  expect(out).toMatch(/Downloading sallyport-9\.9\.9-linux-\w+\.tar\.gz\n/);
});

const from = () => ["--from", server.url.href];
const REFUSED: [name: string, args: () => string[], change: () => void, says: string][] = [
  [
    "a changed file",
    from,
    () => {
      for (const { name } of TARGETS) files.set(`sallyport-9.9.9-${name}.tar.gz`, Bun.gzipSync("changed"));
    },
    "is not the one in SHA256SUMS: the file was damaged or changed, nothing was installed",
  ],
  ["another version", () => [...from(), "--version", "1.0.0"], () => undefined, "in version 1.0.0"],
  ["no address", () => [], () => undefined, "name where the release is: --from URL"],
  ["an unknown argument", () => ["--force"], () => undefined, "unknown argument --force"],
  ["no sums", from, () => files.delete("SHA256SUMS"), "SHA256SUMS could not be downloaded"],
];
test.each(REFUSED)("refused: %s", async (_, args, change, says) => {
  restore();
  change();
  const { code, err } = await install(...args(), "--prefix", join(home, "refused"));
  expect(code).toBe(1);
  expect(err).toContain(says);
  expect(existsSync(join(home, "refused"))).toBe(false);
});

/** Signs the sums with a new key of this name; returns its public key. */
function signSums(name: string): string {
  const [key, sums] = [join(home, name), join(home, `${name}-sums`)];
  writeFileSync(sums, files.get("SHA256SUMS") as string);
  const run = (...args: string[]) => expect(Bun.spawnSync(["ssh-keygen", "-q", ...args]).exitCode).toBe(0);
  run("-t", "ed25519", "-N", "", "-C", "release", "-f", key);
  run("-Y", "sign", "-f", key, "-n", "sallyport-release", sums);
  files.set("SHA256SUMS.sig", readFileSync(`${sums}.sig`, "utf8"));
  return readFileSync(`${key}.pub`, "utf8").trim();
}

const SIGNED: [name: string, key: "own" | "other", change: () => void, says: string | undefined][] = [
  ["by the key that is trusted", "own", () => undefined, undefined],
  ["by another key", "other", () => undefined, "SHA256SUMS is not signed by the key of the release"],
  [
    "before the sums were changed",
    "own",
    () => files.set("SHA256SUMS", `${files.get("SHA256SUMS")}\n`),
    "SHA256SUMS is not signed by the key of the release",
  ],
  ["not at all", "own", () => files.delete("SHA256SUMS.sig"), "the release is not signed, nothing was installed"],
];
test.skipIf(Bun.which("ssh-keygen") === null).each(SIGNED)(
  "sums that are signed %s",
  async (name, trusted, change, says) => {
    restore();
    const keys = { other: signSums(`${name} other`), own: signSums(`${name} own`) };
    change();
    const prefix = join(home, name);
    const { code, out, err } = await install("--from", server.url.href, "--prefix", prefix, "--key", keys[trusted]);
    if (says !== undefined) expect(err).toContain(says);
    expect([code, existsSync(prefix)]).toEqual(says === undefined ? [0, true] : [1, false]);
    expect(out.includes("The release's signature is good.")).toBe(says === undefined);
  },
);

test.skipIf(Bun.which("ssh-keygen") === null)(
  "the installer of a signed release trusts its key without being told",
  async () => {
    restore();
    const key = signSums("built-in");
    const script = join(home, "install.sh");
    writeFileSync(script, installerOf(readFileSync(SCRIPT, "utf8"), key));
    const install = async () => {
      const child = Bun.spawn(["sh", script, "--from", server.url.href, "--prefix", join(home, "trusting")], {
        env: { PATH: process.env["PATH"] ?? "", HOME: home },
        stdout: "pipe",
        stderr: "ignore",
      });
      return [await new Response(child.stdout).text(), await child.exited] as const;
    };
    const [out, code] = await install();
    expect(code).toBe(0);
    expect(out).toContain("The release's signature is good.");
    signSums("built-in other");
    expect((await install())[1]).toBe(1);
  },
);

test("a program of which only a part could be unpacked is not installed", async () => {
  restore();
  // A part of it runs. Noise, so that half of the archive is half of the program.
  const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))).toString("base64");
  const bytes = Buffer.from(`#!/bin/sh\necho "sallyport 9.9.9 (part)"\nexit 0\n# ${noise}\n`);
  const whole = Bun.gzipSync(await tarOf([{ name: "sallyport", mode: 0o755, bytes }]));
  for (const { name } of TARGETS) files.set(`sallyport-9.9.9-${name}.tar.gz`, whole.slice(0, whole.byteLength / 2));
  writeSums();
  const prefix = join(home, "part");
  const refused = await install("--from", server.url.href, "--prefix", prefix);
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("could not be unpacked") });
  expect(existsSync(join(prefix, "bin"))).toBe(false);
});

test("of an installer whose download was cut nothing is run", async () => {
  restore();
  const lines = readFileSync(SCRIPT, "utf8").trimEnd().split("\n");
  const [prefix, cut] = [join(home, "cut"), join(home, "cut.sh")];
  for (let length = 1; length < lines.length; length += 1) {
    writeFileSync(cut, lines.slice(0, length).join("\n"));
    const child = Bun.spawn(["sh", cut, "--from", server.url.href, "--prefix", prefix], {
      stdout: "pipe",
      stderr: "ignore",
    });
    expect([length, await new Response(child.stdout).text()]).toEqual([length, ""]);
  }
  expect(existsSync(prefix)).toBe(false);
});

test("a folder that holds something is no place for a release", () => {
  const folder = join(home, "mine");
  freshFolder(folder);
  writeFileSync(join(folder, "kept"), "");
  expect(() => freshFolder(folder)).toThrow("mine is not empty");
  expect(existsSync(join(folder, "kept"))).toBe(true);
});

test.skipIf(Bun.which("shellcheck") === null)("the script has no findings of shellcheck", () => {
  const { exitCode, stdout } = Bun.spawnSync(["shellcheck", SCRIPT]);
  expect([exitCode, stdout.toString()]).toEqual([0, ""]);
});

const PACKAGES = [
  { name: "@a/b", version: "1.0.0", licence: "MIT", texts: ["The text"] },
  { name: "c", version: "2.0.0", licence: "(MIT OR Apache-2.0)", texts: ["The text"] },
  { name: "d", version: "3.0.0", licence: "ISC", texts: [] },
];

test("a licence that several packages share is printed once, under all of them", () => {
  const text = licenceTexts("Own", PACKAGES);
  expect(text).toStartWith("Sallyport\n\nOwn\n");
  expect(text).toContain("@a/b 1.0.0 (MIT)\nc 2.0.0 ((MIT OR Apache-2.0))\n\nThe text\n");
  expect(text.split("The text")).toHaveLength(2);
  expect(text).toContain("d 3.0.0 (ISC)\n\nThe package has no licence file; its package.json says: ISC\n");
});

test("the bill of materials names each package by its address in the registry", () => {
  const bill = JSON.parse(cycloneDx({ version: "9.9.9", commit: "abc", runtimeVersion: "1.4.5", packages: PACKAGES }));
  expect(bill).toMatchObject({ bomFormat: "CycloneDX", specVersion: "1.6", version: 1 });
  const refs = bill.components.map((one: { purl: string }) => one.purl);
  expect(refs).toEqual(["pkg:npm/bun@1.4.5", "pkg:npm/%40a/b@1.0.0", "pkg:npm/c@2.0.0", "pkg:npm/d@3.0.0"]);
  expect(bill.dependencies[0].dependsOn).toEqual(refs);
  expect(bill.components[2].licenses).toEqual([{ expression: "(MIT OR Apache-2.0)" }]);
});

test("an archive depends on its content alone", async () => {
  const files = [{ name: "a", mode: 0o644, bytes: Buffer.from("x") }];
  expect(await tarOf(files)).toEqual(await tarOf(files));
});
