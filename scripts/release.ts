// Builds the artefacts of a release from this machine: the program for every system, packed, with checksums and a list of what is
// inside. Usage: bun scripts/release.ts [--out FOLDER] [--only TARGET,…] [--sign KEYFILE] [--level 0-9]
// (`bun run release`). The level is that of xz: 6 takes a minute for each target, 1 a quarter of it for files a seventh larger.
//
// A runtime comes as a package of its own; a target whose package cannot be had is named and left out. `--sign` takes a private key
// of ssh-keygen, which stays outside of the repository; its public key is written into install.sh of the release. The folder must be
// new or empty: this script deletes nothing that it did not write.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { packageManager, version } from "../package.json";
import { buildProgram, commit, packagesOfProgram } from "./build.ts";
import { cycloneDx } from "./release/bill-of-materials.ts";
import type { Inside } from "./release/packages.ts";
import { tarOf } from "./release/tar.ts";

interface Target {
  readonly name: string;
  readonly compile: Bun.Build.CompileTarget;
  /** The part of the runtime's package name after `bun-`. */
  readonly runtime: string;
}

/** Every system for which there is an artefact. */
export const TARGETS: readonly Target[] = [
  { name: "linux-x64", compile: "bun-linux-x64", runtime: "linux-x64" },
  { name: "linux-x64-baseline", compile: "bun-linux-x64-baseline", runtime: "linux-x64-baseline" },
  { name: "linux-x64-musl", compile: "bun-linux-x64-musl", runtime: "linux-x64-musl" },
  { name: "linux-arm64", compile: "bun-linux-arm64", runtime: "linux-aarch64" },
  { name: "linux-arm64-musl", compile: "bun-linux-arm64-musl", runtime: "linux-aarch64-musl" },
  { name: "darwin-x64", compile: "bun-darwin-x64", runtime: "darwin-x64" },
  { name: "darwin-arm64", compile: "bun-darwin-arm64", runtime: "darwin-aarch64" },
  { name: "windows-x64", compile: "bun-windows-x64", runtime: "windows-x64" },
];

const root = join(import.meta.dir, "..");
/** Of xz. Level 9 takes twice as long and needs ten times the memory to unpack, for a percent. */
const LEVEL = "6";
const runtimeVersion = packageManager.replace("bun@", "");

/** The runtime of a target, fetched by the package manager and kept; undefined if it cannot be had. */
async function runtimeOf(target: Target): Promise<string | undefined> {
  const folder = join(root, ".cache/runtimes", `${target.runtime}-${runtimeVersion}`);
  const file = join(folder, "package/bin", target.name.startsWith("windows") ? "bun.exe" : "bun");
  if (existsSync(file)) return file;
  mkdirSync(folder, { recursive: true });
  const name = `@oven/bun-${target.runtime}@${runtimeVersion}`;
  const packed = Bun.spawnSync(["npm", "pack", name, "--silent", "--pack-destination", folder], { stderr: "pipe" });
  const archive = packed.stdout.toString().trim().split("\n").at(-1) ?? "";
  if (!packed.success || archive === "") return undefined;
  const unpacked = Bun.spawnSync(["tar", "-xzf", join(folder, archive), "-C", folder]);
  rmSync(join(folder, archive), { force: true });
  return unpacked.success && existsSync(file) ? file : undefined;
}

/** Packs the program with its licence; returns the names of the files. The same content gives the same bytes. */
async function pack(
  target: Target,
  program: string,
  { out, level }: { out: string; level: string },
): Promise<string[]> {
  const stem = `sallyport-${version}-${target.name}`;
  const own = target.name.startsWith("windows") ? "sallyport.exe" : "sallyport";
  const tar = await tarOf([
    { name: own, mode: 0o755, bytes: readFileSync(program) },
    { name: "LICENSE", mode: 0o644, bytes: readFileSync(join(root, "LICENSE")) },
    { name: "CHANGELOG.md", mode: 0o644, bytes: readFileSync(join(root, "CHANGELOG.md")) },
  ]);
  await Bun.write(join(out, `${stem}.tar.gz`), Bun.gzipSync(tar, { level: 9 }));
  // A quarter smaller, where the machine that builds and the one that installs have the program for it.
  if (Bun.which("xz") === null) return [`${stem}.tar.gz`];
  await Bun.write(join(out, `${stem}.tar`), tar);
  // The filter for x86 code saves 4 percent; the one for ARM needs a newer xz than many systems have. One thread: with several the
  // bytes are others.
  const filters = [...(target.name.includes("x64") ? ["--x86"] : []), `--lzma2=preset=${level}`];
  const xz = Bun.spawnSync(["xz", "-T1", "-f", ...filters, join(out, `${stem}.tar`)]);
  if (!xz.success) throw new Error(`xz failed for ${stem}: ${xz.stderr}`);
  return [`${stem}.tar.gz`, `${stem}.tar.xz`];
}

