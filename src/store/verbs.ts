// All verbs of the store, by domain. The contract tests (test/store/contract) run them on every engine. They speak SQL that every
// engine reads alike: no row ids, no JSON functions, no case folding, text ordered by its bytes (engine/byte-order.ts), times in
// whole milliseconds, no NUL in text (values.ts). Text within JSON may hold NUL: it is escaped there.

import { lazily } from "../base/lazily.ts";
import { type AccountBudgetStore, accountBudgetStore } from "./access/account-budgets.ts";
import { type AccountStore, accountStore } from "./access/accounts.ts";
import { type AuditStore, auditStore } from "./access/audit.ts";
import { type CodeStore, codeStore } from "./access/codes.ts";
import { type IdentityStore, identityStore } from "./access/identities.ts";
import { type KeyDebugStore, keyDebugStore } from "./access/key-debug.ts";
import { type KeyStore, keyStore } from "./access/keys.ts";
import type { ProjectMemberStore } from "./access/project-members.ts";
import type { ProjectStore } from "./access/projects.ts";
import { type SessionStore, sessionStore } from "./access/sessions.ts";
import { type DecisionStore, decisionStore } from "./decisions/decisions.ts";
import type { Store } from "./engine/store.ts";
import { type SecretStore, secretStore } from "./secrets.ts";
import { type SettingsStore, settingsStore } from "./settings.ts";
import { type RateStore, rateStore } from "./usage/rates.ts";
import { type UsageStore, usageStore } from "./usage/usage.ts";
import { type AlertStore, alertStore } from "./work/alerts.ts";
import { type AnswerStore, answerStore } from "./work/answers.ts";
import { type CachedAnswerStore, cachedAnswerStore } from "./work/cached-answers.ts";
import { type FileStore, fileStore } from "./work/files.ts";
import { type FrontierStore, frontierStore } from "./work/frontier.ts";
import { type JobStore, jobStore } from "./work/jobs.ts";
import { type ResponseStore, responseStore } from "./work/responses.ts";
import { type RunStore, runStore } from "./work/runs.ts";
import { type StorageStore, storageStore } from "./work/storage.ts";
import { type ThreadStore, threadStore } from "./work/threads.ts";

/** The verbs. Each returns a promise. */
export interface Verbs {
  readonly accounts: AccountStore;
  readonly budgets: AccountBudgetStore;
  readonly audit: AuditStore;
  readonly codes: CodeStore;
  readonly identities: IdentityStore;
  readonly keys: KeyStore;
  readonly keyDebug: KeyDebugStore;
  readonly projects: ProjectStore;
  readonly projectMembers: ProjectMemberStore;
  readonly sessions: SessionStore;
  readonly decisions: DecisionStore;
  readonly secrets: SecretStore;
  readonly settings: SettingsStore;
  readonly rates: RateStore;
  readonly usage: UsageStore;
  readonly answers: AnswerStore;
  readonly cachedAnswers: CachedAnswerStore;
  readonly files: FileStore;
  readonly frontier: FrontierStore;
  readonly jobs: JobStore;
  readonly responses: ResponseStore;
  readonly runs: RunStore;
  readonly storage: StorageStore;
  readonly threads: ThreadStore;
  readonly alerts: AlertStore;
}

/** Most gateways have no projects, and never load their code. */
const projectVerbs = lazily(() => {
  const { projectStore }: typeof import("./access/projects.ts") = require("./access/projects.ts");
  return projectStore;
});
const projectMemberVerbs = lazily(() => {
  const { projectMemberStore }: typeof import("./access/project-members.ts") = require("./access/project-members.ts");
  return projectMemberStore;
});

/** The verbs for an open store. `storageLimitBytes`: how much an account may store. */
export function verbsOf(store: Store, storageLimitBytes: () => number): Verbs {
  const projects = lazily(() => projectVerbs()(store));
  const projectMembers = lazily(() => projectMemberVerbs()(store));
  return {
    accounts: accountStore(store),
    budgets: accountBudgetStore(store),
    audit: auditStore(store),
    codes: codeStore(store),
    identities: identityStore(store),
    keys: keyStore(store),
    keyDebug: keyDebugStore(store),
    get projects() {
      return projects();
    },
    get projectMembers() {
      return projectMembers();
    },
    sessions: sessionStore(store),
    decisions: decisionStore(store),
    secrets: secretStore(store),
    settings: settingsStore(store),
    rates: rateStore(store),
    usage: usageStore(store),
    answers: answerStore(store),
    cachedAnswers: cachedAnswerStore(store),
    files: fileStore(store),
    frontier: frontierStore(store),
    jobs: jobStore(store),
    responses: responseStore(store),
    runs: runStore(store),
    storage: storageStore(store, storageLimitBytes),
    threads: threadStore(store),
    alerts: alertStore(store),
  };
}
