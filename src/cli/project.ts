// `sallyport project …`: groups of keys with limits of their own, and their members. A running server notices a change within a
// second.

import { isoTime } from "../base/iso-time.ts";
import { type Account, accountStore } from "../store/access/accounts.ts";
import { projectMemberStore } from "../store/access/project-members.ts";
import {
  type OwnProject,
  PROJECT_ROLES,
  type Project,
  type ProjectRole,
  type ProjectSettings,
  projectStore,
} from "../store/access/projects.ts";
import type { Store } from "../store/engine/store.ts";
import { keyBudgetNow } from "../store/usage/spending.ts";
import { MICROS_PER_USD, microsOf, periodOf } from "./budget-flags.ts";
import type { Command, CommandGroup, Context } from "./command.ts";
import { UsageError } from "./failure.ts";
import type { CommandOption, Flags } from "./flags.ts";
import { modelsFlag, NONE, RUN_USAGE, runFlags, runOptions } from "./limit-flags.ts";
import { failure, nowMs, printRecord, printRows, withStore } from "./workspace.ts";

const NAME_CHARS_MAX = 100;

const ID: CommandOption = { name: "id", value: "ID", summary: "the project's id, from `project list`" };
const EMAIL: CommandOption = { name: "email", value: "E", summary: "the member's e-mail address" };

/** The options of its limits. `before`: the default of each. */
const limitOptions = (before: string): readonly CommandOption[] => [
  { name: "rpm", value: "N", summary: `requests a minute of all its keys together (default: ${before})` },
  { name: "tpm", value: "N", summary: `tokens a minute of all its keys together (default: ${before})` },
  { name: "parallel", value: "N", summary: `requests at once of all its keys together (default: ${before})` },
  { name: "budget", value: "USD", summary: `the budget in US dollars of all its keys together (default: ${before})` },
  {
    name: "budget-period",
    value: "TIME",
    summary: `the budget renews after each period, such as 30d (default: ${before === NONE ? "never" : before})`,
  },
  {
    name: "models",
    value: "GLOB",
    multiple: true,
    summary: "models that its keys may use, such as gpt-*; may be repeated (default: all models)",
  },
  ...runOptions(before === NONE ? "the plan's" : before),
];

const LIMITS = `[--rpm N] [--tpm N] [--parallel N] [--budget USD] [--budget-period 30d] [--models GLOB]… ${RUN_USAGE}`;

const create: Command = {
  summary: "create a project of an account, which becomes its owner",
  examples: ["sallyport project create --account ada@example.com --name search --budget 50 --budget-period 30d --json"],
  usage: `--account EMAIL --name N ${LIMITS}`,
  options: [
    { name: "account", value: "EMAIL", summary: "the account's e-mail address" },
    { name: "name", value: "NAME", summary: "a name that says what the project is for" },
    ...limitOptions(NONE),
  ],
  async run(context) {
    const { flags } = context;
    const email = flags.required("account");
    flags.required("name");
    const settings = settingsOf(flags, undefined);
    const made = await withStore(context, { create: false }, async (store) =>
      projectStore(store).createProject((await accountOf(store, email)).id, { ...settings, name: nameOf(flags) }),
    );
    if (made === "too_many") throw failure(`${email} has as many projects as an account may have`);
    printRecord(context, { id: made.id, name: made.name });
    return 0;
  },
};

const list: Command = {
  summary: "list the projects, or those of which an account is a member",
  examples: ["sallyport project list", "sallyport project list --account ada@example.com --json"],
  usage: "[--account EMAIL]",
  options: [{ name: "account", value: "EMAIL", summary: "a member's e-mail address" }],
  async run(context) {
    const email = context.flags.text("account");
    const rows = await withStore(context, { create: false }, async (store) => {
      const projects = projectStore(store);
      const found: (Project | OwnProject)[] =
        email === undefined ? await all(store) : await projects.listOwnProjects((await accountOf(store, email)).id);
      const sizes = await projects.projectSizes(found.map(({ id }) => id));
      return found.map((one) => ({
        ...shown(one),
        ...("role" in one ? { role: one.role } : {}),
        ...(sizes.get(one.id) ?? { members: 0, keys: 0 }),
      }));
    });
    printRows(context, rows, { none: "No projects yet." });
    return 0;
  },
};