/** Makes the folder of a release. Throws if something is in it. */
export function freshFolder(path: string): void {
  if (existsSync(path) && readdirSync(path).length > 0)
    throw new Error(`${path} is not empty: remove it, or name another folder with --out`);
  mkdirSync(path, { recursive: true });
}

/** The installer of a release, which knows the public key that signed it. Throws if it has no place for one. */
export function installerOf(script: string, publicKey: string | undefined): string {
  if (publicKey === undefined) return script;
  const [kind = "", material = ""] = publicKey.trim().split(/\s+/);
  if (!/^[\w@.-]+$/.test(kind) || !/^[\w+/=]+$/.test(material))
    throw new Error("The public key is not one of ssh-keygen.");
  const named = script.replace(/^signed_by=$/m, `signed_by="${kind} ${material}"`);
  if (named === script) throw new Error("install.sh has no line signed_by=");
  return named;
}

function sumOf(path: string): string {
  return new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex");
}

async function release(): Promise<void> {
  const { values } = parseArgs({
    options: { out: { type: "string" }, only: { type: "string" }, sign: { type: "string" }, level: { type: "string" } },
  });
  const out = resolve(values.out ?? join(root, "dist/release"));
  const only = values.only?.split(",");
  for (const name of only ?? []) {
    if (!TARGETS.some((target) => target.name === name)) throw new Error(`There is no target ${name}.`);
  }
  freshFolder(out);
  const files: string[] = [];
  const packages: readonly Inside[] = await packagesOfProgram();
  for (const target of TARGETS.filter(({ name }) => only?.includes(name) ?? true)) {
    const runtime = await runtimeOf(target);
    if (runtime === undefined) {
      console.log(`${target.name}: left out, since the package @oven/bun-${target.runtime} cannot be had here`);
      continue;
    }
    const program = join(out, target.name.startsWith("windows") ? "sallyport.exe" : "sallyport");
    await buildProgram({ outfile: program, target: target.compile, runtime, packages });
    const packed = await pack(target, program, { out, level: values.level ?? LEVEL });
    const megabytes = (path: string) => `${(statSync(path).size / 1e6).toFixed(1)} MB`;
    const sizes = packed.map((name) => `${name.slice(name.lastIndexOf(".") + 1)} ${megabytes(join(out, name))}`);
    console.log(`${target.name}: ${megabytes(program)}, ${sizes.join(", ")}, program ${sumOf(program)}`);
    rmSync(program);
    files.push(...packed);
  }
  const bill = `sallyport-${version}.cdx.json`;
  await Bun.write(join(out, bill), cycloneDx({ version, commit: commit(), runtimeVersion, packages }));
  const publicKey = values.sign === undefined ? undefined : readFileSync(`${values.sign}.pub`, "utf8");
  const script = await Bun.file(join(root, "scripts/install.sh")).text();
  await Bun.write(join(out, "install.sh"), installerOf(script, publicKey));
  files.push(bill, "install.sh");
  const sums = files.sort().map((name) => `${sumOf(join(out, name))}  ${name}\n`);
  await Bun.write(join(out, "SHA256SUMS"), sums.join(""));
  if (values.sign !== undefined) {
    const asked = ["ssh-keygen", "-Y", "sign", "-f", values.sign, "-n", "sallyport-release", join(out, "SHA256SUMS")];
    if (!Bun.spawnSync(asked, { stderr: "inherit" }).success) throw new Error("The checksums could not be signed.");
  }
  console.log(
    `${out}: ${files.length} files, SHA256SUMS${values.sign === undefined ? ", not signed" : " and its signature"}`,
  );
}

if (import.meta.main) await release();
