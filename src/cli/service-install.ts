// `sallyport service …`: has the system's own supervisor run the gateway.

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Command, CommandGroup, Context } from "./command.ts";
import { CommandError } from "./failure.ts";
import { launchdPlist, type ServicePlan, systemUnit, userUnit } from "./service-files.ts";

interface Service {
  readonly file: string;
  readonly text: string;
  /** The command that starts it. */
  readonly next: string;
  /** Why it could not start. */
  readonly problem?: string | undefined;
}

const STATE = "/var/lib/sallyport";

/** Why the unit of a machine could not start: it sees no home folder, and writes to its own state folder alone. */
export function problemOfUnit({ program, config, dataDir }: ServicePlan): string | undefined {
  const hidden = [...program, config].find((path) => /^\/(?:home|root|run\/user)\//.test(path));
  if (hidden !== undefined) return `the service does not see ${hidden}: put it below /usr/local or /etc, or use --user`;
  if (dataDir === STATE || dataDir.startsWith(`${STATE}/`)) return undefined;
  return `the service writes to ${STATE} alone: --data-dir must be that or below it, or use --user`;
}

function serviceOf({ flags }: Context): Service {
  const script = process.argv[1] ?? "";
  const isCompiled = script.startsWith("/$bunfs/");
  const program = isCompiled ? [process.execPath] : [process.execPath, script];
  const home = homedir();
  const isUser = flags.has("user") || process.platform === "darwin";
  // The supervisor starts the gateway in another folder than the one in which this command runs.
  const plan: ServicePlan = {
    program,
    config: resolve(
      flags.text("config") ??
        (isUser ? join(home, ".config/sallyport/sallyport.yaml") : "/etc/sallyport/sallyport.yaml"),
    ),
    dataDir: resolve(flags.text("data-dir") ?? (isUser ? join(home, ".local/share/sallyport") : STATE)),
  };
  if (process.platform === "darwin") {
    const file = join(home, "Library/LaunchAgents/io.sallyport.gateway.plist");
    return { file, text: launchdPlist(plan), next: `launchctl load -w ${file}` };
  }
  if (process.platform !== "linux")
    throw new CommandError(
      "sallyport service: only for systemd and launchd. On Windows start `sallyport serve` by the Task Scheduler, or by a service wrapper.",
    );
  return isUser
    ? {
        file: join(home, ".config/systemd/user/sallyport.service"),
        text: userUnit(plan),
        next: "systemctl --user daemon-reload && systemctl --user enable --now sallyport",
      }
    : {
        file: "/etc/systemd/system/sallyport.service",
        text: systemUnit(plan),
        next: "systemctl daemon-reload && systemctl enable --now sallyport",
        problem: problemOfUnit(plan),
      };
}

const USER = { name: "user", summary: "for the person who runs the command, not for the machine" };

const show: Command = {
  summary: "print the file that `service install` would write",
  examples: ["sallyport service show", "sallyport service show --user"],
  usage: "[--user]",
  options: [USER],
  async run(context) {
    context.out(serviceOf(context).text);
    return 0;
  },
};

const install: Command = {
  summary: "write a unit of systemd, or an agent of launchd",
  examples: ["sallyport service install", "sallyport service install --user --config ~/sallyport.yaml"],
  usage: "[--user] [--force]",
  options: [USER, { name: "force", summary: "replace an existing file" }],
  async run(context) {
    const { file, text, next, problem } = serviceOf(context);
    if (problem !== undefined) throw new CommandError(`sallyport service install: ${problem}`);
    if (existsSync(file) && !context.flags.has("force"))
      throw new CommandError(`${file} exists: \`sallyport service install --force\` replaces it`);
    try {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    } catch (error) {
      throw new CommandError(
        `${file} cannot be written (${(error as { code?: string }).code}): run it as root, or with --user`,
      );
    }
    context.out(`Wrote ${file}. Start it: ${next}\n`);
    return 0;
  },
};

/** `sallyport service`. */
export const service: CommandGroup = { summary: "run the gateway as a service", verbs: { install, show } };
