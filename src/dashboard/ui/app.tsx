// The frame around every page, and the list of pages. CONTRIBUTING.md has a check list for adding one.
//
// A page is a component in pages/ that begins with <Title>. It reads data with `useLoad<T>("/path")`, writes with
// `call("POST", "/path", body)`, has forms with `useForm`, shows messages with `say` and asks with `confirmed`. A large page
// is loaded when it is opened: `lazy(() => import("./pages/x.tsx"), "X")`. Styles are classes in style/; style attributes
// hold only sizes that are computed from data.

import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
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
import { Gate, type NavEntry, Shell } from "./shell.tsx";

/** A page. */
export interface Route {
  readonly path: RegExp;
  readonly page: FunctionComponent;
  /** `guest` pages redirect signed-in users to the page that they wanted; `anyone` pages are shown to both. */
  readonly as: "guest" | "anyone" | "member" | "admin";
  /** Its label, icon and path in the menu. */
  readonly nav?: NavEntry;
}

/** All pages. */
const ROUTES: readonly Route[] = [
  // The second path is a former one.
  { path: /^\/(?:usage)?$/, page: HomePage, as: "member", nav: ["Overview", "home", "/"] },
  { path: /^\/keys$/, page: KeysPage, as: "member", nav: ["Keys", "key", "/keys"] },
  {
    path: /^\/log$/,
    page: lazy(() => import("./pages/log.tsx"), "LogPage"),
    as: "member",
    nav: ["Request log", "log", "/log"],
  },
  {
    path: /^\/models$/,
    page: lazy(() => import("./pages/models.tsx"), "ModelListPage"),
    as: "member",
    nav: ["Models", "layers", "/models"],
  },
  {
    path: /^\/playground$/,
    page: lazy(() => import("./pages/playground.tsx"), "PlaygroundPage"),
    as: "member",
    nav: ["Playground", "chat", "/playground"],
  },
  {
    path: /^\/web$/,
    page: lazy(() => import("./pages/web.tsx"), "WebPage"),
    as: "member",
    nav: ["Web tools", "globe", "/web"],
  },
  {
    path: /^\/jobs$/,
    page: lazy(() => import("./pages/jobs.tsx"), "JobsPage"),
    as: "member",
    nav: ["Jobs", "list", "/jobs"],
  },
  { path: /^\/jobs\/[^/]+$/, page: lazy(() => import("./pages/jobs.tsx"), "OneJobPage"), as: "member" },
  {
    path: /^\/threads$/,
    page: lazy(() => import("./pages/threads.tsx"), "ThreadsPage"),
    as: "member",
    nav: ["Threads", "thread", "/threads"],
  },
  { path: /^\/threads\/[^/]+\/[^/]+$/, page: lazy(() => import("./pages/threads.tsx"), "OneThreadPage"), as: "member" },
  {
    path: /^\/account$/,
    page: lazy(() => import("./pages/account.tsx"), "AccountPage"),
    as: "member",
    nav: ["Account", "person", "/account"],
  },
  {
    path: /^\/admin$/,
    page: lazy(() => import("./pages/admin/gateway.tsx"), "GatewayPage"),
    as: "admin",
    nav: ["Gateway", "pulse", "/admin"],
  },
  {
    path: /^\/admin\/accounts$/,
    page: lazy(() => import("./pages/admin/accounts.tsx"), "AccountsPage"),
    as: "admin",
    nav: ["Accounts", "people", "/admin/accounts"],
  },
  {
    path: /^\/admin\/accounts\/[^/]+$/,
    page: lazy(() => import("./pages/admin/account.tsx"), "AdminAccountPage"),
    as: "admin",
  },
  {
    path: /^\/admin\/jobs$/,
    page: lazy(() => import("./pages/admin/jobs.tsx"), "OpenJobsPage"),
    as: "admin",
    nav: ["Running jobs", "list", "/admin/jobs"],
  },
  {
    path: /^\/admin\/models$/,
    page: lazy(() => import("./pages/admin/models.tsx"), "ModelsPage"),
    as: "admin",
    nav: ["Models", "layers", "/admin/models"],
  },
  {
    path: /^\/admin\/decisions$/,
    page: lazy(() => import("./pages/admin/decisions.tsx"), "DecisionsPage"),
    as: "admin",
    nav: ["Decisions", "scale", "/admin/decisions"],
  },
  {
    path: /^\/admin\/decisions\/[^/]+$/,
    page: lazy(() => import("./pages/admin/decision-version.tsx"), "DecisionVersionPage"),
    as: "admin",
  },
  {
    path: /^\/admin\/providers$/,
    page: lazy(() => import("./pages/admin/providers.tsx"), "ProvidersPage"),
    as: "admin",
    nav: ["Providers", "cloud", "/admin/providers"],
  },
  {
    path: /^\/admin\/engines$/,
    page: lazy(() => import("./pages/admin/engines.tsx"), "EnginesPage"),
    as: "admin",
    nav: ["Search engines", "search", "/admin/engines"],
  },
  {
    path: /^\/admin\/storage$/,
    page: lazy(() => import("./pages/admin/storage.tsx"), "StoragePage"),
    as: "admin",
    nav: ["Storage", "disk", "/admin/storage"],
  },
  {
    path: /^\/admin\/audit$/,
    page: lazy(() => import("./pages/admin/audit.tsx"), "AuditPage"),
    as: "admin",
    nav: ["Audit log", "shield", "/admin/audit"],
  },
  {
    path: /^\/admin\/config$/,
    page: lazy(() => import("./pages/admin/config.tsx"), "ConfigPage"),
    as: "admin",
    nav: ["Configuration", "sliders", "/admin/config"],
  },
  { path: /^\/login$/, page: LoginPage, as: "guest" },
  // Sign-up continues with the verification code after the account has been created.
  { path: /^\/signup$/, page: SignupPage, as: "anyone" },
  { path: /^\/forgot$/, page: ForgotPage, as: "anyone" },
];

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

/** The whole app. */
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
  const route = ROUTES.find((one) => one.path.test(path.value));
  const refused = route !== undefined && (route.as === "member" || route.as === "admin") && who === null;
  const onward = route?.as === "guest" && who !== null;
  useEffect(() => {
    if (refused)
      navigate(`/login${path.value === "/" ? "" : `?next=${encodeURIComponent(path.value + location.search)}`}`, {
        replace: true,
      });
    else if (onward) navigate(safeNext(query.value.get("next")), { replace: true });
  }, [refused, onward]);
  if (refused || onward) return null;
  const hidden = route === undefined || (route.as === "admin" && who?.admin !== true);
  const Shown = hidden ? Missing : route.page;
  if (who === null || (route !== undefined && route.as === "anyone")) {
    return (
      <Gate>
        <ErrorBoundary key={path.value}>
          <Shown />
        </ErrorBoundary>
      </Gate>
    );
  }
  const navOf = (as: Route["as"]) => ROUTES.flatMap((one) => (one.as === as && one.nav ? [one.nav] : []));
  return (
    <Shell nav={navOf("member")} adminNav={who.admin ? navOf("admin") : []}>
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
