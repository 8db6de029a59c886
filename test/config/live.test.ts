import { expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LiveConfig } from "../../src/config/live.ts";
import { loadConfig } from "../../src/config/load.ts";
import { configFolder } from "./support.ts";

const { cwd } = configFolder();

function live(text: string) {
  const path = join(cwd, "sallyport.yaml");
  const write = (next: string) => writeFileSync(path, next);
  write(text);
  const load = (file?: string) => loadConfig({ env: {}, cwd, host: "127.0.0.9", file });
  const first = load();
  if (!first.ok) throw new Error(first.problems.join());
  return { config: new LiveConfig(first, load), write, remove: () => rmSync(path) };
}

test("a reload takes the whole new configuration", () => {
  const { config, write } = live("log: {level: info}");
  write("log: {level: debug}");
  expect(config.reload()).toEqual({ ok: true, needRestart: [] });
  expect(config.get().log.level).toBe("debug");
  expect(config.get().server.host).toBe("127.0.0.9");
});

test("a bad one is reported and the old one stays, until it is mended", () => {
  const { config, write } = live("log: {level: info}");
  const before = config.get();
  for (const text of ["log: {level: loud}\nx: 1", "a: ["]) {
    write(text);
    const result = config.reload();
    expect(result).toMatchObject({ ok: false });
    if (!result.ok) for (const problem of result.problems) expect(problem).toStartWith("sallyport.yaml: ");
    expect(config.get()).toBe(before);
  }
  write("log: {level: warn}");
  expect(config.reload()).toMatchObject({ ok: true });
  expect(config.get().log.level).toBe("warn");
});

test("a file that was removed or emptied is a fault, not the wish for the defaults", () => {
  const { config, write, remove } = live("log: {level: debug}");
  const before = config.get();
  for (const text of ["", " \n"]) {
    write(text);
    const problems = ["sallyport.yaml: is empty; write {} into it to return to the defaults"];
    expect(config.reload()).toEqual({ ok: false, problems });
  }
  remove();
  expect(config.reload()).toEqual({
    ok: false,
    problems: [expect.stringMatching(/^sallyport\.yaml: cannot be read \(.*(ENOENT|no such file)/i)],
  });
  expect(config.get()).toBe(before);
  write("{}");
  expect(config.reload()).toMatchObject({ ok: true });
  expect(config.get().log.level).toBe("info");
});

test("a file that was empty from the start may stay so", () => {
  const { config } = live("");
  expect(config.reload()).toEqual({ ok: true, needRestart: [] });
});

test("what is read at the start only is named", () => {
  const { config, write } = live("server: {port: 1}");
  write("server: {port: 2, host: 10.0.0.1}\ndata_dir: other");
  // --host takes precedence over the file, so the value did not change.
  expect(config.reload()).toEqual({ ok: true, needRestart: ["server.port", "data_dir"] });
});

test("what is derived from the configuration is made once for each", () => {
  const { config, write } = live("log: {level: info}");
  let made = 0;
  const loud = config.derive(({ log }) => {
    made += 1;
    return log.level.toUpperCase();
  });
  expect(made).toBe(0);
  expect([loud(), loud()]).toEqual(["INFO", "INFO"]);
  write("log: {level: debug}");
  config.reload();
  expect([loud(), loud(), made]).toEqual(["DEBUG", "DEBUG", 2]);
});