const set: Command = {
  summary: "change the name or the limits of a project",
  examples: ["sallyport project set --id PROJECT_ID --rpm 60 --budget none"],
  usage: `--id ID [--name N] ${LIMITS}`,
  options: [ID, { name: "name", value: "NAME", summary: "another name" }, ...limitOptions("as before")],
  details: `"${NONE}" takes a limit away. Another amount for the same period keeps the amount spent; any other change of the budget
restarts the count.
`,
  run: (context) =>
    change(context, async ({ store, id, project }) => {
      const { flags } = context;
      const settings = {
        ...settingsOf(flags, project),
        ...(flags.text("name") === undefined ? {} : { name: nameOf(flags) }),
      };
      if (Object.keys(settings).length === 0) throw new UsageError("nothing to change was given");
      const changed = await projectStore(store).updateProject(id, settings);
      return shown(changed ?? project);
    }),
};

const addMember: Command = {
  summary: "make an account a member of a project, or give a member another role",
  examples: ["sallyport project add-member --id PROJECT_ID --email bob@example.com --role member"],
  usage: "--id ID --email E [--role R]",
  options: [ID, EMAIL, { name: "role", value: "R", summary: `one of ${PROJECT_ROLES.join(", ")} (default member)` }],
  details: `A member makes own keys in the project and sees its usage. A manager sets limits and members too. An owner may do everything.
`,
  run: (context) => {
    const role = roleOf(context.flags.text("role") ?? "member");
    return change(context, async ({ store, id }) => {
      const { id: accountId, email } = await accountOf(store, context.flags.required("email"));
      const done = await projectMemberStore(store).setMember(id, accountId, role);
      if (done === "last_owner") throw failure(lastOwner(email));
      if (done === "too_many") throw failure("the project has as many members as it may have");
      return { id, email, role };
    });
  },
};

const members: Command = {
  summary: "list the members of a project",
  examples: ["sallyport project members --id PROJECT_ID"],
  usage: "--id ID",
  options: [ID],
  async run(context) {
    const id = context.flags.required("id");
    const rows = await withStore(context, { create: false }, async (store) => {
      await projectOf(store, id);
      return projectMemberStore(store).listMembers(id);
    });
    const row = ({ email, username, role, provider, createdAtMs }: (typeof rows)[number]) => ({
      ...{ email, username, role, provider },
      since: isoTime(createdAtMs),
    });
    printRows(context, rows.map(row), { none: "No members." });
    return 0;
  },
};

const removeMember: Command = {
  summary: "remove a member from a project and revoke its keys in it",
  examples: ["sallyport project remove-member --id PROJECT_ID --email bob@example.com"],
  usage: "--id ID --email E",
  options: [ID, EMAIL],
  run: (context) =>
    change(context, async ({ store, id }) => {
      const { id: accountId, email } = await accountOf(store, context.flags.required("email"));
      const done = await projectMemberStore(store).removeMember(id, accountId);
      if (done === "not_member") throw failure(`${email} is not a member of the project`);
      if (done === "last_owner") throw failure(lastOwner(email));
      return { id, email, removed: true };
    }),
};

const remove: Command = {
  summary: "delete a project and revoke its keys",
  examples: ["sallyport project delete --id PROJECT_ID --yes"],
  usage: "--id ID --yes",
  options: [ID, { name: "yes", summary: "confirm; this cannot be undone" }],
  run: (context) => {
    context.flags.required("id");
    if (!context.flags.has("yes")) throw new UsageError("--yes is required: deleting a project revokes its keys");
    return change(context, async ({ store, id }) => ({ id, deleted: await projectStore(store).deleteProject(id) }));
  },
};

