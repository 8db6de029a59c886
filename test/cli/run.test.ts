import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Command, CommandGroup } from "../../src/cli/command.ts";
import { CommandError } from "../../src/cli/failure.ts";
import { COMMANDS, type Listed } from "../../src/cli/index.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { FakeTerminal } from "../support/terminal.ts";

function say(out: (text: string) => void, text: string): number {
  out(text);
  return 0;
}

const echo: Command = {
  summary: "say what came",
  usage: "[WORD]…",
  args: [0, 2],
  options: [
    { name: "port", value: "N", summary: "a port" },
    { name: "include", value: "G", summary: "globs", multiple: true },
    { name: "full", summary: "all of it" },
  ],
  async run({ args, flags, out }) {
    out(
      JSON.stringify({
        args,
        port: flags.integer("port", 0, 65535),
        include: flags.all("include"),
        full: flags.has("full"),
        config: flags.text("config"),
      }),
    );
    return 0;
  },
};
const group: CommandGroup = {
  summary: "things",
  verbs: {
    make: {
      summary: "make one",
      usage: "NAME",
      args: [1, 1],
      run: async ({ args, out }) => say(out, `made ${args[0]}`),
    },
    need: {
      summary: "needs",
      options: [{ name: "email", value: "E", summary: "address" }],
      run: async ({ flags, out }) => say(out, flags.required("email")),
    },
    fail: {
      summary: "fails",
      run: async () => {
        throw new CommandError("a: one\nb: two");
      },
    },
    burst: {
      summary: "breaks",
      run: async () => {
        throw new Error("line one\n  line two");
      },
    },
    three: { summary: "exit code", run: async () => 3 },
  },
};
const commands: Listed[] = [
  { name: "serve", summary: "run", load: async () => echo },
  { name: "thing", summary: "things", load: async () => group },
];

async function run(...argv: string[]) {
  const io = new FakeTerminal();
  const code = await runCommandLine(argv, { version: "1.2.3", io, commands });
  return { code, stdout: io.stdout, stderr: io.stderr };
}

describe("arguments reach the command", () => {
  const cases: [string[], object][] = [
    [[], { args: [], include: [], full: false }],
    [["--port", "0"], { args: [], port: 0, include: [], full: false }],
    [["serve", "--port=9"], { args: [], port: 9, include: [], full: false }],
    [["--config", "x.yaml", "serve", "a"], { args: ["a"], include: [], full: false, config: "x.yaml" }],
    [["--config=x.yaml", "--full"], { args: [], include: [], full: true, config: "x.yaml" }],
    [["serve", "--include", "a", "--include=b=c"], { args: [], include: ["a", "b=c"], full: false }],
    [["serve", "--", "--port", "-x"], { args: ["--port", "-x"], include: [], full: false }],
  ];
  test.each(cases)("%j", async (argv, expected) => {
    const { code, stdout, stderr } = await run(...argv);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual(expected);
    expect(code).toBe(0);
  });
  test("a verb, also behind common options", async () => {
    expect((await run("thing", "make", "x")).stdout).toBe("made x");
    expect((await run("--data-dir", "d", "thing", "--json", "make", "x")).stdout).toBe("made x");
    expect((await run("thing", "three")).code).toBe(3);
  });
});

test.each([
  [
    ["help", "thing"],
    ["thing", "--help"],
  ],
  [
    ["help", "thing", "make"],
    ["thing", "make", "--help"],
  ],
])("%j is %j", async (argv, same) => {
  expect(await run(...argv)).toEqual(await run(...same));
});

describe("bad arguments: exit 2, one line that says what is wrong", () => {
  const cases: [string[], string][] = [
    [["nonsense"], 'unknown command "nonsense"'],
    [["serv"], 'unknown command "serv", did you mean serve?'],
    [["--nonsense"], "unknown option --nonsense"],
    [["--nonsense=secret"], "unknown option --nonsense "],
    [["-x"], "unknown option -x"],
    [["-port", "1"], "unknown option -port"],
    [["--port"], "--port needs a value"],
    [["--port", "--full"], "--port needs a value"],
    [["--port", "abc"], '--port: expected a whole number from 0 to 65535, got "abc"'],
    [["--port", "65536"], "expected a whole number from 0 to 65535"],
    [["--port", ""], 'expected a whole number from 0 to 65535, got ""'],
    [["--port", "1", "--port", "2"], "--port was given twice"],
    [["--full=1"], "--full takes no value"],
    [["serve", "a", "b", "c"], 'serve: unexpected argument "c"'],
    [["thing"], "thing needs a verb: make, need, fail, burst, three"],
    [["thing", "--json"], "thing needs a verb"],
    [["thing", "break"], 'unknown verb "break" of thing'],
    [["thing", "toString"], 'unknown verb "toString" of thing'],
    [["thing", "make"], "thing make needs NAME"],
    [["thing", "need"], "--email is required"],
    [["thing", "need", "--email="], "--email is required"],
  ];
  test.each(cases)("%j", async (argv, message) => {
    const { code, stdout, stderr } = await run(...argv);
    expect(stderr).toContain(message);
    expect(stderr.split("\n")).toHaveLength(2);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });
});

