// The documents' files for other programs, checked by these programs: web servers, systemd, Prometheus, Python. Programs that
// are not installed are unpacked from their Debian packages, without being installed.

import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Snippet, snippetsUnder } from "../../test/docs/snippets.ts";
import { TEST_CERT, TEST_KEY } from "../../test/support/tls.ts";
import type { Trials } from "./trials.ts";

const GUIDE = "guides/deployment.md";
const PROXY = "Reverse proxy with TLS";

/** A file of a document, and the program that judges it. */
interface Judged {
  readonly name: string;
  readonly snippet: Snippet;
  readonly program: string;
  /** The Debian packages with the program and what it needs. */
  readonly packages: readonly string[];
  /** Puts the file, or what it is made into, where the program finds it. */
  write(place: string, code: string): void;
  /** The command's arguments. */
  args(place: string): string[];
}

function snippet(document: string, heading: string, language: string, which = 0): Snippet {
  const found = snippetsUnder(document, heading).filter((one) => one.language === language)[which];
  if (found === undefined) throw new Error(`${document} has no ${language} under "${heading}".`);
  return found;
}

const written = (name: string) => (place: string, code: string) => writeFileSync(join(place, name), code);

/** With a certificate of the tests, which nginx wants to read. */
function writeNginx(place: string, code: string): void {
  writeFileSync(join(place, "fullchain.pem"), TEST_CERT);
  writeFileSync(join(place, "privkey.pem"), TEST_KEY);
  const here = code.replaceAll("/etc/letsencrypt/live/ai.example.com", place);
  // Its own folders for bodies are there only where the package was installed.
  const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((of) => `${of}_temp_path ${place}/${of};`);
  const text = `pid ${place}/pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${folders.join("\n")}\n${here}}\n`;
  writeFileSync(join(place, "nginx.conf"), text);
}

const FILES: readonly Judged[] = [
  {
    name: "Caddy takes its configuration",
    snippet: snippet("guides/deployment.md", "Reverse proxy with TLS", "caddyfile"),
    ...{ program: "caddy", packages: ["caddy"], write: written("Caddyfile") },
    args: () => ["adapt", "--config", "Caddyfile", "--validate"],
  },
  {
    name: "nginx takes its configuration",
    snippet: snippet(GUIDE, PROXY, "nginx"),
    ...{ program: "nginx", packages: ["nginx"], write: writeNginx },
    args: (place) => ["-t", "-p", place, "-c", join(place, "nginx.conf"), "-e", "stderr"],
  },
  {
    name: "systemd takes the unit",
    snippet: snippet(GUIDE, "systemd", "ini"),
    ...{ program: "systemd-analyze", packages: [] },
    write: (place, code) =>
      writeFileSync(join(place, "sallyport.service"), code.replace("/usr/local/bin/sallyport", process.execPath)),
    args: (place) => ["verify", "--man=no", join(place, "sallyport.service")],
  },
  {
    name: "Prometheus takes its configuration",
    snippet: snippet("guides/metrics.md", "Metrics", "yaml", 1),
    ...{ program: "promtool", packages: ["prometheus"], write: written("prometheus.yml") },
    args: () => ["check", "config", "prometheus.yml"],
  },
  {
    name: "Prometheus takes the alerts",
    snippet: snippet("guides/metrics.md", "Alerts worth having", "yaml"),
    ...{ program: "promtool", packages: ["prometheus"], write: written("rules.yml") },
    args: () => ["check", "rules", "rules.yml"],
  },
  ...(
    [
      ["README.md", "Quick start"],
      ["guides/sdks.md", "OpenAI"],
    ] as const
  ).map(([document, heading]) => ({
    name: `${document}, ${heading}: Python`,
    snippet: snippet(document, heading, "python"),
    ...{ program: "python3", packages: [], write: written("example.py") },
    args: () => ["-m", "py_compile", "example.py"],
  })),
];

/** Tries them all. */
export async function tryPrograms({ folder, trial, skip, run }: Trials): Promise<void> {
  for (const { name, snippet: block, program, packages, write, args } of FILES) {
    const path = Bun.which(program) ?? (await unpacked(join(folder, "debian"), program, packages));
    if (path === undefined) {
      skip(name, 1, `there is no ${program}`);
      continue;
    }
    const place = join(folder, name.toLowerCase().replaceAll(/\W+/g, "-"));
    mkdirSync(place, { recursive: true });
    await trial(name, async () => {
      write(place, block.code);
      const { code, said } = await run([path, ...args(place)], place, { HOME: place, XDG_DATA_HOME: place });
      return code === 0 ? undefined : said;
    });
  }
}

/** The program out of packages that are downloaded and unpacked; undefined where that does not work. */
async function unpacked(folder: string, program: string, packages: readonly string[]): Promise<string | undefined> {
  if (packages.length === 0 || Bun.which("apt-get") === null) return undefined;
  mkdirSync(folder, { recursive: true });
  const quiet = { cwd: folder, stdio: ["ignore", "ignore", "ignore"] as ["ignore", "ignore", "ignore"] };
  if ((await Bun.spawn(["apt-get", "download", "-qq", ...packages], quiet).exited) !== 0) return undefined;
  for (const name of readdirSync(folder).filter((one) => one.endsWith(".deb"))) {
    if ((await Bun.spawn(["dpkg-deb", "-x", name, "."], quiet).exited) !== 0) return undefined;
  }
  const path = Bun.which(program, { PATH: `${folder}/usr/bin:${folder}/usr/sbin` });
  // A library of it may be missing here.
  const starts = path !== null && (await Bun.spawn([path, "-h"], quiet).exited) === 0;
  return starts ? path : undefined;
}
