// The frame around every page, and the component of each page in the list of contract-pages.ts. CONTRIBUTING.md has a check
// list for adding one.
//
// A page is a component in pages/ that begins with <Title>. It reads data with `useLoad<T>("/path")`, writes with
// `call("POST", "/path", body)`, has forms with `useForm`, shows messages with `say` and asks with `confirmed`. A large page
// is loaded when it is opened: `lazy(() => import("./pages/x.tsx"), "X")`. Styles are classes in style/; style attributes
// hold only sizes that are computed from data.

import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import { menuOf, PAGES, type PageName, pageAt } from "../contract-pages.ts";
import { signedOut } from "./api.ts";
import { lazy } from "./lazy.tsx";
import { finishTrip, isReturn } from "./oauth-sign-in.ts";
import { ForgotPage } from "./pages/forgot.tsx";
import { HomePage } from "./pages/home.tsx";
import { KeysPage } from "./pages/keys.tsx";
import { LoginPage } from "./pages/login.tsx";
import { SignupPage } from "./pages/signup.tsx";
import { ConfirmDialog } from "./parts/confirm.tsx";
import { ErrorBoundary } from "./parts/error-boundary.tsx";
import { Messages, say, unsay } from "./parts/notice.tsx";
import { Title } from "./parts/title.tsx";
import { navigate, path, query, safeNext } from "./router.ts";
import { forgetSession, profile, refreshSession } from "./session.ts";
import { Gate, Shell } from "./shell.tsx";

/** The component of each page. A large one is loaded when it is opened. */
const COMPONENTS: Readonly<Record<PageName, FunctionComponent>> = {
  home: HomePage,
  usage: lazy(() => import("./pages/usage.tsx"), "UsagePage"),
  keys: KeysPage,
  projects: lazy(() => import("./pages/projects.tsx"), "ProjectsPage"),
  project: lazy(() => import("./pages/project.tsx"), "ProjectPage"),
  log: lazy(() => import("./pages/log.tsx"), "LogPage"),
  models: lazy(() => import("./pages/models.tsx"), "ModelListPage"),
  playground: lazy(() => import("./pages/playground.tsx"), "PlaygroundPage"),
  web: lazy(() => import("./pages/web.tsx"), "WebPage"),
  jobs: lazy(() => import("./pages/jobs.tsx"), "JobsPage"),
  job: lazy(() => import("./pages/jobs.tsx"), "OneJobPage"),
  runs: lazy(() => import("./pages/runs.tsx"), "RunsPage"),
  run: lazy(() => import("./pages/runs.tsx"), "OneRunPage"),
  threads: lazy(() => import("./pages/threads.tsx"), "ThreadsPage"),
  thread: lazy(() => import("./pages/threads.tsx"), "OneThreadPage"),
  account: lazy(() => import("./pages/account.tsx"), "AccountPage"),
  gateway: lazy(() => import("./pages/admin/gateway.tsx"), "GatewayPage"),
  accounts: lazy(() => import("./pages/admin/accounts.tsx"), "AccountsPage"),
  oneAccount: lazy(() => import("./pages/admin/account.tsx"), "AdminAccountPage"),
  openJobs: lazy(() => import("./pages/admin/jobs.tsx"), "OpenJobsPage"),
  adminModels: lazy(() => import("./pages/admin/models.tsx"), "ModelsPage"),
  decisions: lazy(() => import("./pages/admin/decisions.tsx"), "DecisionsPage"),
  decisionVersion: lazy(() => import("./pages/admin/decision-version.tsx"), "DecisionVersionPage"),
  providers: lazy(() => import("./pages/admin/providers.tsx"), "ProvidersPage"),
  engines: lazy(() => import("./pages/admin/engines.tsx"), "EnginesPage"),
  storage: lazy(() => import("./pages/admin/storage.tsx"), "StoragePage"),
  audit: lazy(() => import("./pages/admin/audit.tsx"), "AuditPage"),
  config: lazy(() => import("./pages/admin/config.tsx"), "ConfigPage"),
  login: LoginPage,
  signup: SignupPage,
  forgot: ForgotPage,
};

signedOut.handler = () => {
  if (profile.value === null) return;
  forgetSession();
  say("You are signed out. Sign in again to continue.", "warn");
  const stop = profile.subscribe((who) => {
    if (who === null) return;
    unsay();
    // The subscription calls this at once too, when it has no handle yet.
    queueMicrotask(() => stop());
  });
};

export function Dashboard() {
  return (
    <>
      {isReturn(query.value) && query.value.get("pending") === null ? <Returning /> : <Page />}
      <ConfirmDialog />
      <Messages />
    </>
  );
}

function Page() {
  const who = profile.value;
  const name = pageAt(path.value);
  const as = name === undefined ? undefined : PAGES[name].as;
  const refused = (as === "member" || as === "admin") && who === null;
  const onward = as === "guest" && who !== null;
  useEffect(() => {
    if (refused)
      navigate(`/login${path.value === "/" ? "" : `?next=${encodeURIComponent(path.value + location.search)}`}`, {
        replace: true,
      });
    else if (onward) navigate(safeNext(query.value.get("next")), { replace: true });
  }, [refused, onward]);
  if (refused || onward) return null;
  const hidden = name === undefined || (as === "admin" && who?.admin !== true);
  const Shown = hidden ? Missing : COMPONENTS[name];
  if (who === null || as === "anyone") {
    return (
      <Gate>
        <ErrorBoundary key={path.value}>
          <Shown />
        </ErrorBoundary>
      </Gate>
    );
  }
  return (
    <Shell nav={menuOf("member")} adminNav={who.admin ? menuOf("admin") : []}>
      <ErrorBoundary key={path.value}>
        <Shown />
      </ErrorBoundary>
    </Shell>
  );
}

/** The page to which a sign-in provider returns. */
function Returning() {
  const problem = useSignal<string | undefined>(undefined);
  useEffect(() => {
    finishTrip(query.value)
      .then(async (next) => {
        const linked = query.value.has("linked");
        await refreshSession();
        navigate(next, { replace: true });
        if (linked) say("The provider is linked to your account.");
      })
      .catch((error: unknown) => {
        problem.value = error instanceof Error ? error.message : String(error);
      });
  }, []);
  return (
    <Gate>
      <Title>{problem.value === undefined ? "Signing in…" : "Something went wrong"}</Title>
      {problem.value !== undefined && (
        <>
          <p role="alert">{problem.value}</p>
          <button
            type="button"
            class="primary"
            onClick={() => navigate(profile.value === null ? "/login" : "/account", { replace: true })}
          >
            Continue
          </button>
        </>
      )}
    </Gate>
  );
}

function Missing() {
  return (
    <>
      <Title>Page not found</Title>
      <p>
        <a href="/dashboard">Go to the overview</a>
      </p>
    </>
  );
}