describe("a failing command: exit 1", () => {
  test("one line a problem", async () => {
    expect(await run("thing", "fail")).toEqual({ code: 1, stdout: "", stderr: "a: one\nb: two\n" });
  });
  test("what nobody expected is one line without a stack", async () => {
    expect(await run("thing", "burst")).toEqual({ code: 1, stdout: "", stderr: "sallyport: line one; line two\n" });
  });
});

describe("help and version", () => {
  test.each([["--version"], ["-V"]])("%s", async (flag) => {
    expect(await run(flag)).toEqual({ code: 0, stdout: "sallyport 1.2.3\n", stderr: "" });
  });
  test.each([["--help"], ["-h"], ["help"]])("%s lists every command", async (flag) => {
    const { code, stdout } = await run(flag);
    expect(code).toBe(0);
    expect(stdout).toContain("serve               run (the default)");
    expect(stdout).toContain("--config FILE");
  });
  test("of a command: usage, its options and the common ones, and it does not run", async () => {
    const { code, stdout } = await run("serve", "--help");
    expect(code).toBe(0);
    expect(stdout).toStartWith("Usage: sallyport serve [WORD]…\n\nSay what came.\n");
    expect(stdout).toContain("--include G …");
    expect(stdout).toContain("--data-dir DIR");
  });
  test("of a group and of a verb", async () => {
    expect((await run("thing", "--help")).stdout).toContain("  make NAME\n      make one");
    expect((await run("thing", "make", "-h")).stdout).toStartWith("Usage: sallyport thing make NAME\n");
  });
});

describe("the list", () => {
  test("every entry loads what it names and no name stands twice", async () => {
    for (const { load } of COMMANDS) {
      const loaded = await load();
      expect("verbs" in loaded ? Object.keys(loaded.verbs).length : typeof loaded.run).toBeTruthy();
      expect(loaded.summary).not.toBe("");
    }
    expect(new Set(COMMANDS.map(({ name }) => name)).size).toBe(COMMANDS.length);
  });
  test("no command's code is imported before it runs", async () => {
    const folder = join(import.meta.dir, "../../src/cli");
    const frame = ["command.ts", "failure.ts", "flags.ts", "help.ts", "index.ts", "io.ts", "run.ts"];
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(frame));
    for (const file of frame) {
      const text = await Bun.file(join(folder, file)).text();
      const imported = [...text.matchAll(/^(?:import|export)\b[^;]*?from "\.\/([^"]+)";/gms)].map((match) => match[1]);
      expect(imported.filter((name) => !frame.includes(name ?? ""))).toEqual([]);
    }
  });
});

describe("the configuration a command is given", () => {
  const show: Command = {
    summary: "show",
    options: [{ name: "port", value: "N", summary: "a port" }],
    async run({ config, liveConfig, flags, out }) {
      out(
        `${config().server.port} ${config().dataDir} ${liveConfig({ port: flags.integer("port", 0) }).get().server.port}`,
      );
      return 0;
    },
  };
  async function runWith(env: Record<string, string>, ...argv: string[]) {
    const io = new FakeTerminal();
    const listed = [{ name: "show", summary: "show", load: async () => show }];
    const surroundings = { env, cwd: "/nowhere" };
    const code = await runCommandLine(["show", ...argv], { version: "0", io, commands: listed, surroundings });
    return { code, stdout: io.stdout, stderr: io.stderr };
  }
  test("--data-dir and what the command adds win", async () => {
    const { stdout } = await runWith({ SALLYPORT_SERVER_PORT: "7" }, "--data-dir", "d", "--port", "8");
    expect(stdout).toBe("7 /nowhere/d 8");
  });
  test("a bad one: exit 1, one line a problem", async () => {
    const { code, stderr } = await runWith({ SALLYPORT_SERVER_PORT: "x", SALLYPORT_LOG_LEVEL: "loud" });
    expect(code).toBe(1);
    expect(stderr.trim().split("\n")).toEqual([
      'SALLYPORT_SERVER_PORT: server.port: expected a whole number from 0 to 65535, got "x"',
      'SALLYPORT_LOG_LEVEL: log.level: expected one of debug, info, warn, error, got "loud"',
    ]);
    const missing = await runWith({}, "--config", "no-such.yaml");
    expect(missing.code).toBe(1);
    expect(missing.stderr).toStartWith("no-such.yaml: cannot be read (there is no such file)");
    expect(missing.stderr.trim().split("\n")).toHaveLength(1);
  });
  test("a variable that names no key is reported by a program that stays", async () => {
    expect((await runWith({ SALLYPORT_SERVER_PROT: "1" })).stderr).toContain("SALLYPORT_SERVER_PROT is ignored");
  });
});
