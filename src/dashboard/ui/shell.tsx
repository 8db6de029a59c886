// The frame of a page. Members have a menu, which is behind a button on narrow screens; guests see only the logo.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { call } from "./api.ts";
import { forgetKept } from "./kept.ts";
import { EndDebug } from "./parts/end-debug.tsx";
import { Icon, type IconName, Mark } from "./parts/icon.tsx";
import { Notice, say } from "./parts/notice.tsx";
import { exactTime } from "./parts/time.tsx";
import { hrefOf, navigate, path } from "./router.ts";
import { forgetSession, profile, session } from "./session.ts";
import { ThemeChoice } from "./theme.tsx";

/** The frame for guests: one narrow column. */
export function Gate({ children }: { children: ComponentChildren }) {
  return (
    <div class="gate">
      <header class="brand">
        <Mark />
        <span>Sallyport</span>
      </header>
      <main class="card">{children}</main>
    </div>
  );
}

/** A page in the menu. */
export type NavEntry = readonly [text: string, icon: IconName, href: string];

/** The frame for members. */
export function Shell({
  nav,
  adminNav,
  children,
}: {
  nav: readonly NavEntry[];
  /** Empty for members who are not operators. */
  adminNav: readonly NavEntry[];
  children: ComponentChildren;
}) {
  const isMenuOpen = useSignal(false);
  const here = path.value;
  useEffect(() => {
    isMenuOpen.value = false;
    // In a low window the menu itself is scrolled.
    document.querySelector('#menu [aria-current="page"]')?.scrollIntoView({ block: "nearest" });
  }, [here]);
  return (
    <div class={isMenuOpen.value ? "shell open" : "shell"}>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="side">
        <div class="brand">
          <Mark />
          <span>Sallyport</span>
          <button
            type="button"
            class="quiet menu"
            aria-expanded={isMenuOpen.value}
            aria-controls="menu"
            aria-label="Menu"
            onClick={() => (isMenuOpen.value = !isMenuOpen.value)}
          >
            <Icon name={isMenuOpen.value ? "close" : "menu"} />
          </button>
        </div>
        <div class="drawer" id="menu">
          <div>
            <Menu label="Pages" entries={nav} />
            {adminNav.length > 0 && (
              <>
                <p class="group">Admin</p>
                <Menu label="Admin" entries={adminNav} />
              </>
            )}
          </div>
          <div class="foot">
            <ThemeChoice />
            <div class="me">
              <span title={profile.value?.email}>{profile.value?.username}</span>
              <button type="button" class="quiet" onClick={signOut}>
                <Icon name="leave" />
                Sign out
              </button>
            </div>
            <p class="version">
              <a href="/docs">Docs</a> · <a href="/status">Status</a> · Version {session.value.version}
            </p>
          </div>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <Debugged />
        {children}
      </main>
    </div>
  );
}

/** A notice on every page while the requests of one of the user's keys are recorded. */
function Debugged() {
  const keys = profile.value?.debugged_keys.filter(({ until }) => Date.parse(until) > Date.now()) ?? [];
  if (keys.length === 0) return null;
  return (
    <Notice kind="warn">
      {keys.map(({ id, name, until }) => (
        <p key={id}>
          The operator debugs your key <b>{name}</b> until {exactTime(until)}: its requests and answers are kept until
          then, without credentials, and shown in the <a href={hrefOf("/log")}>request log</a>.{" "}
          <EndDebug path={`/keys/${id}`} name={name} />
        </p>
      ))}
    </Notice>
  );
}

function Menu({ label, entries }: { label: string; entries: readonly NavEntry[] }) {
  // If the current page is below two entries, the longer path is the closer one.
  const here = entries
    .map(([, , to]) => to)
    .filter((to) => path.value === to || (to !== "/" && path.value.startsWith(`${to}/`)))
    .sort((a, b) => b.length - a.length)[0];
  return (
    <nav aria-label={label}>
      {entries.map(([text, icon, to]) => (
        <a key={to} href={hrefOf(to)} aria-current={to === here ? "page" : undefined}>
          <Icon name={icon} />
          {text}
        </a>
      ))}
    </nav>
  );
}

async function signOut(): Promise<void> {
  try {
    await call("POST", "/logout");
    forgetKept();
    forgetSession();
    navigate("/login", { replace: true });
  } catch (error) {
    say(error instanceof Error ? error.message : String(error), "danger");
  }
}