/** `sallyport project`. */
export const project: CommandGroup = {
  summary: "create and manage projects, groups of keys with limits of their own",
  verbs: { create, list, set, members, "add-member": addMember, "remove-member": removeMember, delete: remove },
};

interface Found {
  readonly store: Store;
  readonly id: string;
  readonly project: Project;
}

/** Finds the project of `--id`, changes it and prints the result. */
async function change(context: Context, work: (found: Found) => Promise<Record<string, unknown>>): Promise<number> {
  const id = context.flags.required("id");
  const row = await withStore(context, { create: false }, async (store) => {
    return work({ store, id, project: await projectOf(store, id) });
  });
  printRecord(context, row);
  return 0;
}

async function projectOf(store: Store, id: string): Promise<Project> {
  const found = await projectStore(store).findProject(id);
  if (found === undefined) throw failure(`there is no project with the id ${id}`);
  return found;
}

async function accountOf(store: Store, email: string): Promise<Account> {
  const account = await accountStore(store).findAccountByEmail(email);
  if (account === undefined) throw failure(`there is no account with the e-mail address ${email}`);
  return account;
}

async function all(store: Store): Promise<Project[]> {
  const projects = projectStore(store);
  const found: Project[] = [];
  for (;;) {
    const page = await projects.listProjects({ afterId: found.at(-1)?.id ?? "" });
    if (page.length === 0) return found;
    found.push(...page);
  }
}

function lastOwner(email: string): string {
  return `${email} is the last owner of the project: make another member an owner first`;
}

function nameOf(flags: Flags): string {
  const name = flags.required("name").trim();
  if (name === "" || name.length > NAME_CHARS_MAX)
    throw new UsageError(`--name: expected 1 to ${NAME_CHARS_MAX} characters`);
  return name;
}

function roleOf(text: string): ProjectRole {
  const role = PROJECT_ROLES.find((one) => one === text);
  if (role === undefined) throw new UsageError(`--role: expected one of ${PROJECT_ROLES.join(", ")}, got "${text}"`);
  return role;
}

/** The limits that were given. `before`: those of a project that there is. */
function settingsOf(flags: Flags, before: Project | undefined): Partial<ProjectSettings> {
  const numbers = (["rpm", "tpm", "parallel"] as const)
    .filter((name) => flags.text(name) !== undefined)
    .map((name) => [name, flags.text(name) === NONE ? null : flags.integer(name, 1)]);
  const models =
    flags.all("models").length === 0 ? {} : { models: flags.text("models") === NONE ? null : modelsFlag(flags) };
  return { ...Object.fromEntries(numbers), ...models, ...budgetOf(flags, before), ...runFlags(flags) };
}

function budgetOf(flags: Flags, before: Project | undefined): Partial<ProjectSettings> {
  const usd = flags.text("budget");
  const period = flags.text("budget-period");
  const amount = usd === undefined ? {} : { budgetMicros: usd === NONE ? null : microsOf("budget", usd) };
  if (period === undefined) return amount;
  const { budgetMicros = before?.budgetMicros ?? null } = amount;
  if (budgetMicros === null) throw new UsageError("--budget-period needs --budget");
  return { ...amount, budgetPeriodMs: period === NONE ? null : periodOf("budget-period", period) };
}

function shown(row: Project) {
  const budget = keyBudgetNow(row, nowMs());
  const usd = (micros: number | null) => (micros === null ? null : micros / MICROS_PER_USD);
  return {
    id: row.id,
    name: row.name,
    ...{ rpm: row.rpm, tpm: row.tpm, parallel: row.parallel },
    budget_usd: usd(row.budgetMicros),
    budget_period_seconds: row.budgetPeriodMs === null ? null : row.budgetPeriodMs / 1000,
    spent_usd: budget === undefined ? null : usd(budget.spentMicros),
    resets_at: isoTime(budget?.resetsAtMs ?? null),
    models: row.models === null ? null : row.models.join(" "),
    ...{ run_usd: usd(row.runMicros), run_requests: row.runRequests, run_repeats: row.runRepeats },
    created_at: isoTime(row.createdAtMs),
  };
}
